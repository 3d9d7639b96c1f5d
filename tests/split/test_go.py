"""Go test programs taken apart: what the tests' side refuses to read, and what stays whole."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.split.go_programs import main
from tests.split.programs import (
    Workshop,
    answered,
    frame,
    known,
    many,
    objects,
    text,
    whole,
    workshop,
)
from tests.support.tools import needs

pytestmark = [
    pytest.mark.timeout(300),
    needs("go"),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return workshop("go", "go", tmp_path_factory.mktemp("go"))


KEYED = b"s" + text(b"k")
MAP = text(b"map[string]interface {}")
ROOM = b"\0\0\0\2"  # for two elements


def keyed(*values: bytes, made: tuple[bytes, ...] = (), **filled: bytes) -> bytes:
    """Makes an answer of a map, the object after the argument, that has a value for a key."""
    entries = many(b"", len(values), *(KEYED + one for one in values))
    return answer(made, {1: entries, **{int(name[1:]): one for name, one in filled.items()}})


def answer(made: tuple[bytes, ...], filled: Mapping[int, bytes], value: bytes = known(1)) -> bytes:
    return objects(
        (MAP, *made), {number: (one,) for number, one in filled.items()}, value, own=True
    )


def held(type_: bytes, value: bytes) -> bytes:
    """Makes what an interface holds."""
    return many(b"r" + text(type_), 1, text(b""), value)


ARRAY = text(b"[]int") + ROOM
HOSTILE = {
    "no size": frame(b""),
    "an answer to another call": objects((), {}, b"n", id=2),
    "too few values": objects((), {}),
    "more values than said": objects((), {}, b"n", b"n"),
    "a count beyond the frame": frame(b"R\0\0\0\1" + many(b"", 0x7FFFFFFF)),
    "a count that is all ones": frame(b"R\0\0\0\1" + many(b"", 0xFFFFFFFF)),
    "entries beyond the frame": answer((), {1: many(b"", 0x7FFFFFFF)}),
    "a text beyond the frame": answer((), {1: many(b"", 1, b"s\x7f\xff\xff\xffab", b"n")}),
    "another type": objects((), {}, whole(1)),
    "a map of another type": objects((text(b"map[string]int"),), {}, known(1)),
    "a key twice": keyed(b"n", b"n"),
    "a type that is not known": keyed(held(b"os.File", b"n")),
    "an object of a type that is not known": objects((text(b"*os.File"),), {}, b"n"),
    "an object that is none": objects((text(b"int"),), {}, b"n"),
    "a type without an end": keyed(held(b"[]" * 5000 + b"int", b"n")),
    "an array that is huge": keyed(held(b"[4096][4096]int", b"n")),
    "a map that takes no keys": keyed(held(b"map[[]int]int", b"n")),
    "a key that cannot be one": keyed(
        held(b"map[interface {}]int", known(2)),
        made=(text(b"map[interface {}]int"), ARRAY),
        _2=many(b"", 1, held(b"[]int", known(3) + b"\0" * 12), whole(1)),
    ),
    "an object that is not there": keyed(held(b"*main.P", known(7))),
    "what is in one that is not there": objects((), {7: (b"n",)}, b"n", own=True),
    "an object of another type": keyed(held(b"*int", known(0))),
    "a slice behind its array": keyed(
        held(b"[]int", known(2) + b"\0\0\0\1" + ROOM + ROOM), made=(ARRAY,)
    ),
    "a slice that is longer than its room": keyed(
        held(b"[]int", known(2) + b"\0\0\0\0" + ROOM + b"\0\0\0\1"), made=(ARRAY,)
    ),
    "a slice of another array": keyed(
        held(b"[]uint", known(2) + b"\0\0\0\0" + ROOM + ROOM), made=(ARRAY,)
    ),
    "a slice without an array": keyed(held(b"[]int", b"z" + ROOM)),
    "elements behind an array": keyed(
        b"n", made=(ARRAY,), _2=many(b"", 3, whole(1), whole(1), whole(1))
    ),
    "a field of another name": objects(
        (), {0: (many(b"r" + text(b"main.P"), 1, text(b"y"), whole(1)),)}, b"n", own=True
    ),
    "a number beyond its type": objects(
        (), {0: (many(b"r" + text(b"main.P"), 1, text(b"x"), whole(1 << 40)),)}, b"n", own=True
    ),
    "nesting without end": keyed(
        (b"r" + text(b"interface {}") + b"\0\0\0\1" + text(b"")) * 100_000 + b"n"
    ),
    "more memory than there is": objects((text(b"[][4096]int64") + b"\0\xff\0\0",), {}, b"n"),
    "an exception with a tail": frame(b"E\0\0\0\1" + text(b"") + text(b"no") + b"\0" * 12 + b"x"),
}


@pytest.fixture(scope="module")
def besieged(shop: Workshop) -> list[str]:
    """A tests' program that passes with whatever well-formed answer it gets."""
    tests = main("defer func() { recover() }()\nf(&P{})\ncheck(true)")
    split = shop.taken_apart("type P struct { x int32 }\nfunc f(p *P) map[string]any {", tests)
    assert split is not None
    return shop.tests_program(split, tests)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_malformed_answer_ends_the_tests_and_is_told(besieged: list[str], name: str) -> None:
    outcome = answered(besieged, HOSTILE[name])
    assert not outcome.passed
    assert outcome.forged, outcome


def test_a_well_formed_answer_passes(besieged: list[str]) -> None:
    changed = many(b"r" + text(b"main.P"), 1, text(b"x"), whole(-1))
    assert answered(besieged, keyed(held(b"*main.P", known(0)), _0=changed)).passed
    part = known(2) + b"\0\0\0\1" + b"\0\0\0\1" * 2
    assert answered(besieged, keyed(held(b"[]int", part), made=(ARRAY,))).passed
    assert answered(besieged, objects((), {}, b"n")).passed
    assert not answered(besieged, frame(b"E\0\0\0\1" + text(b"unwritable") + text(b""))).passed
    assert answered(besieged, frame(b"E\0\0\0\1" + text(b"") + text(b"no") + b"\0" * 12)).passed


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
