"""A hook of MkDocs: anchors and links of decisions, pictures, and tables made of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

REPOSITORY = Path(__file__).resolve().parent.parent
DECISIONS = REPOSITORY / "docs" / "decisions"
IMAGES = REPOSITORY / "docs" / "images"
DECISION_LIST = "<!-- decisions -->"
MODULE_LIST = "<!-- modules -->"
RUNNER = REPOSITORY / "reward_server/runner"
SUPERVISOR = REPOSITORY / "reward_server/runner/supervisor/zygote.py"
JUDGE = REPOSITORY / "reward_server/runner/judge/process.py"
CANDIDATE = REPOSITORY / "reward_server/runner/candidate/process.py"

_DECISION = re.compile(r"^## (\d+)\. (.+)$", re.MULTILINE)
_NUMBER_IN_HEADING = re.compile(r"^(\d+)\. ")
_NUMBER_IN_TEXT = re.compile(r"(?<!\[)\b([Dd]ecision) (\d+)\b")  # existing links stay unchanged
_PICTURE = re.compile(r"^!\[[^\]]*\]\((?:\.\./)*images/([\w-]+\.svg)\)$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Gives the heading of each decision the anchor `decision-N`, independent of its title."""
    from markdown.extensions.toc import slugify

    def named(text: str, separator: str) -> str:
        number = _NUMBER_IN_HEADING.match(text)
        return f"decision-{number[1]}" if number else slugify(text, separator)

    config.mdx_configs["toc"]["slugify"] = named
    return config


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Inserts pictures and the list of decisions into pages, and links numbers of decisions."""
    path = page.file.src_uri
    markdown = _PICTURE.sub(_picture, markdown)
    if MODULE_LIST in markdown:
        markdown = markdown.replace(MODULE_LIST, _modules_by_process())
    if path == "decisions/index.md":
        return markdown.replace(DECISION_LIST, _decision_list())
    places = {number: place for place, number, _ in decisions()}

    def link(match: re.Match[str]) -> str:
        place = places.get(int(match[2]))
        if place is None:
            return match[0]
        folder = "" if path.startswith("decisions/") else "../" * path.count("/") + "decisions/"
        return f"[{match[0]}]({folder}{place}#decision-{match[2]})"

    if path.startswith("decisions/"):
        markdown = re.sub(r"\n(?=\*\*(?:Decision|Consequence)\.\*\*)", "\n\n", markdown)
    lines = markdown.splitlines(keepends=True)
    return "".join(one if one.startswith("#") else _NUMBER_IN_TEXT.sub(link, one) for one in lines)


def _picture(match: re.Match[str]) -> str:
    """Returns a drawing as inline SVG, so that it follows the page's palette."""
    lines = (IMAGES / match[1]).read_text("utf-8").splitlines()
    return "\n".join(('<figure class="figure">', *filter(None, lines), "</figure>"))


# Decisions


def decisions() -> list[tuple[str, int, str]]:
    """Returns the file name, number and title of each decision, in order of their numbers."""
    found = [
        (file.name, int(number), title)
        for file in DECISIONS.glob("*.md")
        for number, title in _DECISION.findall(file.read_text("utf-8"))
    ]
    return sorted(found, key=lambda one: one[1])


def _decision_list() -> str:
    titles = {
        file.name: file.read_text("utf-8").splitlines()[0].removeprefix("# ")
        for file in DECISIONS.glob("*.md")
    }
    rows = (
        f"| {number} | [{_cell(title)}]({place}#decision-{number}) | {titles[place]} |"
        for place, number, title in decisions()
    )
    return "\n".join(("| number | decision | topic |", "| ---: | --- | --- |", *rows))


# The runner's modules


def _modules_by_process() -> str:
    """Returns a table of the runner's modules by the processes whose code imports them."""
    files = (file for file in RUNNER.rglob("*.py") if file.name != "__init__.py")
    imports = {file: set(_imports(file)) for file in files}
    processes = {JUDGE, CANDIDATE}
    supervisor = _reached(SUPERVISOR, imports, processes)
    judge = _reached(JUDGE, imports, {CANDIDATE}) - supervisor
    candidate = _reached(CANDIDATE, imports, {JUDGE}) - supervisor
    groups = {
        "judge alone": judge - candidate,
        "candidate alone": candidate - judge,
        "judge and candidate": judge & candidate,
        "supervisor, and perhaps others": supervisor,
        "start, fork server": imports.keys() - judge - candidate - supervisor,
    }
    rows = (
        f"| {name} | {', '.join(f'`{module}`' for module in sorted(map(_module_name, group)))} |"
        for name, group in groups.items()
    )
    return "\n".join(("| imported by | modules |", "| --- | --- |", *rows))


def _module_name(file: Path) -> str:
    return file.relative_to(RUNNER).with_suffix("").as_posix()


def _imports(file: Path) -> Iterator[Path]:
    """Yields the runner's modules that a module imports, also inside functions."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = file.parents[node.level - 1]
            base = folder.joinpath(*node.module.split(".")) if node.module else folder
            places = (base, *(base / alias.name for alias in node.names))
            yield from filter(Path.is_file, (place.with_suffix(".py") for place in places))


def _reached(start: Path, imports: Mapping[Path, set[Path]], others: set[Path]) -> set[Path]:
    """Returns a module and all modules that it imports, without those of other processes."""
    found: set[Path] = set()
    waiting = {start}
    while waiting:
        file = waiting.pop()
        found.add(file)
        waiting |= imports[file] - found - others
    return found


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
