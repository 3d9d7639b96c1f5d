"""What a cheat is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cheat:
    """An answer that solves nothing.

    Args:
        kind: the kind of finding if it passes; a key of `findings.KINDS`.
        name: its name, unique in a task.
        code: the answer.
        language: the language to judge it in; "" for the task's own.
    """

    kind: str
    name: str
    code: str
    language: str = ""


def fenced(code: str) -> str:
    """Returns an answer as a model would write it: code in a fence."""
    return f"```\n{code}\n```"
