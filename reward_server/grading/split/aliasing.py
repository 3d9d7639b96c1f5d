"""Finds tests in C++ and Rust that can tell values from their copies.

Values of these languages are copied as they cross, as they are where they are handed over by
value. What a function changes by reference is copied back when it returns. Tests that keep
references to it or to its parts, hand it over twice at once, or look at it after an exception,
could see that; and so could those that ask where something lies in memory, or how much room it
has. To refuse too much costs a label, and never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reward_server.grading.split.words import without_quotes

_CPP_ROOM = re.compile(
    r"\b(?:capacity|shrink_to_fit|bucket_count|load_factor|addressof|get_allocator)\b"
)
_CPP_KEEPS = re.compile(
    r"(?<!&)&\s*\w+\s*(?:=(?!=)|\{|\()|\*\s*\w+\s*=(?!=)|[=(,{]\s*&\s*\w|\bit(?:erator|er)?\b|_iterator\b"
    r"|=\s*[\w.\[\]>()-]+(?:\.|->)\s*(?:c?r?begin|c?r?end|data|c_str|find|\w+_bound)\s*\("
    r"|\b(?:ref|tie|span|string_view|reference_wrapper|async|thread)\b"
)
_CPP_CATCHES = re.compile(r"\bcatch\b|\b\w+_(?:ANY_)?THROWS?\w*")
# A name, or a field of what has one, that is no type and no function.
_CPP_NAMED = re.compile(
    r"(?<![\w.:>])[A-Za-z_]\w*(?:(?:\.|->)\w+)*\b(?!\s*(?:\(|\.|->|::|<|\{|[A-Za-z_]))"
)
_CPP_CHANGED = re.compile(r"^(?!const\b).*[^&]&$")
_RUST_PLACES = re.compile(
    r"\b(?:as_ptr|as_mut_ptr|ptr_eq|addr_of|capacity|shrink_to_fit|spare_capacity_mut)\b|:p\}"
    r"|\bas\s+\*\s*(?:const|mut)\b"
)
# Elsewhere the compiler keeps tests that live on after a panic from what was lent to be changed.
_RUST_OUTLIVES = re.compile(r"\b(?:AssertUnwindSafe|scope|Mutex|RwLock)\b")


def tells_copies_cpp(tests: str, name: str, result: str, parameters: Sequence[str]) -> bool:
    """Returns True if tests in C++ could tell values from copies.

    Args:
        tests: that call a function.
        name: of the function.
        result: its type.
        parameters: their types.
    """
    code = without_quotes(tests)
    compared = rf"\b{re.escape(name)}\s*\([^;]*\)\s*[!=]="
    if result.endswith("&") or _CPP_ROOM.search(code):
        return True
    if result == "const char *" and re.search(compared, code):
        return True
    if not any(map(_CPP_CHANGED.match, parameters)):
        return _looks_again(code, name)
    kept = _CPP_KEEPS.search(code) or _CPP_CATCHES.search(code)
    return kept is not None or any(map(_has_twice, _calls(code, name)))


def tells_copies_rust(tests: str, *, changes: bool) -> bool:
    """Returns True if tests in Rust could tell values from copies.

    Args:
        tests: that call a function.
        changes: whether a function that they call can change its arguments.
    """
    return _RUST_PLACES.search(tests) is not None or (
        changes and _RUST_OUTLIVES.search(tests) is not None
    )


def _looks_again(code: str, name: str) -> bool:
    """Returns True if what a call is given by its name is looked at behind it.

    A completion that writes the function anew could take it by reference, and change it.
    """
    for found in re.finditer(rf"\b{re.escape(name)}\s*\(", code):
        inside = ",".join(_arguments(code[found.end() :]))
        behind = code[found.end() + len(inside) :]
        given = "|".join(set(map(re.escape, _CPP_NAMED.findall(inside))))
        if given and re.search(rf"(?<![\w.>])(?:{given})\b", behind):
            return True
    return False


def _calls(code: str, name: str) -> Iterator[list[str]]:
    """Gives the arguments of each call."""
    for found in re.finditer(rf"\b{re.escape(name)}\s*\(", code):
        yield list(_arguments(code[found.end() :]))


def _arguments(code: str) -> Iterator[str]:
    """Gives the arguments of a call whose bracket is open."""
    depth, start = 1, 0
    for at, sign in enumerate(code):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 or (depth == 1 and sign == ","):
            yield code[start:at]
            start = at + 1
        if depth == 0:
            return


def _has_twice(arguments: Sequence[str]) -> bool:
    """Returns True if a name begins two arguments, so that these could overlap."""
    roots = [found[0] for one in arguments if (found := re.search(r"[A-Za-z_]\w*", one))]
    return len(set(roots)) < len(roots)
