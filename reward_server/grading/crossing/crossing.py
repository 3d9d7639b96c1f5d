"""Reads a task's text and tells why its tests cannot run apart from the solution."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from reward_server.grading.crossing.errors import SharedError
from reward_server.grading.crossing.tables import parser, table
from reward_server.grading.crossing.text import Text, blank, said
from reward_server.grading.crossing.values import Solution
from reward_server.grading.crossing.walker import Walk

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_CHARACTERS = 1 << 18
_MOST_NAMES = 2000
_SHOWN = 60

__all__ = ["Solution", "called_names", "last_function", "missing_package", "parsed", "refusal"]


def missing_package(language: str) -> str:
    """Returns the package that reads a language and is not installed; "" if there is none."""
    names = ("tree_sitter", table(language).grammar[0])
    return next((one for one in names if find_spec(one) is None), "")


def parsed(language: str, text: str) -> Node:
    """Returns the root of a text's syntax tree."""
    return parser(language).parse(text.encode("utf-8", "replace")).root_node


def refusal(language: str, before: str, tests: str, solution: Solution) -> str:
    """Returns the rule, the line and the construct that need tests beside the solution.

    Args:
        language: the name of the table.
        before: the prompt, with the function that the solution completes as an empty one.
        tests: the tests.
        solution: what they may call.

    Returns:
        "" if the tests can run apart.
    """
    if len(before) + len(tests) > _MOST_CHARACTERS:
        return f"prompt and tests are longer than {_MOST_CHARACTERS:,} characters"
    text = Text(f"{before}\n{tests}", table(language), parser(language))
    if len(text.bound) > _MOST_NAMES:
        return f"prompt and tests give values to more than {_MOST_NAMES:,} names"
    try:
        Walk(text, solution, before).check()
    except SharedError as error:
        line = error.node.start_point.row - before.count("\n")
        where = line if line > 0 else error.node.start_point.row + 1
        place = f"line {where}" if line > 0 else f"line {where} of the prompt"
        construct = " ".join(said(error.node).split())[:_SHOWN]
        return f"{error.rule}: {place}: {construct}"
    return ""


def called_names(language: str, tests: str) -> frozenset[str]:
    """Returns the functions that tests call, and that neither they nor the library define."""
    known = table(language)
    text = Text(tests, known, parser(language))
    return frozenset(
        name
        for name, uses in text.uses.items()
        if name not in text.declarations
        and name not in known.names | known.globals
        and name not in known.libraries
        and not any(text.is_member(one) for one in uses)
        and all(text.call_of(one) is not None or text.renames(one) for one in uses)
    )


def last_function(language: str, prompt: str) -> tuple[str, int]:
    """Returns the name of the function at the end of a prompt, and where it begins.

    ("", 0) if the prompt ends in something else.
    """
    text = Text(prompt, table(language), parser(language))
    last = next((one for one in reversed(text.root.named_children) if not blank(one)), None)
    if last is None:
        return "", 0
    functions = [one for one in text.inside(last) if one.type in text.table.functions]
    name = text.name_of(functions[0]) if functions else ""
    start = len(prompt.encode("utf-8", "replace")[: last.start_byte].decode("utf-8", "replace"))
    return name, start
