"""Assertions become observations, and nothing else of a test program changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reward_server.domain import TestOutcome
from reward_server.grading.compiled_tests.assertions import (
    READ_CHARACTERS,
    find_assertions,
    opened_for,
)
from reward_server.grading.compiled_tests.observations import ProgramReport, read_words
from reward_server.grading.compiled_tests.parsed_assertions import ParsedAssertion
from reward_server.grading.compiled_tests.rewriting import Rewritten, rewrite
from reward_server.languages import load_languages
from reward_server.languages.assertions import Assertions, parse_assertions
from tests.support.sampling import times

TAG, ENDING = "0123456789abcdef", "0123456789abcdef" + "f" * 16

# A language whose programs this process can run: Python with C's way to assert.
LIVE = parse_assertions(
    {
        "comments": ["#[^\n]*"],
        "strings": [r'"(?:\\.|[^"\\\n])*"'],
        "chars": [r"'[^'\\\n]'"],
        "opposites": [["True", "False"]],
        "tuples": True,
        "constants": ["None"],
        "comparers": "same",
        "orders": "order",
        "absolutes": ["abs"],
        "methods": ["equals"],
        "containers": r"tuple(?=\()",
        "negation": "not ({predicate})",
        "capture": "({name} := ({actual}))",
        "observation": '{secret}say("{held}" if ({predicate}) else "{missed}")',
        "separator": ", ",
        "statement": "[{capture}, {observations}];",
        "expression": "[{capture}, {observations}] == []",
        "named_in_expressions": True,
        "forms": [
            {"head": r"assert\s*\(", "kind": "condition"},
            {"head": r"check_equal\s*\(", "kind": "equal", "predicate": "{actual} == {expected}"},
            {
                "head": r"expect_equal\s*\(",
                "kind": "equal",
                "expected": 0,
                "predicate": "same({actual}, {expected})",
            },
            {"head": r"if\s*\(", "kind": "failure", "after": r":\s*raise\b"},
            {
                "head": r"(\w+) = \[",
                "kind": "list",
                "after": r"\n\s*if not all\(\1\): raise ValueError",
            },
        ],
    }
)
quickly = settings(deadline=None, max_examples=times(50, by_default=15))
SEEDS = st.integers(min_value=0, max_value=1 << 32)


class AlwaysEqual:
    """Is equal to everything, and true, and not false."""

    def __eq__(self, other: object) -> bool:
        return True

    def __sub__(self, other: object) -> int:
        return 0

    __hash__ = None  # type: ignore[assignment]  # as it has no value


def assertions_of(name: str) -> Assertions:
    program = load_languages().find(name).program
    assert program is not None
    assert program.assertions is not None
    return program.assertions


def rewritten(tests: str, seed: int = 0, language: Assertions = LIVE) -> Rewritten:
    found = find_assertions(tests, language)
    return rewrite(tests, found, language, secret="z", tag=TAG, random=Random(seed))


def parsed_assertions(tests: str, language: Assertions = LIVE) -> list[ParsedAssertion]:
    return [parsed for one in find_assertions(tests, language) for parsed in one.parsed]


def run(tests: str, solution: dict[str, Any], seed: int = 0, *, ends: bool = True) -> ProgramReport:
    """Runs a test program against a solution, and reads what it told."""
    program, lines = rewritten(tests, seed), list[str]()
    names = {"zsay": lines.append, "same": lambda a, b: a == b, "order": _order, **solution}
    with suppress(ValueError):
        exec(program.text, names)
    if ends:
        lines.append(ENDING)
    output = "\n".join(lines).encode()
    return read_words(output, program.sites, tag=TAG, ending=ENDING)


def _order(a: Any, b: Any) -> int:
    return int(a != b)


def outcomes(told: ProgramReport) -> list[TestOutcome]:
    return [test.outcome for test in told.tests]


def passed(told: ProgramReport) -> bool:
    return told.ended and {*outcomes(told)} == {TestOutcome.PASSED} and not told.signals


# Each in one line, with what `f` returns for it, so that both can be drawn together.
HONEST: Sequence[tuple[str, Any]] = (
    ("assert(f(1) == 3)", 3),
    ("assert(3 == f(1))", 3),
    ("assert((f(1)) == (-3), 'no')", -3),
    ('assert(f(1) == "abc")', "abc"),
    ('assert(f(1) == "a\\"b")', 'a"b'),
    ("assert(f(1) == 'c')", "c"),
    ("assert(f(1) == True)", True),
    ("assert(f(1))", True),
    ("assert(not f(1))", False),
    ("assert(f(1) != 4)", 3),
    ("assert(f(1) == 3 or f(1) == 4)", 4),
    ("assert(f(1) == [1, [2, 3], []])", [1, [2, 3], []]),
    ("assert(f(1) == [])", []),
    ("assert(f(1) == None)", None),
    ('assert(f(1) == {"a": 1, "b": 2})', {"a": 1, "b": 2}),
    ("assert(f(1) == tuple([1, 2]))", (1, 2)),
    ("assert(f(1) == [(1, 2)])", [(1, 2)]),
    ("assert(same(f(1), [1.5, 2]))", [1.5, 2]),
    ("assert(same(f(1), [7]) == True)", [7]),
    ("assert(order(f(1), 7) == 0)", 7),
    ("assert(abs(f(1) - 2.5) < 0.01)", 2.501),
    ("check_equal(f(1), 3)", 3),
    ('expect_equal(["x"], f(1))', ["x"]),
    ("check_equal(f(1), f(2))", 5),
    ("if (f(1) != 3): raise ValueError", 3),
    ("if (not same(f(1), [2])): raise ValueError", [2]),
    ("right = [f(1) == 3, f(2) == 3]\nif not all(right): raise ValueError", 3),
    ("for i in range(3): assert(f(i) == 12)", 12),
)
WITH_TWINS = [line for line, _ in HONEST if "f(1) ==" in line and " or " not in line]


@quickly
@given(st.sampled_from(HONEST), SEEDS)
def test_a_right_solution_passes_whatever_is_drawn(pair: tuple[str, Any], seed: int) -> None:
    tests, value = pair
    assert passed(run(tests, {"f": lambda _: value}, seed))


@quickly
@given(st.sampled_from(HONEST), SEEDS)
def test_a_wrong_solution_fails_whatever_is_drawn(pair: tuple[str, Any], seed: int) -> None:
    tests, value = pair
    if "f(2))" in tests:  # compares the solution with itself
        return
    other = {True: False, False: True}.get(value, "wrong") if isinstance(value, bool) else 4.25
    wrong = 4 if "!= 4" in tests else other
    told = run(tests, {"f": lambda _: wrong}, seed)
    assert TestOutcome.FAILED in outcomes(told)
    assert not told.signals


@quickly
@given(st.sampled_from(WITH_TWINS), SEEDS)
def test_an_object_that_is_equal_to_everything_betrays_itself(tests: str, seed: int) -> None:
    if "None" in tests or "[])" in tests:  # nothing to exchange
        return
    told = run(tests, {"f": lambda _: AlwaysEqual()}, seed)
    assert told.signals.keys() == {"twin_passed"}
    assert not passed(told)


@quickly
@given(st.lists(st.sampled_from(HONEST), min_size=2, max_size=8), SEEDS)
def test_who_writes_every_word_forges(pairs: list[tuple[str, Any]], seed: int) -> None:
    program = rewritten("\n".join(line for line, _ in pairs), seed)
    words = re.findall(TAG + "[0-9a-f]{16}", program.text)
    told = read_words("\n".join([*words, ENDING]).encode(), program.sites, tag=TAG, ending=ENDING)
    assert TestOutcome.PASSED not in outcomes(told)
    if any(len(site.observations) > 1 for site in program.sites):
        assert told.signals["forged_word"]


@quickly
@given(SEEDS)
def test_words_out_of_their_order_are_forged(seed: int) -> None:
    program = rewritten("assert(f(1) == 3)\nassert(f(2) == 4)", seed)
    right = [
        one.held if one.holds else one.missed for site in program.sites for one in site.observations
    ]
    in_order = read_words(
        "\n".join([*right, ENDING]).encode(), program.sites, tag=TAG, ending=ENDING
    )
    turned = read_words(
        "\n".join([*reversed(right), ENDING]).encode(), program.sites, tag=TAG, ending=ENDING
    )
    assert passed(in_order)
    assert turned.signals["forged_word"]
    assert {*outcomes(turned)} == {TestOutcome.FAILED}


def test_a_word_behind_the_ending_or_of_nobody_is_forged() -> None:
    program = rewritten("assert(f(1) == 3)")
    right = [
        one.held if one.holds else one.missed for site in program.sites for one in site.observations
    ]
    for words in ([*right, ENDING, right[0]], [*right, TAG + "0" * 16, ENDING]):
        told = read_words("\n".join(words).encode(), program.sites, tag=TAG, ending=ENDING)
        assert told.signals["forged_word"] >= 1
        assert outcomes(told) == [TestOutcome.FAILED]


def test_an_assertion_that_was_not_come_to_did_not_pass() -> None:
    tests = "assert(f(1) == 3)\nassert(f(2) == 3)"
    program = rewritten(tests)
    right = [one.held if one.holds else one.missed for one in program.sites[0].observations]
    left = read_words("\n".join(right).encode(), program.sites, tag=TAG, ending=ENDING)
    assert outcomes(left) == [TestOutcome.PASSED, TestOutcome.NOT_RUN]
    assert not left.ended
    skipped = read_words(
        "\n".join([*right, ENDING]).encode(), program.sites, tag=TAG, ending=ENDING
    )
    assert outcomes(skipped) == [TestOutcome.PASSED, TestOutcome.FAILED]


def test_an_assertion_in_a_branch_may_be_left_out() -> None:
    for tests in (
        "x = f(1)\nif x:\n    assert(f(2) == 3)\nassert(x == 3)",
        "if f(1) == 4: assert(f(2) == 3)\nassert(f(1) == 3)",
    ):
        told = run(tests, {"f": lambda x: 3 if x == 1 else 0}, ends=True)
        branch = told.tests[0].outcome
        assert branch in (TestOutcome.FAILED, TestOutcome.SKIPPED)
        assert [site.optional for site in rewritten(tests).sites] == [True, False]
    cpp = assertions_of("c++")
    braces = "int main() { if (x()) { g(); } else {\n assert(f(2) == 3); }\n assert(f(1) == 3); }"
    assert [site.optional for site in rewritten(braces, 0, cpp).sites] == [True, False]


UNREACHED = {
    "javascript": (
        "function close(a, b) {\n if (a !== b) throw new Error('no') }",
        "const close = (a, b) => { assert(a === b) }",
        "const close = async function (a) { assert(await a) }",
        "for (const [a, b] of []) assert(f(a) === b)",
        "for (const [a, b] of rows) assert(f(a) === b)",
        "[].forEach((x) => assert(f(x) > 0))",
        "rows[1].forEach((x) => assert(f(x) > 0))",
        "[1, 2].forEach((x) => { if (x > 1) assert(f(x) > 0) })",
        "[1, 2].forEach((x) => { if (!f(x)) { return }\n assert(f(x) > 0) })",
        "while (n-- > 1) { assert(f(n) === 1) }",
        "f(0).forEach((x) => assert(x > 0))",
        "quick || assert(f(9) === 1)",
        "function check(b) { assert(b) }\ntry { f(-1); check(false, `no ${x}`) } catch {}",
        "function check(name, b) { assert(b) }\ntry { f(-1); check('a', false) } catch {}",
        "const a = (x) => { assert(x) }\nconst b = (x) => { a(f(x)) }\nfunction c() { b(1); c() }",
    ),
    "rust": (
        "use f;\n#[allow(dead_code)]\nfn close(a: f64) -> () { assert!(a.abs() < 1e-6); }",
        "fn main() { let check = |a: i32| { assert!(a == 1); }; }",
        "fn main() { for a in cases { assert!(f(a) == 1); } }",
    ),
    "c++": ("int main() { auto check = [](int a) { assert(a == 1); }; (void)check; }",),
    "java": (
        "class A { static void check(boolean b) { if (!b) throw new AssertionError(); } }",
        "class A { void same(int a) { if (a != 1) throw new AssertionError(); }"
        " void same(Object a) { } void run() { same(1); } }",
    ),
}
REACHED = {
    "javascript": (
        "const run = () => { assert(f(1) === 2) }\nrun()",
        "(() => { assert(f(1) === 2) })()",
        "[1, 2].forEach((x) => assert(f(x) > 0))",
        "test('t', () => { [[1, 2], [3, 4]].forEach(([a, b]) => assert(f(a) === b)) })",
        "for (const [a, b] of [[1, 2]]) { assert(f(a) === b) }",
        "function main() { assert(f(1) === 2) }",
        "try { assert(f(1) === 2) } catch (e) { console.log(e) }",
        "function check(b) { assert(b) }\ntry { check(f(1)); check(false) } catch {}",
        "function check(a, b) { assert(a === b) }\ncheck(f(1), false)",
        "const run = () => { assert(f(1) === 2) }\nmain(() => { run() })",
    ),
    "rust": (
        "#[test]\nfn one() { assert!(f(1) == 2); }",
        "#[tokio::test]\nasync fn one() { assert!(f(1) == 2); }",
        "fn main() { assert!(f(1) == 2); }",
        "fn main() { for a in [1, 2] { assert!(f(a) == 2); } }",
    ),
    "c++": ("TEST(One, Two) { assert(f(1) == 2); }", "int main() { assert(f(1) == 2); }"),
    "java": (
        "class A { @Test public void adds() { if (f(1) != 2) throw new AssertionError(); } }",
        "class A { public void testOne() { if (f(1) != 2) throw new AssertionError(); } }",
    ),
}


CAUGHT = {
    "javascript": (
        "try { assert(f(1) === 2) } catch (e) { while (n++ > 5) throw e }",
        "const is = () => { try { assert(f(1) === 2) } catch (e) { return e } }\nif (is()) exit(1)",
        "try { assert(f(1) === 2) } catch { bad = true }\nmust(() => bad && exit(1))",
        "assert.rejects(async () => { assert(await f(1) === 2) })",
        "function check(b) { if (!b) throw 1 }\ntry { check(f(1)) } catch { retried = check }",
        "later((x) => { if (x > 2) throw new Error('large') })",
        "const bad = (x) => { if (x > 2) throw new Error('large') }\nf([1], bad)",
        "f(function () { n += 1; if (n < 3) { throw new Error('again') } })",
    ),
}
WATCHED = {
    "javascript": (
        "try { assert(f(1) === 2) } catch (e) { console.log('no', e.message); failed++ }",
        "try { assert(f(1) === 2) } catch (e) { console.error(e); process.exit(1) }",
        "try { assert(f(1) === 2) } catch (e) { ok = false; console.log(ok) }",
        "try { assert(f(1) === 2) } catch (e) { ok = false }\nif (ok) { console.log('passed') }",
        "const one = () => { try { assert(f(1) === 2) } catch (e) { return false } }\nshow(one())",
        "try { assert(f(1) === 2) } finally { done = true }",
        "function check(b) { if (!b) throw 1 }\n"
        "try { f(-1); check(false) } catch { return }\ncheck(f(1))",
        "test('a', () => { const got = f(1); if (got !== 2) throw new Error('no') })",
        "test('a', (t) => { if (f(t) !== 2) throw new Error('no') })",
        "const check = (b) => { if (!b) throw 1 }\ncheck(f(1))",
        "(() => { let n = 0; f(() => { n++ }); if (n !== 3) throw new Error('no') })()",
    ),
}


@pytest.mark.parametrize("caught", [True, False])
def test_an_assertion_that_the_tests_catch_stays_as_it_is(caught: bool) -> None:
    for language, texts in (CAUGHT if caught else WATCHED).items():
        for text in texts:
            found = find_assertions(text, assertions_of(language))
            assert len(found) == (0 if caught else 1), text


@pytest.mark.parametrize("optional", [True, False])
def test_an_assertion_that_right_tests_may_not_come_to_may_be_left_out(optional: bool) -> None:
    for language, texts in (UNREACHED if optional else REACHED).items():
        for text in texts:
            found = find_assertions(text, assertions_of(language))
            assert [one.optional for one in found] == [optional], text


def test_what_is_named_is_evaluated_once() -> None:
    calls = []
    run("assert(f(1) == 3)", {"f": lambda x: calls.append(x) or 3})
    assert calls == [1]


def test_twins_make_a_guess_as_hard_as_it_can_be() -> None:
    few = rewritten("\n".join(f"assert(f({i}) == {i})" for i in range(10, 13)))
    many = rewritten("\n".join(f"assert(f({i}) == {i})" for i in range(100, 140)))
    assert [len(site.observations) for site in few.sites] == [8] * 3
    assert {len(site.observations) for site in many.sites} == {2}


def test_where_the_true_comparison_stands_is_not_told() -> None:
    places = {
        [one.holds for one in rewritten("assert(f(1) == 3)", seed).sites[0].observations].index(
            True
        )
        for seed in range(100)
    }
    assert places >= {*range(7)}


def test_values_of_other_assertions_are_not_borrowed_since_each_is_right_somewhere() -> None:
    """With one twin each, borrowed, two ways or four to deal them out were left of a million."""
    values = [8 * i for i in range(25)]
    tests = "\n".join(f"assert(f({value}) == {value})" for value in values)
    for seed in range(20):
        found = [int(one) for one in re.findall(r"zv == (\d+)", rewritten(tests, seed).text)]
        assert len(found) == 2 * len(values)
        assert all(found.count(value) == 1 for value in values)


def test_assertions_that_expect_the_same_do_not_meet_in_it_alone() -> None:
    tests = "\n".join(f"assert(f({i}) == {42 if i % 2 else 8 * i})" for i in range(60))
    for seed in range(20):
        shown = {
            frozenset(re.findall(r"zv == (\d+)", line))
            for line in rewritten(tests, seed).text.split("\n")
            if "zv == 42)" in line
        }
        [found] = shown
        assert len(found) == 2


@pytest.mark.parametrize(
    ("value", "same"),
    [
        ("[1, 2]", ["[2, 1]", "[1, 2, 2]", "[1.04, 2]"]),
        ('"Yes"', ['"yes"', '"Y es"']),
        ("[2, 2]", ["[2]"]),
        ("1.0", ["1.01", "1.00"]),
    ],
)
def test_a_twin_is_another_value_however_it_is_compared(value: str, same: list[str]) -> None:
    tests = "\n".join(f"assert(f(1) == {one})" for one in (value, *same))
    for seed in range(20):
        line = rewritten(tests, seed).text.split("\n")[0]
        twins = re.findall(r'zv == (.*?)\) else "', line)
        assert value in twins
        assert not {*same} & {*twins}


@pytest.mark.parametrize(
    "tests",
    [
        "assert(False)",
        "assert()",
        "assert(f(1) == 3",
        "# assert(f(1) == 3)",
        's = "assert(f(1) == 3)"',
        "x.assert(f(1) == 3)",
        "assert(f(1) == 3) # \0",
        "assert((f(1) == 3])",
        "x = 1 #" + "x" * READ_CHARACTERS,
    ],
)
def test_text_that_is_not_understood_is_left_alone(tests: str) -> None:
    program = rewritten(tests)
    assert program.text == tests
    assert not program.sites


PIECES = st.lists(
    st.one_of(
        st.sampled_from([line for line, _ in HONEST]),
        st.sampled_from(
            [
                "x = [1, (2, 3)]",
                "# assert(f(1) == 3)",
                'y = "assert(f(1) == 3)"  # "',
                "def g(a):\n    return {a: (a, [a])}",
                "assert(False)",
                "",
                "z = 'c'",
            ]
        ),
        st.text(alphabet="abc()[]{}\"'#\n =;,.!&", max_size=12),
    ),
    max_size=8,
)


@quickly
@given(PIECES, SEEDS)
def test_nothing_changes_but_the_assertions(pieces: list[str], seed: int) -> None:
    tests = "\n".join(pieces)
    program = rewritten(tests, seed)
    found = find_assertions(tests, LIVE)
    ends = [0, *(one.end for one in found)]
    starts = [*(one.start for one in found), len(tests)]
    kept = [tests[end:start] for end, start in zip(ends, starts, strict=True)]
    assert re.fullmatch(r"(?s:\[.*\].*)".join(map(re.escape, kept)), program.text)
    if not found:
        assert program.text == tests


@quickly
@given(PIECES, SEEDS)
def test_lines_keep_their_numbers(pieces: list[str], seed: int) -> None:
    tests = "\n".join(pieces)
    assert rewritten(tests, seed).text.count("\n") == tests.count("\n")


# ------------------------------------------------------------------------------ languages


@pytest.mark.parametrize(
    ("tests", "actual", "expected"),
    [
        ("assert (issame(f({1}) , {1, 2}));", "f({1})", "{1, 2}"),
        ("assert ((f(1) == 3));", "f(1)", "3"),
        ('assert(f(1) == "a" && "why");', "f(1)", '"a"'),
        ("assert(abs(f(1) - 2.5) < 1e-4);", "f(1)", "2.5"),
        ("assert(f(1) == (std::vector<long>({(long)1, (long)2})));", "f(1)", None),
        ('assert(strcmp(f(1), "a") == 0);', "f(1)", '"a"'),
        ("assert(f('{') == '}');", "f('{')", "'}'"),
        ('assert(f(1) == R"x(a)" b)x");', "f(1)", 'R"x(a)" b)x"'),
    ],
)
def test_assertions_of_cpp_are_understood(tests: str, actual: str, expected: str | None) -> None:
    (parsed,) = parsed_assertions(tests, assertions_of("c++"))
    assert parsed.actual == actual
    assert parsed.expected is not None
    assert expected is None or parsed.expected.text == expected


@pytest.mark.parametrize(
    "tests",
    [
        "assert(below({1, 2}, 21));",
        "assert(f(1) == g(2));",
        "assert(f(1) < 3);",
        "assert(f(1) == (1, 2));",
    ],
)
def test_conditions_of_cpp_without_an_expected_value_are_inverted(tests: str) -> None:
    (parsed,) = parsed_assertions(tests, assertions_of("c++"))
    assert parsed.expected is None
    texts = {rewritten(tests, seed, assertions_of("c++")).text.count("!(") for seed in range(20)}
    assert texts == {0, 1}


def test_a_solution_is_opened_for_tests_that_close_it() -> None:
    cpp = assertions_of("c++")
    whole = "int f() { return 1; }\nint g() { if (1) { return 2; } return 3; }\n"
    tests = "}\nint main() { assert(f() == 1); }"
    assert opened_for(tests, whole, cpp).split() == whole.rstrip("}\n ").split()
    assert opened_for(tests, whole.rstrip("}\n"), cpp) == whole.rstrip("}\n")
    assert opened_for(tests.lstrip("}"), whole, cpp) == whole
    assert find_assertions(tests, cpp)
