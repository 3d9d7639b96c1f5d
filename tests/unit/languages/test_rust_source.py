"""Rust's text: which tests and mains are found in it."""

from __future__ import annotations

import pytest

from reward_server.languages.rust_source import with_tests, without_tests

CALLED = {
    "a main": "fn main() { }",
    "one behind a comment in a comment": "/* /* fn main() */ */ pub(crate) fn main() { }",
    "one behind a bracket that closes the prompt's": "}\nfn main() { }",
    "one behind brackets in texts": "const A: &str = r#\"{\"#; const B: char = '{'; fn main() { }",
}
NOT_CALLED = {
    "a main in a comment": "// fn main() {}",
    "in a text": 'const A: &str = "fn main() {}";',
    "in a module": "mod a { fn main() { } }",
    "that tests do not have": "#[cfg(not(test))]\npub fn main() { }",
    "a method": "fn a() { b.main() }",
}
TEST = "\n#[ test ] fn a() { }"


@pytest.mark.parametrize("name", CALLED)
def test_a_main_is_called_as_a_test(name: str) -> None:
    made = with_tests(CALLED[name], "S")
    assert "fn mS() { }" in made
    assert made.count("#[test]") == made.count("main(mS) }") == 1


@pytest.mark.parametrize("name", NOT_CALLED)
def test_what_is_no_main_is_not_called(name: str) -> None:
    with pytest.raises(ValueError, match="neither a main nor a function under"):
        with_tests(NOT_CALLED[name], "S")
    assert "zzzy" not in with_tests(NOT_CALLED[name] + TEST, "S")


def test_who_calls_a_main_calls_it_by_its_other_name() -> None:
    made = with_tests("fn main() { a.main(); }\n#[test] fn a() { super::main(); }", "S")
    assert "fn mS() { a.main(); }" in made
    assert "super::mS();" in made


def test_a_solutions_own_tests_are_left_out() -> None:
    text = (
        '#[ cfg(test) ]\nmod tests { #[test]\nfn a() { } }\n// #[test]\nconst A: &str = "#[test]";'
    )
    left = without_tests(text)
    assert left.count("#[cfg(any())]") == 2
    assert left.endswith('// #[test]\nconst A: &str = "#[test]";')
    assert (
        without_tests("fn a<'a>(b: &'a str) -> char { '\"' }")
        == "fn a<'a>(b: &'a str) -> char { '\"' }"
    )
