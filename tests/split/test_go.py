"""Go test programs taken apart: what the tests' side refuses to read, and what stays whole."""

from __future__ import annotations

import shutil

import pytest

from tests.split.go_programs import main
from tests.split.programs import (
    Workshop,
    answer,
    answered,
    frame,
    many,
    text,
    whole,
    workshop,
)

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed"),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return workshop("go", "go", tmp_path_factory.mktemp("go"))


KEYED = b"s" + text(b"k")
HOSTILE = {
    "no size": frame(b""),
    "an answer to another call": answer(b"n", id=2),
    "too few values": answer(),
    "more values than said": answer(b"u", many(b"m", 0), b"n"),
    "a count beyond the frame": answer(b"u", many(b"m", 0x7FFFFFFF)),
    "a count that is all ones": answer(b"u", many(b"m", 0xFFFFFFFF)),
    "a text beyond the frame": answer(b"u", many(b"m", 1, b"s\x7f\xff\xff\xffab", b"n")),
    "another type": answer(b"u", whole(1)),
    "a key twice": answer(b"u", many(b"m", 2, KEYED, b"n", KEYED, b"n")),
    "a type that is not known": answer(
        b"u", many(b"m", 1, KEYED, many(b"r" + text(b"os.File"), 1, text(b""), b"n"))
    ),
    "a type without an end": answer(
        b"u", many(b"m", 1, KEYED, many(b"r" + text(b"[]" * 5000 + b"int"), 1, text(b""), b"n"))
    ),
    "an array that is huge": answer(
        b"u", many(b"m", 1, KEYED, many(b"r" + text(b"[4096][4096]int"), 1, text(b""), b"n"))
    ),
    "a map that takes no keys": answer(
        b"u", many(b"m", 1, KEYED, many(b"r" + text(b"map[[]int]int"), 1, text(b""), b"n"))
    ),
    "a key that cannot be one": answer(
        b"u",
        many(
            b"m",
            1,
            KEYED,
            many(
                b"r" + text(b"map[interface {}]int"),
                1,
                text(b""),
                many(b"m", 1, many(b"r" + text(b"[]int"), 1, text(b""), many(b"l", 0)), whole(1)),
            ),
        ),
    ),
    "a pointer to nothing": answer(
        b"u", many(b"m", 1, KEYED, many(b"r" + text(b"*main.P"), 1, text(b""), b"@\0\0\0\7"))
    ),
    "a pointer of another type": answer(
        b"u", many(b"m", 1, KEYED, many(b"r" + text(b"*int"), 1, text(b""), b"@\0\0\0\0"))
    ),
    "pointers that leave numbers out": answer(
        b"u",
        many(
            b"m",
            1,
            KEYED,
            many(b"r" + text(b"*int"), 1, text(b""), many(b"p", 2, whole(9), whole(1))),
        ),
    ),
    "a field of another name": answer(
        many(b"p", 2, whole(0), many(b"r" + text(b"main.P"), 1, text(b"y"), whole(1))), b"n"
    ),
    "a number beyond its type": answer(
        many(b"p", 2, whole(0), many(b"r" + text(b"main.P"), 1, text(b"x"), whole(1 << 40))), b"n"
    ),
    "nesting without end": answer(
        b"u",
        many(
            b"m",
            1,
            KEYED,
            (b"r" + text(b"[]interface {}") + b"\0\0\0\1" + text(b"") + b"l\0\0\0\1") * 100_000,
        ),
    ),
    "more memory than there is": answer(
        b"u",
        many(
            b"m",
            1,
            KEYED,
            many(b"r" + text(b"[][4096]int64"), 1, text(b""), many(b"l", 60_000, b"n" * 60_000)),
        ),
    ),
    "an exception with a tail": frame(b"E\0\0\0\1" + text(b"") + text(b"no") + b"x"),
}


@pytest.fixture(scope="module")
def besieged(shop: Workshop) -> list[str]:
    """A tests' program that passes with whatever well-formed answer it gets."""
    tests = main("defer func() { recover() }()\nf(&P{})")
    split = shop.taken_apart("type P struct { x int32 }\nfunc f(p *P) map[string]any {", tests)
    assert split is not None
    return shop.tests_program(split, tests)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_malformed_answer_ends_the_tests_and_is_told(besieged: list[str], name: str) -> None:
    outcome = answered(besieged, HOSTILE[name])
    assert not outcome.passed
    assert outcome.forged, outcome


def test_a_well_formed_answer_passes(besieged: list[str]) -> None:
    changed = many(b"p", 2, whole(0), many(b"r" + text(b"main.P"), 1, text(b"x"), whole(-1)))
    same = many(b"r" + text(b"*main.P"), 1, text(b""), b"@\0\0\0\0")
    assert answered(besieged, answer(changed, many(b"m", 1, KEYED, same))).passed
    assert answered(besieged, answer(b"u", b"n")).passed
    assert not answered(besieged, frame(b"E\0\0\0\1" + text(b"unwritable") + text(b""))).passed
    assert answered(besieged, frame(b"E\0\0\0\1" + text(b"") + text(b"no"))).passed


REFUSED = {
    "a variable": "var n int\nfunc f(a int) int {",
    "a variable that is an error of another kind": "var n error = new(E)\nfunc f(a int) int {",
    "a method": "type T struct{}\nfunc (t T) f(a int) int {",
    "a type of another package": "func f(a time.Time) int {",
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
def test_what_cannot_be_taken_apart_is_refused(shop: Workshop, name: str) -> None:
    assert shop.taken_apart(REFUSED[name], main("")) is None


@pytest.mark.parametrize(
    "looks", ["os.Stdout = nil", "runtime.Caller(0)", "errors.As(err, &e)", "err == io.EOF"]
)
def test_tests_that_look_behind_values_are_refused(shop: Workshop, looks: str) -> None:
    assert shop.taken_apart("func f(a int) int {", main(looks)) is None
