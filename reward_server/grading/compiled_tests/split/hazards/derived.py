"""Finds tests in Java that use more of an object of the prompt's class than its fields.

The solution may derive a class from the prompt's class. In the tests' program, an object of the
derived class is an object of the prompt's class, and has the prompt's methods. Methods of `Object`
such as `toString` and `equals` may be overridden, too, and containers, texts and assertions call
them. So tests may do four things with such an object: read and set its fields, compare it by `==`,
assign it to a variable of its class, and pass it to methods that declare this class. Refusing too
much costs a label, and never a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from reward_server.grading.compiled_tests.split.hazards.holding import end_of
from reward_server.grading.compiled_tests.split.text.words import without_quotes

_CHAIN = re.compile(r"\s*\.\s*(\w+)\b(?!\s*\()")
_BEFORE = re.compile(r"(==|!=|->|[-+*/%&|^<>?:=(,;{}!.]|\breturn|\bnew|\w+|\W)\s*$")
_BEHIND = re.compile(r"\s*(==|!=|instanceof\b|\W|\w+)")
# A variable's declaration, and the text between a method's parameters and its body.
_OTHERS = re.compile(
    r"(?<![\w.])(?!return\b|throw\b|new\b|else\b)(?P<type>[A-Za-z_][\w.]*)(?:<[^;(){}]*>)?(?:\s*\[\s*\])*"
    r"\s+(?P<name>\w+)(?=\s*[;=,):])"
)
_OWNER = re.compile(r"(?:\bnew\s+\w+\s*\(\s*\)|\b\w+)\s*\.\s*$")
_BLOCK = re.compile(r"\)\s*(?:throws[\w\s.,]*)?\{")
_ARGUMENTS = r"\s*<(?:[^<>;(){}]|<[^<>;(){}]*>)*>"  # of a class with parameters
_PARAMETERS = r"\b(?P<name>\w+)\s*\((?P<parameters>[^(){};]*)\)\s*(?:throws[\w\s.,]*)?\{"


def asks_objects(tests: str, classes: Mapping[str, str], method: str, heads: str) -> bool:
    """Returns True if tests use members of objects that a derived class may override.

    Args:
        tests: the tests.
        classes: text of the classes that may be derived, by name.
        method: name of the solution's.
        heads: text of its head, and of the declarations of fields that hold objects of these
            classes.
    """
    if not classes:
        return False
    reader = _Reader(without_quotes(tests), classes, method, heads)
    return reader.holds_many or not all(map(reader.is_plain, reader.expressions()))


class _Reader:
    """Finds the expressions of tests that are objects of some classes.

    Args:
        code: of the tests, without texts and comments.
        classes: text of the classes, by name.
        method: name of the solution's, which may return such an object.
        heads: text of the declarations of variables that hold such objects.
    """

    def __init__(self, code: str, classes: Mapping[str, str], method: str, heads: str) -> None:
        kind = self._kind = rf"\b(?:{'|'.join(map(re.escape, sorted(classes)))})\b"
        whole = f"{heads} {code} {' '.join(classes.values())}"
        many = (
            rf"[<&?]\s*(?:extends\s+|super\s+)?{kind}\s*[<>,]|,\s*{kind}(?:{_ARGUMENTS})?\s*[>,]"
            rf"|{kind}(?:{_ARGUMENTS})?\s*(?:\[|\.\.\.)"
        )
        self.holds_many = re.search(many, whole) is not None
        code, heads = self._plainly(code), self._plainly(heads)
        classes = {name: self._plainly(text) for name, text in classes.items()}
        self._code = code
        self._fields = {
            name
            for text in classes.values()
            for name in self._declared(text)
            if name not in classes
        }
        self._names = set(self._declared(code))
        makers = {one[1] for one in re.finditer(rf"{kind}\s+(\w+)\s*\(", f"{heads} {code}")}
        if method in makers:
            called = rf"\bvar\s+(\w+)\s*=\s*[\w.\s()]*?\b{re.escape(method)}\s*\("
            self._names |= set(re.findall(called, code))
        self._makers = makers | {method} if method in makers else makers
        self._takers = {method, *classes} | {
            one["name"]
            for one in re.finditer(_PARAMETERS, code)
            if re.search(kind, one["parameters"])
        }

    def _plainly(self, text: str) -> str:
        """Returns a text of the same length without the type arguments of these classes."""
        return re.sub(
            rf"({self._kind})({_ARGUMENTS})", lambda one: one[1] + " " * len(one[2]), text
        )

    def _declared(self, text: str) -> Iterator[str]:
        """Yields the variables of these classes that a text declares."""
        for found in re.finditer(rf"{self._kind}\s+((?:\w+[^;(){{}}:]*?,\s*)?\w+)\s*[;=,):]", text):
            yield from (one.split("=")[0].strip() for one in found[1].split(","))

    def expressions(self) -> Iterator[tuple[int, int]]:
        """Yields where names and calls begin and end that are such objects."""
        names = "|".join(map(re.escape, sorted(self._names))) or "(?!)"
        declared = re.compile(rf"(?:{self._kind}|\bvar)(?:\s+|\s[^;(){{}}]*,\s*)$")
        for found in re.finditer(rf"(?<![\w.])(?:this\s*\.\s*)?(?:{names})\b(?!\s*\()", self._code):
            is_declared = declared.search(self._code[: found.start()]) is not None
            if not is_declared and not self._is_other(found[0], found.start()):
                yield found.span()
        makers = "|".join(map(re.escape, sorted(self._makers))) or "(?!)"
        for found in re.finditer(rf"\b(?:(?:{makers})|new\s+{self._kind})\s*\(", self._code):
            before = self._code[: found.start()]
            if not re.search(rf"{self._kind}\s+$", before):
                owner = _OWNER.search(before)
                yield (
                    owner.start() if owner else found.start(),
                    end_of(self._code, found.end()) + 1,
                )

    def _is_other(self, name: str, place: int) -> bool:
        """Returns True if a name is declared around a place as something else."""
        for found in _OTHERS.finditer(self._code[: place + len(name) + 1]):
            if found["name"] == name and not re.fullmatch(rf"{self._kind}|var", found["type"]):
                end = end_of(self._code, found.end())
                block = _BLOCK.match(self._code, end)
                if place <= (end_of(self._code, block.end()) if block else end):
                    return True
        return False

    def is_plain(self, place: tuple[int, int]) -> bool:
        """Returns True if the text around an object between two positions uses no member of it."""
        start, end = place
        while field := _CHAIN.match(self._code, end):
            end = field.end()
            if field[1] not in self._fields:
                return True
        behind = _BEHIND.match(self._code, end)
        before = _BEFORE.search(self._code[:start])
        after, first = behind[1] if behind else ";", before[1] if before else ";"
        if after in ("==", "!=", "instanceof") or first in ("==", "!="):
            return True
        if (
            after == "."
        ):  # a method: what can be overridden of the class's own is looked at elsewhere
            called = re.compile(r"\s*\.\s*(\w+)").match(self._code, end)
            return called is not None and called[1] not in ("equals", "hashCode", "toString")
        if after == "=":
            return True
        if after not in (";", ",", ")"):
            return False
        if first == "=":
            given = re.search(r"(?:(\w+)\s*\.\s*)?(\w+)\s*=\s*$", self._code[:start])
            return given is not None and given[2] in self._names | self._fields
        if first in ("(", ","):
            return self._taker(start) in self._takers
        return first in (";", "{", "}", "return")

    def _taker(self, start: int) -> str:
        """Returns the name of the function that gets the argument at a position."""
        depth = 0
        for at in range(start - 1, -1, -1):
            depth += (self._code[at] in ")]}") - (self._code[at] in "([{")
            if depth < 0:
                found = re.search(r"(\w+)\s*(?:<[^<>]*>\s*)?$", self._code[:at])
                return found[1] if found and self._code[at] == "(" else ""
        return ""


def can_be_extended(head: Collection[str], text: str, name: str) -> bool:
    """Returns True if another class of the same package can extend a class.

    Args:
        head: words of the class in front of its block.
        text: text of its block.
        name: its name.
    """
    made = re.findall(rf"((?:\w+\s+)*){re.escape(name)}\s*\(", text)
    return "final" not in head and not (made and all("private" in one for one in made))
