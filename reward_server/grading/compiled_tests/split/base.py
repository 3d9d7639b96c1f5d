"""What a language has to bring along so that its test programs can be taken apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from reward_server.languages.assertions import Assertions

MOST_DEPTH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is known of a test program when it is taken apart.

    Args:
        prompt: code that the solution continues; "" if there is none. Trusted.
        tests: the test program. Trusted.
        language: how its text is cut into tokens.
    """

    prompt: str
    tests: str
    language: Assertions


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A program's text, and the files beside it.

    Args:
        text: of the program.
        files: by relative path.
        is_ready: whether it is run as it is, without the compiler.
        library: a trusted source file that is compiled by itself, once for all programs; what the
            compiler makes of it lies beside this one. "" if there is none.
        options: of the command that runs it.
    """

    text: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    is_ready: bool = False
    library: str = ""
    options: tuple[str, ...] = ()


class Split(Protocol):
    """A test program that was taken apart."""

    @property
    def stubs(self) -> Source:
        """What stands in the solution's place in the test program: trusted text alone."""

    def serving(self, solution: str) -> Source:
        """Returns the solution's program: the solution, and a loop that answers calls."""


class Splitter(Protocol):
    """Takes test programs of one language apart."""

    def __call__(self, task: Task) -> Split | None:
        """Returns the parts, or None where the text does not allow it."""
