"""Rust test programs taken apart: what the tests' side refuses to read, and what stays whole."""

from __future__ import annotations

import pytest

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
from tests.split.rust_programs import main
from tests.support.tools import needs

pytestmark = [
    needs("rustc"),
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return workshop("rust", "rust", tmp_path_factory.mktemp("rust"))


KEYED = b"s" + text(b"k")
HOSTILE = {
    "no size": frame(b""),
    "an answer to another call": answer(many(b"m", 0), id=2),
    "no value": answer(),
    "more values than one": answer(many(b"m", 0), b"n"),
    "a count beyond the frame": answer(many(b"m", 0x7FFFFFFF)),
    "a count that is all ones": answer(many(b"m", 0xFFFFFFFF)),
    "a text beyond the frame": answer(many(b"m", 1, b"s\x7f\xff\xff\xffab", b"n")),
    "a text that is not UTF-8": answer(many(b"m", 1, b"s" + text(b"\xff"), b"n")),
    "another type": answer(whole(1)),
    "a number beyond its type": answer(
        many(b"m", 1, KEYED, many(b"l", 1, many(b"r" + text(b"Two"), 1, text(b"0"), whole(256))))
    ),
    "digits that are none": answer(
        many(
            b"m",
            1,
            KEYED,
            many(b"l", 1, many(b"r" + text(b"Two"), 1, text(b"0"), b"I" + text(b"x"))),
        )
    ),
    "a key twice": answer(many(b"m", 2, KEYED, many(b"l", 0), KEYED, many(b"l", 0))),
    "a record of another name": answer(
        many(b"m", 1, KEYED, many(b"l", 1, many(b"r" + text(b"Three"), 0)))
    ),
    "a record of other fields": answer(
        many(b"m", 1, KEYED, many(b"l", 1, many(b"r" + text(b"One"), 0)))
    ),
    "nesting without end": answer(
        many(b"m", 1, KEYED, (b"l\0\0\0\1r" + text(b"One") + b"\0\0\0\1" + text(b"0")) * 100_000),
    ),
    "an exception with a tail": frame(b"E\0\0\0\1" + text(b"") + text(b"no") + b"x"),
}


@pytest.fixture(scope="module")
def besieged(shop: Workshop) -> list[str]:
    """A tests' program that passes with whatever well-formed answer it gets."""
    tests = main("let _ = std::panic::catch_unwind(|| f(1));")
    prompt = (
        "use std::collections::HashMap;\nenum P {\n    Zero,\n    One(Vec<P>),\n    Two(u8),\n}\n"
        "fn f(a: u8) -> HashMap<String, Vec<P>> {"
    )
    split = shop.taken_apart(prompt, tests)
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
    zero = many(b"l", 1, many(b"r" + text(b"Zero"), 0))
    assert answered(besieged, answer(many(b"m", 1, KEYED, zero))).passed
    assert answered(besieged, frame(b"E\0\0\0\1" + text(b"no"))).passed


REFUSED = {
    "a variable": "static N: i32 = 1;\nfn f(a: i32) -> i32 {",
    "a method": "struct T;\nimpl T {\n    fn f(&self) -> i32 {",
    "a type that is not known": "fn f(a: std::time::Duration) -> i32 {",
    "a function": "fn f(a: fn(i32) -> i32) -> i32 {",
    "a trait": "fn f(a: &dyn Fn(i32)) -> i32 {",
    "a type behind a trait": "fn f(a: impl Ord) -> i32 {",
    "parameters of types": "fn f<T>(a: T) -> T {",
    "a type with parameters": "struct P<T> { x: T }\nfn f(a: P<i32>) -> i32 {",
    "a reference that comes back": "fn f(a: &mut String) -> &str {",
    "an argument that changes": "fn f(a: &mut Vec<i32>) {",
    "a pointer": "fn f(a: *const i32) -> i32 {",
    "a body that is begun": "fn f(a: i32) -> i32 {\n let b = 1;",
    "nothing open": "fn f(a: i32) -> i32 { 1 }",
    "a name of Rust's own": "fn drop(a: i32) -> i32 {",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_taken_apart_is_refused(name: str) -> None:
    assert refusal_of("rust", REFUSED[name], main("f(1);"))
