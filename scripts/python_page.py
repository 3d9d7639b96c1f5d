"""Makes the page of the Python API: a template, and the docstrings that its directives name.

A line `::: trainer_client.RewardClient` of the template stands for a class or function, or for all
that a package exports. It is replaced by the signature and the docstring, in Markdown.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from griffe import GriffeLoader
    from jinja2 import Environment

REPOSITORY = Path(__file__).resolve().parent.parent
TEMPLATE = REPOSITORY / "scripts" / "python_page.md"

_DIRECTIVE = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)
_LINK_TO_NOWHERE = re.compile(r"\[([^\[\]]+)\]\(#[\w.]+\)")
_CODE = re.compile(r"<code>(.*?)</code>")
# The signature above has these types.
_TYPED = re.compile(r"^- \*\*(\**\w+)\*\* (?:\(`.*`\) )?– ", re.MULTILINE)
_RETURNED = re.compile(r"^\*\*(Returns|Yields):\*\*\n\n((?:.+\n?)+)", re.MULTILINE)
# A call without an event loop has the signature of the one with an event loop.
_LIKE_ANOTHER = re.compile(r"^```python\n.*\n```\n\n(?=.*; see `Async\w+\.\w+`\.$)", re.MULTILINE)
_RAISED = re.compile(r"^(- `\w+`) – ", re.MULTILINE)
_LONG_VALUE = re.compile(r"^([A-Z_]+(?:: .*)? =) .{300,}$", re.MULTILINE)
_RETURNED_TYPE = re.compile(r"^- `.*` – ", re.MULTILINE)
_HEADING = re.compile(r"^(#+) `([\w.]+)`$", re.MULTILINE)
_COMMON = 5
_COMMON_PARTS = (
    (
        re.compile(r"^```python\n\w+(\(.*)\n```\n\n", re.MULTILINE),
        "A function without a signature has this one: `{}`",
    ),
    (
        re.compile(r"^\*\*Raises:\*\*\n\n(- .*)(?:\n\n|\Z)", re.MULTILINE),
        "Unless it says otherwise, a function that makes a request from a row raises:\n\n{}",
    ),
    (re.compile(r"^(- \*\*.*)\n", re.MULTILINE), "Parameters that several functions have:\n\n{}"),
)
_OPTIONS: Any = {
    "heading_level": 3,
    "inherited_members": False,
    "line_length": 100,
    "members_order": "source",
    "show_bases": False,
    "show_if_no_docstring": False,
    "show_object_full_path": False,
    "show_root_full_path": False,
    "show_root_members_full_path": False,
    "show_signature_annotations": True,
    "summary": False,
}


def python_page() -> str:
    """Returns the page in Markdown."""
    import griffe

    places = [str(REPOSITORY), *sys.path]
    loader = griffe.GriffeLoader(docstring_parser=griffe.Parser.google, search_paths=places)
    for package in ("trainer_client", "reward_server"):
        loader.load(package)
    loader.resolve_aliases(external=True)
    text = TEMPLATE.read_text("utf-8")
    return _DIRECTIVE.sub(lambda found: "\n\n".join(_described(loader, found[1])), text)


def _described(loader: GriffeLoader, path: str) -> Iterator[str]:
    found: Any = loader.modules_collection[path]
    if not found.is_module:
        yield _object(found, path)
        return
    if found.docstring is not None:
        yield str(found.docstring.value)
    members = []
    for name in found.exports or ():
        if f"::: trainer_client.{name}\n" not in TEMPLATE.read_text("utf-8"):
            member = found[name]
            # A function may have the name of its module, which griffe takes in its place.
            members.append(_object(member[name] if member.is_module else member, f"{path}.{name}"))
    yield from _without_common(members)


def _without_common(members: Sequence[str]) -> Iterator[str]:
    """Yields descriptions; what many of them repeat stands once, before them."""
    for form, said in _COMMON_PARTS:
        counts = Counter(part for text in members for part in form.findall(text))
        common = [part for part, count in counts.items() if count >= _COMMON]
        if common:
            yield said.format("\n".join(common))
            members = [form.sub(partial(_left_out, common), text) for text in members]
    yield from members


def _left_out(parts: Sequence[str], found: re.Match[str]) -> str:
    return "" if found[1] in parts else found[0]


@cache
def _templates() -> Environment:
    """Returns griffe2md's templates, which take seconds to be compiled for each object anew."""
    from griffe2md import prepare_env

    return prepare_env()


def _object(found: Any, path: str) -> str:
    """Returns the docstring of an object under the name by which callers import it."""
    from griffe2md import prepare_context

    target = found.final_target if found.is_alias else found
    template = _templates().get_template(f"{target.kind.value}.md.jinja")
    text = template.render(**prepare_context(target, _OPTIONS))
    while text != (text := _LINK_TO_NOWHERE.sub(r"\1", text)):
        pass
    text = _TYPED.sub(r"- **\1**: ", _CODE.sub(r"`\1`", text))
    text = _RETURNED.sub(lambda one: f"**{one[1]}:** {_RETURNED_TYPE.sub('', one[2])}", text)
    own = path.rpartition(".")[2]

    def named(heading: re.Match[str]) -> str:
        parts = heading[2].split(".")
        member = ".".join(parts[parts.index(own) :]) if own in parts else f"{own}.{parts[-1]}"
        return f"{heading[1]} `{path.removesuffix(own)}{member}`"

    text = _LIKE_ANOTHER.sub("", text)
    text = _RAISED.sub(r"\1: ", _LONG_VALUE.sub(r"\1 ...", text))
    text = re.sub(r"\n{3,}", "\n\n", _HEADING.sub(named, text)).strip()
    if target.is_class and any("Enum" in str(base) for base in target.bases):
        members = (f"`{name}`" for name in target.members if name.isupper())
        text += f"\n\n**Members:** {', '.join(members)}"
    return text
