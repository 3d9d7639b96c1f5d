"""Arranges a Rust program that is made of several texts, and finds its tests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reward_server.languages.masking import edited

_LINTS = re.compile(r"(?m)^[ \t]*#!\[\s*(?:deny|forbid|warn)\s*\([^()\]\n]*\)\s*\]")
_TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z))
    | (?P<quoted>b?r(?P<hashes>\#*+)"(?s:.*?)(?:"(?P=hashes)|\Z)|b?"(?:\\[\s\S]|[^"\\])*+"?
        |b?'(?:\\[^\n']{1,9}|[^'\\\n])')
    | (?P<word>(?:r\#)?\w+)
    | (?P<mark>[\s\S])""",
    re.VERBOSE,
)
_NESTED = re.compile(r"/\*|\*/")
_TEST = ("#", "[", "test", "]")
_OWN = (_TEST, ("#", "[", "cfg", "(", "test", ")", "]"))
_NOT_TESTS = "# [ cfg ( not ( test ) ) ]"
_HEAD = 20  # words in front of a function's name, its attributes among them
_VISIBLE = re.compile(r"(?: pub(?: \( \w+ \))?)?$")


def arranged(text: str) -> str:
    """Removes lints that refuse more than the compiler does.

    The code that is put around a solution does not comply with them.
    """
    return _LINTS.sub("", text)


def without_tests(solution: str) -> str:
    """Removes a solution's own tests, since they are not tests of its task."""
    words = list(_words(solution))
    lengths = (
        next((len(own) for own in _OWN if _are_at(own, words, at)), 0) for at in range(len(words))
    )
    places = [(at, at + length - 1) for at, length in enumerate(lengths) if length]
    never = "#[cfg(any())]"
    return edited(solution, ((words[a].start(), words[b].end(), never) for a, b in places))


def with_tests(tests: str, secret: str) -> str:
    """Turns a main into a test, so that the compiler's own harness calls it and all tests.

    Raises:
        ValueError: there is nothing to call.
    """
    words = list(_words(tests))
    mains = [at for at in range(len(words)) if _are_at(("main", "("), words, at)]
    called = any(_is_called(words, at) for at in {*mains}.intersection(_outermost(words)))
    if not called and not any(_are_at(_TEST, words, at) for at in range(len(words))):
        raise ValueError("has neither a main nor a function under #[test]")
    named = (words[at] for at in mains if _texts(words[max(0, at - 1) : at]) != (".",))
    tests = edited(tests, ((*word.span(), f"m{secret}") for word in named))
    if not called:
        return tests
    return f"{tests}\n#[test]\nfn zzzy{secret}() {{ {secret}main(m{secret}) }}\n"


def _is_called(words: Sequence[re.Match[str]], at: int) -> bool:
    """Returns True if a position has the name of a function, which is one of the tests."""
    head = _texts(words[max(0, at - _HEAD) : at])
    if head[-1:] != ("fn",):
        return False
    return not _VISIBLE.sub("", " ".join(head[:-1])).endswith(_NOT_TESTS)


def _outermost(words: Sequence[re.Match[str]]) -> Iterator[int]:
    """Yields positions of words outside of all blocks; closing a block of the prompt opens none."""
    depth = 0
    for at, word in enumerate(words):
        depth = max(0, depth + (word[0] == "{") - (word[0] == "}"))
        if depth == 0:
            yield at


def _are_at(wanted: Sequence[str], words: Sequence[re.Match[str]], at: int) -> bool:
    return _texts(words[at : at + len(wanted)]) == wanted


def _texts(words: Sequence[re.Match[str]]) -> tuple[str, ...]:
    return tuple(word[0] for word in words)


def _words(text: str) -> Iterator[re.Match[str]]:
    """Yields the words and marks of a text, without blanks, comments and quoted texts."""
    at = 0
    while found := _TOKEN.match(text, at):
        at = _comment_end(text, at) if found[0].startswith("/*") else found.end()
        if found["word"] or found["mark"]:
            yield found


def _comment_end(text: str, start: int) -> int:
    """Returns the end of a comment, which may contain other comments."""
    depth = 0
    for found in _NESTED.finditer(text, start):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)
