"""Finds tests in Rust that read a value again after they lent it to the solution.

The target of a shared reference is copied, so a solution that changes it with `unsafe` code changes
only its copy. So each lent value must be made for one call only. It may be a temporary. It may also
be a variable of the same function that no code after the call mentions. In this case no loop or
closure may be between its binding and the call, except a loop that binds it. The same holds for the
values from which it was made. Constants are allowed, since they are in memory that cannot be
written. Refusing too much costs a label, and never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from reward_server.grading.compiled_tests.split.hazards.holding import parts_of
from reward_server.grading.compiled_tests.split.hazards.trusting import RUST_TEXT
from reward_server.grading.compiled_tests.split.text.words import word_set

_ASSERTS = re.compile(r"\b(?:debug_)?assert(?P<pair>_eq|_ne)?\s*!\s*[(\[{]")
_IN_FORMATS = re.compile(r"\{([A-Za-z_]\w*)")
_FUNCTION = re.compile(r"\bfn\s+(?P<name>\w+)\s*(?:<[^(){}]*>)?\s*\((?P<parameters>[^{};]*)\)")
_CLOSURE = re.compile(
    r"\blet\s+(?:mut\s+)?(?P<name>\w+)\s*=\s*(?:move\s+)?\|(?P<parameters>[^|]*)\|"
)
# A variable's name, unless a copy of the variable is made there. Names of macros, functions and
# fields do not match.
_NAME = re.compile(
    r"(?<![\w'$])(?<!(?<!\.)\.)([a-z_]\w*)\b"
    r"(?!\s*(?:!|\(|:|\.\s*(?:clone|to_owned|to_string|to_vec)\s*\(\s*\)))"
)
_WORDS = word_set(
    """as box bool char const crate dyn else enum f32 f64 false fn for i128 i16 i32 i64 i8 if impl
    in isize let loop match move mut pub ref return static str struct true u128 u16 u32 u64 u8
    unsafe use usize while _"""
)
_LET = r"\blet\s+(?P<pattern>[^=;]*?\b{}\b[^=;]*?)=(?!=)(?P<value>[^;]*)"
_FOR = re.compile(r"\bfor\s+(?P<pattern>[^{};]*?)\s+in\b(?P<value>[^{]*)$")
_TURNS = re.compile(r"\b(?:while\b[^{};]*|loop\s*)$")
_CALLED_BACK = re.compile(r"\|[^|{};]*\|")
_IMPORTS = re.compile(r"\b(?:use|mod)\b[^;{}]*(?:\{[^{}]*\})?[^;{}]*;")


def lends_again(tests: str, function: str, lent: AbstractSet[int]) -> bool:
    """Returns True if tests may read a value again after they lent it to a call.

    Args:
        tests: a text in Rust.
        function: the function that they call.
        lent: the positions of the parameters that hold references.
    """
    code = _IMPORTS.sub(lambda found: " " * len(found[0]), RUST_TEXT.sub(_named_in_text, tests))
    lending = _Lending(_without_messages(code), function, lent)
    return lending.hands_function_on() or any(
        not lending.is_made_for(start, end, name)
        for start, end, arguments in lending.calls()
        for name in _names(arguments)
    )


class _Lending:
    """The calls of a function, and the values that are lent to them.

    Args:
        code: the tests, without comments; string literals are reduced to the names that they
            format.
        function: the function that they call.
        lent: the positions of the parameters that hold references.
    """

    def __init__(self, code: str, function: str, lent: AbstractSet[int]) -> None:
        self._code = code
        self._callers: dict[str, AbstractSet[int]] = {function: lent}
        while (found := {**self._callers, **dict(self._others())}) != self._callers:
            self._callers = found

    def calls(self) -> Iterator[tuple[int, int, str]]:
        """Yields the start and end of each call, and its lent arguments."""
        for found in re.finditer(rf"\b({self._names})\s*\(", self._code):
            if re.search(r"\bfn\s+$", self._code[: found.start()]):
                continue
            arguments, end = _bracket(self._code, found.end())
            places = self._callers[found[1]]
            yield (
                found.start(),
                end,
                ",".join(one for at, one in enumerate(arguments) if at in places),
            )

    def hands_function_on(self) -> bool:
        """Returns True if the function is used otherwise than in calls and in assignments of
        further names."""
        declared = rf"\b(?:fn|let(?:\s+mut)?)\s+(?:{self._names})\b"
        code = re.sub(f"{self._alias}|{declared}", " ", self._code)
        return re.search(rf"\b(?:{self._names})\b(?!\s*\()", code) is not None

    def is_made_for(self, start: int, end: int, name: str) -> bool:
        """Returns True if the value of a name is made only for the code between two positions."""
        inner = start
        while name != "self":
            opened = _opened_at(self._code[:inner])
            inside = self._code[opened + 1 : inner]
            stop = _bracket(self._code, opened + 1)[1]
            if any(_is_open(inside[one.end() :]) for one in _CALLED_BACK.finditer(inside)):
                return self._is_parameter_of_caller(inside, name)
            bound = list(re.finditer(_LET.format(re.escape(name)), _without_blocks(inside)))
            if bound:
                value = opened + 1 + bound[-1].start(), opened + 1 + bound[-1].end()
                return self._is_left(end, stop, name) and self._are_made_for(
                    *value, bound[-1]["value"]
                )
            if opened < 0:
                return False
            before = re.split(r"[;{}]", self._code[:opened])[-1]
            if loop := _FOR.search(before):
                is_bound = name in _names(loop["pattern"]) and self._is_left(end, stop, name)
                return is_bound and self._are_made_for(opened - len(before), opened, loop["value"])
            if found := _FUNCTION.search(before):
                taken = [one for one in parts_of(found["parameters"]) if name in _names(_head(one))]
                return bool(taken) and self._is_left(end, stop, name)
            if _TURNS.search(before):
                return False
            inner = opened
        return False

    def _is_parameter_of_caller(self, inside: str, name: str) -> bool:
        """Returns True if a name is a parameter of the closure around a call.

        The closure must have a name, and its body may not use the parameter before the call.
        """
        found = [one for one in _CLOSURE.finditer(inside) if _is_open(inside[one.end() :])]
        return (
            len(found) == 1
            and any(name in _names(_head(one)) for one in parts_of(found[0]["parameters"]))
            and len(re.findall(rf"\b{re.escape(name)}\b", inside[found[0].end() :])) == 0
        )

    def _is_left(self, end: int, stop: int, name: str) -> bool:
        """Returns True if no code mentions a name between a position and its next binding."""
        rest = self._code[end:stop]
        anew = re.search(rf"\blet\s+(?:mut\s+)?{re.escape(name)}\b[^=;]*=(?P<value>[^;]*);", rest)
        if anew:
            rest = rest[: anew.start()] + anew["value"]
        return re.search(rf"\b{re.escape(name)}\b", rest) is None

    def _are_made_for(self, start: int, end: int, value: str) -> bool:
        return all(self.is_made_for(start, end, one) for one in _names(value))

    @property
    def _names(self) -> str:
        return "|".join(sorted(map(re.escape, self._callers)))

    @property
    def _alias(self) -> str:
        return rf"\blet\s+(?:mut\s+)?(\w+)[^=;]*=\s*&?\s*({self._names})\s*;"

    def _others(self) -> Iterator[tuple[str, AbstractSet[int]]]:
        """Yields further names of callers, and functions that pass lent values on to them."""
        for other, one in re.findall(self._alias, self._code):
            yield other, self._callers[one]
        handed = [(start, set(_names(arguments))) for start, _, arguments in self.calls()]
        for pattern in (_FUNCTION, _CLOSURE):
            for found in pattern.finditer(self._code):
                body = self._body(found.end())
                names = {name for at, inside in handed if at in body for name in inside}
                parameters = parts_of(found["parameters"])
                places = {at for at, one in enumerate(parameters) if names & {*_names(_head(one))}}
                if places:
                    yield found["name"], places | self._callers.get(found["name"], set())

    def _body(self, start: int) -> range:
        opening = re.compile(r"[^;{}]*\{").match(self._code, start)
        if opening:
            return range(opening.end(), _bracket(self._code, opening.end())[1])
        end = self._code.find(";", start)
        return range(start, end if end >= 0 else len(self._code))


def _named_in_text(found: re.Match[str]) -> str:
    """Returns a comment as blanks, and a string literal as the names that it formats.

    The result has the length of the original.
    """
    if found[0].startswith("/"):
        return " " * len(found[0])
    names = " ".join(_IN_FORMATS.findall(found[0]))
    return (
        f'"{names}"'.ljust(len(found[0]))[: len(found[0])] if names else '""'.ljust(len(found[0]))
    )


def _without_messages(code: str) -> str:
    """Returns a text without the messages of its assertions."""
    for found in reversed(list(_ASSERTS.finditer(code))):
        arguments, end = _bracket(code, found.end())
        kept = ",".join(arguments[: 2 if found["pair"] else 1])
        code = code[: found.end()] + kept.ljust(end - 1 - found.end()) + code[end - 1 :]
    return code


def _names(text: str) -> list[str]:
    return [name for name in _NAME.findall(text) if name not in _WORDS]


def _head(parameter: str) -> str:
    """Returns a parameter without its type."""
    return re.split(r"(?<!:):(?!:)", parameter)[0]


def _bracket(code: str, start: int) -> tuple[list[str], int]:
    """Returns the arguments in a bracket that is open at a position, and the bracket's end."""
    parts, depth, first = list[str](), 1, start
    for at in range(start, len(code)):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0 or (depth == 1 and code[at] == ","):
            parts.append(code[first:at])
            first = at + 1
        if depth == 0:
            return parts, first
    return parts, len(code)


def _opened_at(code: str) -> int:
    """Returns the position of the last block that is still open, or -1 if there is none."""
    depth = 0
    for at in range(len(code) - 1, -1, -1):
        depth += (code[at] == "}") - (code[at] == "{")
        if depth < 0:
            return at
    return -1


def _is_open(code: str) -> bool:
    """Returns True if the expression at the start of a text continues after the text's end."""
    depth = 0
    for sign in code:
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or (depth == 0 and sign in ",;"):
            return False
    return True


def _without_blocks(code: str) -> str:
    """Returns a text in which the content of closed blocks is replaced by blanks."""
    kept, opened = list(code), list[int]()
    for at, sign in enumerate(code):
        if sign == "{":
            opened.append(at)
        elif sign == "}" and opened:
            start = opened.pop()
            kept[start + 1 : at] = " " * (at - start - 1)
    return "".join(kept)
