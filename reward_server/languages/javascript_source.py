"""Writes the imports of a JavaScript program as calls of `require`.

A program that is made of a prompt, a solution and tests is a script, in which no `import` may
stand.
"""

from __future__ import annotations

import re

_IMPORT = re.compile(
    r"""(?mx) ^[ \t]* import \s* (?:
        (?: (?P<default>[\w$]+) \s* ,? \s* )?
        (?: \* \s* as \s+ (?P<whole>[\w$]+) | \{ (?P<parts>[^{}]*) \} )?
        \s* from )? \s* (?P<module> "[^"\n]*" | '[^'\n]*' ) [ \t]* ;?"""
)
_RENAMED = re.compile(r"([\w$]+)\s+as\s+([\w$]+)")


def with_requires(tests: str, _: str = "") -> str:
    """Returns tests without imports of modules; what follows stays on its line."""
    return _IMPORT.sub(_required, tests)


def _required(found: re.Match[str]) -> str:
    lines = "\n" * found[0].count("\n")
    call = f"require({found['module']})"
    parts = _RENAMED.sub(r"\1: \2", found["parts"] or "").replace("\n", " ")
    names = [found["default"], found["whole"], f"{{{parts}}}" if parts else None]
    made = "".join(f"const {name} = {call};" for name in names if name)
    return f"{made or f'{call};'}{lines}"
