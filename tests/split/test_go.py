"""Go test programs taken apart: what the tests' side refuses to read, and what stays whole."""

from __future__ import annotations

import pytest

from tests.split.go_programs import main
from tests.split.programs import (
    Workshop,
    answer,
    answered,
    frame,
    many,
    refusal_of,
    text,
    whole,
    workshop,
)
from tests.support.tools import needs

pytestmark = [
    needs("go"),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return workshop("go", "go", tmp_path_factory.mktemp("go"))


KEYED = b"s" + text(b"k")


def keyed(*values: bytes) -> bytes:
    """Makes an answer of a map that has values for a key."""
    return answer(many(b"", 1), many(b"m", len(values), *(KEYED + one for one in values)))


def held(type_: bytes, value: bytes) -> bytes:
    """Makes what an interface holds."""
    return many(b"r" + text(type_), 1, text(b""), value)


def point(field: bytes, value: bytes) -> bytes:
    return keyed(held(b"main.P", many(b"r" + text(b"main.P"), 1, text(field), value)))


HOSTILE = {
    "no size": frame(b""),
    "an answer to another call": answer(many(b"", 1, b"n"), id=2),
    "too few values": answer(many(b"", 0)),
    "more values than said": answer(many(b"", 1, b"n", b"n")),
    "a count beyond the frame": answer(many(b"", 0x7FFFFFFF)),
    "a count that is all ones": answer(many(b"", 0xFFFFFFFF)),
    "entries beyond the frame": answer(many(b"", 1, many(b"m", 0x7FFFFFFF))),
    "a text beyond the frame": answer(many(b"", 1, many(b"m", 1, b"s\x7f\xff\xff\xffab", b"n"))),
    "another type": answer(many(b"", 1, whole(1))),
    "a list for a map": answer(many(b"", 1, many(b"l", 0))),
    "a key twice": keyed(b"n", b"n"),
    "a type that is not known": keyed(held(b"os.File", b"n")),
    "items beyond the frame": keyed(held(b"[]int", many(b"l", 0x7FFFFFFF))),
    "an item of another type": keyed(held(b"[]int", many(b"l", 1, KEYED))),
    "a field of another name": point(b"y", whole(1)),
    "a number beyond its type": point(b"x", whole(1 << 40)),
    "nesting without end": keyed(
        (b"r" + text(b"[]interface {}") + b"\0\0\0\1" + text(b"") + b"l\0\0\0\1") * 100_000 + b"n"
    ),
    "an exception with a tail": frame(b"E\0\0\0\1" + held(b"string", b"s" + text(b"no")) + b"x"),
}


@pytest.fixture(scope="module")
def besieged(shop: Workshop) -> list[str]:
    """A tests' program that passes with whatever well-formed answer it gets."""
    tests = main("defer func() { recover() }()\nf(P{})\ncheck(true)")
    split = shop.taken_apart("type P struct { x int32 }\nfunc f(p P) map[string]any {", tests)
    assert split is not None
    return shop.tests_program(split, tests)


@pytest.mark.promise(
    "A malformed answer ends tests that run apart, and does not pass.", "Languages"
)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_malformed_answer_ends_the_tests_and_is_told(besieged: list[str], name: str) -> None:
    outcome = answered(besieged, HOSTILE[name])
    assert not outcome.passed
    assert outcome.forged, outcome


def test_a_well_formed_answer_passes(besieged: list[str]) -> None:
    assert answered(besieged, point(b"x", whole(-1))).passed
    assert answered(besieged, keyed(held(b"[]int", many(b"l", 1, whole(1))))).passed
    assert answered(besieged, answer(many(b"", 1, b"n"))).passed
    assert answered(besieged, frame(b"E\0\0\0\1" + held(b"float64", b"d" + bytes(8)))).passed


REFUSED = {
    "a variable": "var n int\nfunc f(a int) int {",
    "a variable that is an error of another kind": "var n error = new(E)\nfunc f(a int) int {",
    "a method": "type T struct{}\nfunc (t T) f(a int) int {",
    "a type of another package": "func f(a time.Time) int {",
    "an error that is a variable": 'var E = errors.New("e")\nfunc f(a int) error {',
    "a pointer": "func f(a *int) int {",
    "a channel": "func f(a chan int) int {",
    "a function": "func f(a func(int) int) int {",
    "parameters of types": "func f[T any](a T) T {",
    "a type with parameters": "type P[T any] struct{ x T }\nfunc f(a int) P[int] {",
    "an interface": "func f(a interface{ X() }) int {",
    "a body that is begun": "func f(a int) int {\n b := 1",
    "nothing open": "func f(a int) int { return 1 }",
    "a name of Go's own": "func len(a int) int {",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_taken_apart_is_refused(name: str) -> None:
    assert refusal_of("go", REFUSED[name], main("f(1)"))
