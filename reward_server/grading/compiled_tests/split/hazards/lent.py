"""Finds tests that declare types and functions for the solution to use.

Some published tasks define the nodes of a list in their tests, and only in a comment of their
prompt. The solution's program contains no text of the tests, so it would lack them. A declaration
of the tests is for the solution if the prompt mentions it, or if the tests do not use it. C++ is
left out, since a name there is declared before its use. Refusing too much costs a label, and never
a verdict.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reward_server.grading.compiled_tests.split.base import Task
from reward_server.grading.compiled_tests.split.text.words import word_set
from reward_server.grading.compiled_tests.tokens import Kind, Token, match_brackets, tokenize

_TYPES = word_set("class interface enum record struct union trait type")
_FUNCTIONS = word_set("func fn function")
_VARIABLES = word_set("const let var")
_WORD = re.compile(r"[^\W\d][\w$]*")
_CALLED = re.compile(rf"({_WORD.pattern})\s*\(")
# The text after a variable's name if the variable is a function, with a blank between tokens.
_VALUE = re.compile(r"= (?:async )?(?:function\b|[\w$]+ =>|\([^()]*\) (?::[^=]*)?=>)")
_LONGEST = 64
# What harnesses call.
_STARTED = re.compile(r"main|init|_|(?:Test|Benchmark|Example|Fuzz)(?![a-z]).*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    """A type or a function outside of all blocks.

    Args:
        name: of it.
        start: of its tokens.
        end: of its tokens and its block's.
        is_started: whether it is run though no text uses it.
    """

    name: str
    start: int
    end: int
    is_started: bool


def lends_names(task: Task) -> bool:
    """Returns True if the solution may use declarations of the tests."""
    solid = _solid(task.tests, task)
    own = {one.name for one in _declared(_solid(task.prompt, task))}
    mentioned = {*_WORD.findall(task.prompt)} - {*filter(_is_plain, _WORD.findall(task.prompt))}
    mentioned |= {*_CALLED.findall(task.prompt)}
    uses = Counter(_names(solid))
    for one in _declared(solid):
        is_used = uses[one.name] > Counter(_names(solid[one.start : one.end]))[one.name]
        if one.name not in own and (one.name in mentioned or not (is_used or one.is_started)):
            return True
    return False


def _solid(text: str, task: Task) -> list[Token]:
    return [token for token in tokenize(text, task.language) if not token.is_blank]


def _names(tokens: Sequence[Token]) -> Iterator[str]:
    """Yields the words of tokens, also those in templates."""
    for token in tokens:
        if token.kind in (Kind.WORD, Kind.STRING):
            yield from _WORD.findall(token.text)


def _is_plain(word: str) -> bool:
    """Returns True if a word may be one of a sentence's."""
    return word.isalpha() and word.islower()


def _declared(solid: Sequence[Token]) -> Iterator[_Declared]:
    brackets = match_brackets(solid)
    partners = brackets.partners if brackets else {}
    depth = 0
    for index, token in enumerate(solid):
        depth = max(0, depth + (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE))
        if depth or not _declares(solid, index):
            continue
        end = _end(solid, partners, index)
        block = solid[index:end]
        is_type, is_function = token.text in _TYPES, token.text in _FUNCTIONS
        has_attribute = is_function and index > 0 and solid[index - 1].text == "]"
        name = solid[index + 1].text
        is_started = has_attribute or _STARTED.fullmatch(name) is not None
        is_started = is_started or (is_type and any(one.text == "main" for one in block))
        yield _Declared(name=name, start=index, end=end, is_started=is_started)


def _declares(solid: Sequence[Token], index: int) -> bool:
    """Returns True if a declaration of a type, or of a variable that is a function, begins."""
    word, behind = solid[index].text, solid[index + 1 : index + 3]
    if not behind or behind[0].kind is not Kind.WORD:
        return False
    value = " ".join(token.text for token in solid[index + 2 : index + _LONGEST])
    return word in _TYPES | _FUNCTIONS or (word in _VARIABLES and _VALUE.match(value) is not None)


def _end(solid: Sequence[Token], partners: Mapping[int, int], index: int) -> int:
    """Returns the end of a declaration's block; without a block, the end of its name."""
    at = index + 2
    while at < len(solid) and solid[at].text != ";" and not _declares(solid, at):
        if solid[at].text == "{":
            return partners.get(at, at) + 1
        at = partners.get(at, at) + 1
    return index + 2
