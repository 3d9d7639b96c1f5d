"""Splits test programs in JavaScript and TypeScript; see the package.

The solution completes the function at the end of the prompt. Without a prompt it defines the
functions that the tests call and do not declare. In the tests' program they are stubs; the
definitions before the function stay unchanged in both programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from reward_server.grading.compiled_tests.split.base import Source, Split, Task
from reward_server.grading.compiled_tests.split.text.blocks import unclosed
from reward_server.grading.crossing import Solution, called_names, last_function
from reward_server.languages.javascript_source import with_requires

_SUPPORT = "split.js"
_LOCK = "split_lock.js"
# No text becomes code in the tests' program, and no key leads from one object to another's fields.
_OPTIONS = ("--disallow-code-generation-from-strings", "--disable-proto=delete")
_SOLUTION = "solution.js"
# A solution may use a module by the name that the tests give it.
_NAMED_MODULE = re.compile(
    r"\b(?:const|let|var)\s+(\w+)\s*=\s*require\s*\(\s*([\"'](?:node:)?assert(?:/strict)?[\"'])\s*\)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _JavaScriptSplit:
    """A test program that was split.

    Args:
        helpers: the text of the prompt's complete definitions.
        before: the prompt, its open function without statements.
        names: the functions of the solution that the tests call.
        modules: modules of the library, each after the name that the tests give it.
        is_typed: whether the program is TypeScript.
    """

    helpers: str
    before: str
    names: tuple[str, ...]
    modules: tuple[tuple[str, str], ...]
    is_typed: bool

    @property
    def solution(self) -> Solution:
        """See `Split.solution`."""
        return Solution(names=frozenset(self.names))

    @property
    def stubs(self) -> Source:
        """See `Split.stubs`."""
        module, lock = self._required(_SUPPORT), self._required(_LOCK)
        annotation = ": any" if self.is_typed else ""
        made = "".join(
            f'const {name}{annotation} = {module}.stub("{name}");\n' for name in self.names
        )
        text = f"{self.helpers}\n{made}{lock}.lock();\n"
        return Source(text=text, files=_support(_SUPPORT, _LOCK), options=_OPTIONS)

    def _required(self, name: str) -> str:
        return f'(require("./{name}") as any)' if self.is_typed else f'require("./{name}")'

    def serving(self, solution: str) -> Source:
        """See `Split.serving`."""
        functions = _found(self.names)
        if self.is_typed:
            tail = f"\n;{self._required(_SUPPORT)}.serve({functions});\n"
            return Source(text=solution + tail, files=_support(_SUPPORT))
        exported = f"{solution}\n;module.exports = {functions};\n"
        named = "".join(
            f'Object.defineProperty(globalThis, "{name}", '
            f"{{ configurable: true, get: () => require({of}) }});\n"
            for name, of in self.modules
        )
        return Source(
            text=f'{named}require("./{_SUPPORT}").load("./{_SOLUTION}");\n',
            files={**_support(_SUPPORT), _SOLUTION: exported.encode("utf-8", "surrogatepass")},
            is_ready=True,
        )


def _found(names: Iterable[str]) -> str:
    """Returns code for an object with the values of those names that a program has."""
    found = (f'"{name}": typeof {name} === "undefined" ? undefined : {name}' for name in names)
    return f"{{ {', '.join(found)} }}"


@cache
def _support(*names: str) -> Mapping[str, bytes]:
    return {name: files(__package__).joinpath(name).read_bytes() for name in names}


def split_javascript(task: Task) -> Split | None:
    """Splits a JavaScript program; see `Splitter`."""
    return _split(task, is_typed=False)


def split_typescript(task: Task) -> Split | None:
    """Splits a TypeScript program; see `Splitter`."""
    return _split(task, is_typed=True)


def _split(task: Task, *, is_typed: bool) -> Split | None:
    language = "typescript" if is_typed else "javascript"
    before = task.prompt + "}" * unclosed(task.prompt, task.language)
    names: tuple[str, ...]
    if task.prompt.strip():
        name, start = last_function(language, before)
        names = (name,) if name else ()
    else:
        names, start = tuple(sorted(called_names(language, task.tests))), 0
    if not names:
        return None
    return _JavaScriptSplit(
        helpers=task.prompt[:start],
        before=before,
        names=names,
        modules=tuple(_NAMED_MODULE.findall(with_requires(task.tests))),
        is_typed=is_typed,
    )
