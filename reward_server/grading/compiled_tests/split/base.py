"""The interface by which the test programs of a language are split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from reward_server.grading.crossing import Solution
from reward_server.languages.assertions import Assertions


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A test program to split.

    Args:
        prompt: the trusted code that the solution continues; "" if there is none.
        tests: the trusted test program.
        language: how its text is split into tokens.
    """

    prompt: str
    tests: str
    language: Assertions


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A program's text, and the files beside it.

    Args:
        text: the text of the program.
        files: files beside it, by relative path.
        is_ready: whether it runs as it is, without the compiler.
        library: a trusted source file that is compiled separately, once for all programs; its
            product lies beside this program. "" if there is none.
        options: options of the command that runs the program.
    """

    text: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    is_ready: bool = False
    library: str = ""
    options: tuple[str, ...] = ()


class Split(Protocol):
    """A test program that was split."""

    @property
    def solution(self) -> Solution:
        """What the tests may call."""

    @property
    def before(self) -> str:
        """The text before the tests: the prompt, its open function without statements."""

    @property
    def stubs(self) -> Source:
        """The trusted text that replaces the solution in the tests' program."""

    def serving(self, solution: str) -> Source:
        """Returns the solution's program: the solution and a loop that answers calls."""


class Splitter(Protocol):
    """Splits the test programs of one language."""

    def __call__(self, task: Task) -> Split | None:
        """Returns the two parts, or None if the text does not allow a split."""
