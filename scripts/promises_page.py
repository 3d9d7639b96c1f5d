"""Makes the specification: the promises that tests are marked with, each beside its tests.

`@pytest.mark.promise("One sentence.", "Area")` stands on the test that fails if the promise is
broken, or as `pytestmark` in a file that proves it as a whole. Several tests may have one promise.
The marks are read from the text of the tests, so nothing is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
AREAS = (
    "Verdicts",
    "Labels",
    "Languages",
    "Confinement",
    "Repositories",
    "Sessions",
    "Service",
    "Client",
    "Compatibility",
)
HEAD = """# Specification

Made from the marks `promise` of the tests. Each line is a promise, and the test that fails if it is
broken. *Copies* are copies of tests with wrong expected values, which run in the solution's
process. [The glossary](glossary.md) explains the other words; [the threat model](threat-model.md)
says what is not promised.
"""


def promises_page() -> str:
    """Returns the page in Markdown."""
    sections: dict[str, dict[str, list[str]]] = {area: {} for area in AREAS}
    for file in sorted((REPOSITORY / "tests").rglob("test_*.py")):
        for owner, promise, area in _promises(file.read_text("utf-8")):
            test = f"`{file.relative_to(REPOSITORY).as_posix()}{owner}`"
            sections[area].setdefault(promise, []).append(test)
    parts = [HEAD]
    for area, promises in sections.items():
        lines = [f"- {promise} {', '.join(tests)}" for promise, tests in promises.items()]
        parts.append("\n".join((f"## {area}", "", *lines, "")))
    return "\n".join(parts)


def _promises(source: str) -> Iterator[tuple[str, str, str]]:
    """Yields the name of each marked test (none for a whole file), its promise and the area."""
    if "mark.promise" not in source:
        return
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                owner, marks = f"::{node.name}", node.decorator_list
            case ast.Assign(targets=[ast.Name(id="pytestmark")]):
                owner, marks = "", [node.value]
            case _:
                continue
        for call in (inner for mark in marks for inner in ast.walk(mark)):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.promise":
                promise, area = map(ast.literal_eval, call.args)
                yield owner, promise, area
