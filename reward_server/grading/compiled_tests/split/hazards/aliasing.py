"""Finds tests in C++ and Rust that can distinguish values from their copies.

A value that crosses between the two programs is a copy, like an argument that is passed by value. A
value that a function changes by reference is copied back when the function returns. Tests can
notice that if they keep references to the value or to its parts, pass it twice in one call, or read
it after an exception. They can also notice it if they ask for an address or a capacity. Refusing
too much costs a label, and never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from reward_server.grading.compiled_tests.split.text.words import without_quotes

_CPP_ROOM = re.compile(
    r"\b(?:capacity|shrink_to_fit|bucket_count|load_factor|addressof|get_allocator)\b"
)
_CPP_KEEPS = re.compile(
    r"(?<!&)&\s*\w+\s*(?:=(?!=)|\{|\()|\*\s*\w+\s*=(?!=)|[=(,{]\s*&\s*\w|\bit(?:erator|er)?\b|_iterator\b"
    r"|=\s*[\w.\[\]>()-]+(?:\.|->)\s*(?:c?r?begin|c?r?end|data|c_str|find|\w+_bound)\s*\("
    r"|\b(?:ref|tie|span|string_view|reference_wrapper|async|thread)\b"
)
_CPP_CATCHES = re.compile(r"\bcatch\b|\b\w+_(?:ANY_)?THROWS?\w*")
# The name of a variable, with its fields; no type and no function.
_CPP_NAMED = re.compile(
    r"(?<![\w.:>])[A-Za-z_]\w*(?:(?:\.|->)\w+)*\b(?!\s*(?:\(|\.|->|::|<|\{|[A-Za-z_]))"
)
_CPP_DEFINED = re.compile(
    r"\b(?P<name>\w+)\s*(?:=\s*\[[^\]]*\]\s*)?\((?P<parameters>[^(){};]*)\)"
    r"\s*(?:(?:const|mutable|noexcept|->\s*[\w:<>]+)\s*)*\{"
)
# Template arguments of a type whose object is made at this position.
_CPP_ARGUMENTS_OF_TYPES = re.compile(r"(?<=\w)<[\w\s:,*<>]*>(?=\s*[({])")
_CPP_CONSTANTS = frozenset(("true", "false", "nullptr"))
_CPP_LOOPS = re.compile(r"\b(?:for|while)\s*\(")
_CPP_ONCE_MORE = re.compile(r"\bdo\b[^;{}]*$")
_CPP_QUALIFIERS = re.compile(r"(?:\s|\b(?:const|mutable|noexcept)\b|->\s*[\w:<>]+)*$")
_CPP_BODIES = re.compile(r"\bdo$|\b(?:struct|class|union|namespace)\b[^;{}()]*$|\][^;{}()]*$")
_CPP_NO_TYPES = frozenset(("return", "else", "case", "new", "delete", "throw", "goto"))
# The text that follows the name in the declaration of a pointer to a function.
_POINTED = r"(?:\s*\)\s*\([^()]*\))?"
_CPP_WORDS = frozenset(("for", "if", "switch", "while", "catch"))
_CPP_LENT = re.compile(r"(?<!<)\bstring_view\b|\bspan\b(?!>)|\bchar (?:const )?\*")
_CPP_CHANGED = re.compile(r"^(?!const\b).*[^&]&$")
_RUST_PLACES = re.compile(
    r"\b(?:as_ptr|as_mut_ptr|ptr_eq|addr_of|capacity|shrink_to_fit|spare_capacity_mut)\b|:p\}"
    r"|\bas\s+\*\s*(?:const|mut)\b"
)
# Without these, the compiler lets no test use a value after a panic if it was lent as mutable.
_RUST_OUTLIVES = re.compile(r"\b(?:AssertUnwindSafe|scope|Mutex|RwLock)\b")


def lends_answers_cpp(before: str, result: str) -> bool:
    """Returns True if an answer in C++ may refer to memory that the solution changes later.

    Args:
        before: the text of the prompt in front of the function.
        result: the function's return type.
    """
    return _CPP_LENT.search(f"{without_quotes(before)} {result}") is not None


def tells_copies_cpp(tests: str, name: str, result: str, parameters: Sequence[str]) -> bool:
    """Returns True if tests in C++ can distinguish values from copies.

    Args:
        tests: the text of the tests, which call a function.
        name: the function's name.
        result: its return type.
        parameters: the types of its parameters.
    """
    code = without_quotes(tests)
    if result.endswith("&") or _CPP_ROOM.search(code):
        return True
    changed = {at for at, one in enumerate(parameters) if _CPP_CHANGED.match(one)}
    callers = _callers(code, name, changed)
    if _is_passed(code, callers) or _looks_again(code, callers):
        return True
    if not changed:
        return False
    kept = _CPP_KEEPS.search(code) or _CPP_CATCHES.search(code)
    return kept is not None or any(
        _has_twice(one) for *_, one in _calls(code, dict.fromkeys(callers, frozenset[int]()))
    )


def tells_copies_rust(tests: str, *, changes: bool) -> bool:
    """Returns True if tests in Rust can distinguish values from copies.

    Args:
        tests: the text of the tests, which call a function.
        changes: whether a function that they call can change its arguments.
    """
    return _RUST_PLACES.search(tests) is not None or (
        changes and _RUST_OUTLIVES.search(tests) is not None
    )


def _callers(code: str, name: str, changed: AbstractSet[int]) -> Mapping[str, AbstractSet[int]]:
    """Returns names whose call runs a function, with the positions of arguments that it may change.

    These are the function's own name, other names that are assigned the function, and functions
    that pass references to it.

    Args:
        code: the code of the tests.
        name: the function's name.
        changed: the positions of the parameters that it may change.
    """
    callers = {name: changed}
    while True:
        found: dict[str, AbstractSet[int]] = {}
        known = _named(callers)
        for other, one in re.findall(rf"(\w+){_POINTED}\s*=\s*&?\s*{known}\s*[;,]", code):
            found[other] = callers[one]
        for defined in _CPP_DEFINED.finditer(code):
            body = ",".join(_arguments(code[defined.end() :]))
            parameters = [*_arguments(f"{defined['parameters']})")]
            left = [one for *_, arguments in _calls(body, callers) for one in arguments]
            others = {at for at, one in enumerate(parameters) if not _is_handed(one, left)}
            if len(others) < len(parameters) and defined["name"] not in _CPP_WORDS:
                found[defined["name"]] = others
        if found.keys() <= callers.keys():
            return callers
        callers = found | callers


def _named(names: Iterable[str]) -> str:
    """Returns a regular expression for names, each of which may follow a namespace or class."""
    return rf"(?:\w*::)*\b({'|'.join(map(re.escape, sorted(names)))})\b"


def _is_handed(parameter: str, given: Iterable[str]) -> bool:
    """Returns True if a parameter is a reference or pointer, and one of the arguments uses it."""
    name = re.search(r"[&*]\s*(\w+)\s*$", parameter)
    return name is not None and any(re.search(rf"\b{name[1]}\b", one) for one in given)


def _is_passed(code: str, callers: Iterable[str]) -> bool:
    """Returns True if a function is an argument of another function, which could call it."""
    return re.search(rf"[({{,]\s*&?\s*{_named(callers)}\s*[,)}}]", code) is not None


def _looks_again(code: str, callers: Mapping[str, AbstractSet[int]]) -> bool:
    """Returns True if tests may read a variable again after a call took it by value.

    A completion that declares the function itself could take the variable by reference, and change
    it. So each such variable must be declared for this one call, and the text after the call must
    not mention it.
    """
    for start, end, left in _calls(code, callers):
        words = _CPP_NAMED.findall(_CPP_ARGUMENTS_OF_TYPES.sub("", ",".join(left)))
        names = {one for one in words if one not in _CPP_CONSTANTS and not one.isupper()}
        given = "|".join(map(re.escape, names))
        if given and re.search(rf"(?<![\w.>])(?:{given})\b", code[end:]):
            return True
        roots = {re.split(r"\.|->", one)[0] for one in names}
        if not all(_is_made_anew(code[:start], root) for root in roots):
            return True
    return False


def _is_made_anew(before: str, name: str) -> bool:
    """Returns True if a variable is made by value for the code that follows a text.

    No loop, function or lambda may begin between the declaration and the end of the text, so that
    the following code runs once for each new variable. A parameter by value is made for each call,
    and a loop variable by value for each iteration.

    Args:
        before: the text in front of that code.
        name: the variable's name.
    """
    end = len(before)
    while True:
        start = _opened_at(before[:end], "{", "}")
        inside = before[start + 1 : end]
        for loop in _CPP_LOOPS.finditer(inside):
            _, close = _bracket(inside, loop.end())
            if not re.search(r"[;}]", inside[close:]):
                return _declares(inside[loop.end() : close], name)
        if _CPP_ONCE_MORE.search(inside):
            return False
        if _declares(_without_blocks(inside), name):
            return True
        if start < 0:
            return False
        header = _CPP_QUALIFIERS.sub("", before[:start])
        if header.endswith(")"):
            opened = _opened_at(header[:-1], "(", ")")
            word = re.search(r"(\w*)\s*$", header[: max(opened, 0)])
            if word is None or word[1] not in ("if", "switch", "catch"):
                return _declares(header[opened + 1 : -1], name)
        elif _CPP_BODIES.search(header):
            return False
        end = start


def _declares(text: str, name: str) -> bool:
    """Returns True if a text declares a variable by value."""
    several = r"(?:\w+\s*(?:=\s*[^;,&*()]*|\{[^;{}]*\})?\s*,\s*)*"
    one = rf"(\w+|>)\s+{several}{re.escape(name)}\s*(?=[=({{;,:)\[]|$)"
    bound = rf"\bauto\s*\[[^\]]*\b{re.escape(name)}\b[^\]]*\]"
    found = (word[1] for word in re.finditer(one, text))
    return any(word not in _CPP_NO_TYPES for word in found) or bool(re.search(bound, text))


def _opened_at(text: str, opening: str, closing: str) -> int:
    """Returns the position of the last bracket that is still open, or -1 if there is none."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == closing) - (text[at] == opening)
        if depth < 0:
            return at
    return -1


def _without_blocks(code: str) -> str:
    """Returns a text with closed blocks replaced by their empty brackets."""
    kept, depth = [], 0
    for sign in code:
        depth -= sign == "}"
        if depth <= 0 or (depth == 1 and sign == "{"):
            kept.append(sign)
        depth += sign == "{"
    return "".join(kept)


def _calls(
    code: str, callers: Mapping[str, AbstractSet[int]]
) -> Iterator[tuple[int, int, list[str]]]:
    """Yields the start and end of each call, and the arguments that the call may not change."""
    for found in re.finditer(rf"{_named(callers)}\s*\(", code):
        arguments, end = _bracket(code, found.end())
        left = [one for at, one in enumerate(arguments) if at not in callers[found[1]]]
        yield found.start(), end, left


def _bracket(code: str, start: int) -> tuple[list[str], int]:
    """Returns the arguments in a bracket that is open at a position, and the bracket's end."""
    arguments = list(_arguments(code[start:]))
    return arguments, start + sum(map(len, arguments)) + len(arguments)


def _arguments(code: str) -> Iterator[str]:
    """Yields the arguments in a text that begins after the opening bracket of a call."""
    depth, start = 1, 0
    for at, sign in enumerate(code):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 or (depth == 1 and sign == ","):
            yield code[start:at]
            start = at + 1
        if depth == 0:
            return


def _has_twice(arguments: Sequence[str]) -> bool:
    """Returns True if two arguments begin with the same name, so that they could overlap."""
    roots = [found[0] for one in arguments if (found := re.search(r"[A-Za-z_]\w*", one))]
    return len(set(roots)) < len(roots)
