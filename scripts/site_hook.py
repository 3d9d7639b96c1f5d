"""A hook of MkDocs: pictures, and a table of the runner's modules that is made of the code."""

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
IMAGES = REPOSITORY / "docs" / "images"
MODULE_LIST = "<!-- modules -->"
RUNNER = REPOSITORY / "reward_server/runner"
SUPERVISOR = REPOSITORY / "reward_server/runner/supervisor/zygote.py"
JUDGE = REPOSITORY / "reward_server/runner/judge/process.py"
CANDIDATE = REPOSITORY / "reward_server/runner/candidate/process.py"

_PICTURE = re.compile(r"^!\[[^\]]*\]\((?:\.\./)*images/([\w-]+\.svg)\)$", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Inserts pictures and the table of modules into pages."""
    if MODULE_LIST in markdown:
        markdown = markdown.replace(MODULE_LIST, _modules_by_process())
    return _PICTURE.sub(_picture, markdown)


def _picture(match: re.Match[str]) -> str:
    """Returns a drawing as inline SVG, so that it follows the page's palette."""
    lines = (IMAGES / match[1]).read_text("utf-8").splitlines()
    return "\n".join(('<figure class="figure">', *filter(None, lines), "</figure>"))


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
