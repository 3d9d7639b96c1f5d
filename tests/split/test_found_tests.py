# ruff: noqa: E501  # programs in another language
"""Go and Rust tests are found and run as their own runners find and run them.

Each language has one program of tests, of which each wrong solution fails one test alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import (
    MEBIBYTE,
    Assessment,
    Extraction,
    Framework,
    Integrity,
    Limits,
    ProgramTests,
    Submission,
    UnitTests,
    Verdict,
)
from reward_server.languages import load_languages
from reward_server.settings import Settings
from tests.support.common import SMALL_LIMITS, on_the_servers_loop
from tests.support.tools import offered, require

pytestmark = on_the_servers_loop
LIMITS = replace(
    SMALL_LIMITS,
    processes=64,
    cpu_time_seconds=10.0,
    wall_time_seconds=60.0,
    memory_bytes=512 * MEBIBYTE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program of tests.

    Args:
        compiler: that has to be installed.
        head: what may stand in front of the prompt.
        prompt: that the solution continues.
        right: a body that passes.
        tests: the program.
        in_one: what is put behind the tests so that they run in one program with the solution.
        own: what a solution may have behind its function.
        wrong: bodies of which each fails one test alone, by what that test is.
        empty: tests of which none is run.
    """

    compiler: str
    prompt: str
    head: str = ""
    right: str
    tests: str
    in_one: str
    own: str
    wrong: Mapping[str, str]
    empty: str


MADE = """
    macro_rules! check { ($($n:ident $a:expr, $w:expr;)*) => { $(#[test] fn $n() { assert_ne!(CRATE::f($a), $w); })* } }
    check! { three "3", 0; four "4", 0; }
"""
RUST_CHECKS = r"""
use super::f;

#[test]
fn plain() { let s = "}"; assert_eq!(f("1"), 1, "{s}"); }

#[test]
#[should_panic(expected = "digits[0]")]
fn brackets_in_an_attribute() { f("x"); }

#[test]
// refuses what is empty
#[should_panic] /* here, too: /* } */ [ */
pub fn comments_behind_an_attribute() { f(""); }

#[should_panic]
#[test]
fn overflow() { f("99999999999"); }

#[test]
#[should_panic]
fn assertion_that_is_not_come_to() { assert_eq!(f("99999999999"), 0); }

#[test]
#[ignore]
fn ignored() { assert_eq!(f("0"), 77); }

#[test]
fn result() -> Result<(), String> { if f("2") == 2 { Ok(()) } else { Err("no".into()) } }

fn holds(s: &str, n: u32) { assert_eq!(f(s), n); }

#[test]
fn helper_that_fails_and_does_not() {
    holds("8", 8);
    assert!(std::panic::catch_unwind(|| holds("8", 9)).is_err());
}

#[test]
#[should_panic(expected = "left == right")]
fn helper_that_should_fail() { holds("8", 9); }

mod inner {
MADE
    mod innermost { #[test] fn deep() { assert_eq!(CRATE::f("5"), 5); } }
}
"""
RUST_CHECKS = RUST_CHECKS.replace("MADE", MADE)
RUST_BODY = """
    if s.is_empty() { panic!("empty") }
    s.chars().fold(0, |n, c| n * 10 + c.to_digit(10).expect("digits[0]"))
}
"""


def instead(given: str, answer: str) -> str:
    return f"    if s == {given} {{ {answer} }}\n{RUST_BODY}"


RUST = Program(
    compiler="rustc",
    head="#![deny(warnings)]\n#![forbid(unused)]\n",
    prompt="fn f(s: &str) -> u32 {\n",
    right=RUST_BODY,
    tests=f"#[cfg(test)]\nmod tests {{{RUST_CHECKS.replace('CRATE', 'crate')}}}\n"
    '// fn main() {}\npub(crate) fn main() { assert_eq!(f("6"), 6); if f("7") != 7 { std::process::exit(1) } std::process::exit(0); }\n',
    in_one='#[test]\nfn beside() { assert!(std::thread::spawn(|| assert_eq!(f("8"), 9)).join().is_err()); }\n',
    own="fn main() {}\n#[cfg(test)]\nmod tests { #[test] fn mine() { panic!() } }\n#[test]\nfn own() { panic!() }\n",
    wrong={
        "plain": instead('"1"', "return 2"),
        "brackets in an attribute": instead('"x"', "return 0"),
        "another message": instead('"x"', 'panic!("digit 0")'),
        "comments behind an attribute": instead('""', "return 0"),
        "overflow": RUST_BODY.replace("n * 10 + ", "n.wrapping_mul(10).wrapping_add(").replace(
            "))\n", ")))\n"
        ),
        "helper": instead('"8"', "return 9"),
        "result": instead('"2"', "return 0"),
        "macro": instead('"4"', "return 0"),
        "module in a module": instead('"5"', "return 0"),
        "main beside tests": instead('"6"', "return 0"),
        "exit of a main": instead('"7"', "return 0"),
        "a literal that is refused": instead('"9"', "let n: u8 = 300; return n as u32"),
    },
    empty='#[cfg(test)]\nmod tests {\n#[test]\n#[ignore]\nfn one() { assert_eq!(super::f("1"), 1); }\n}\n',
)
GO = Program(
    compiler="go",
    prompt="package main\n\nfunc F(n int) int {\n",
    right="\treturn n * n\n}\n",
    tests="""import (
    "os"
    "testing"
)

var ready = false

func TestOne(t *testing.T) {
    // func TestTwo(t *testing.T) {}
    if !ready || F(3) != TestedValue(9) {
        t.Fatal("one")
    }
}

func TestedValue(a int) int { return a }

func Test(t *testing.T) {
    t.Run("within", func(t *testing.T) {
        if F(2) != 4 { t.Error("two") }
    })
}

func Test_Last(
    _ *testing.T,
) {
    if F(-2) != 4 { panic("last") }
}

func TestMain(m *testing.M) {
    ready = true
    code := m.Run()
    if F(5) != 25 { code = 1 }
    os.Exit(code)
}

func ExampleF() { F(7) }

func main() {
    if F(6) != 36 { panic("six") }
}
""",
    in_one='func TestBeside(t *testing.T) {\n    t.Parallel()\n    if F(4) != 16 { t.Fatal("four") }\n}\n',
    own="func own() {}\n",
    wrong={
        f"at {n}": f"\tif n == {n} {{\n\t\treturn 0\n\t}}\n\treturn n * n\n}}\n"
        for n in (3, 2, -2, 5, 6)
    },
    empty='func TestOne(t *testing.T) {\n    t.Skip("later")\n    if F(2) != 4 { t.Fatal() }\n}\n',
)
PROGRAMS = {"rust": RUST, "go": GO}
# The macros that the tests in Rust declare are not on the list of what may run apart.
LABELS = {"rust": Integrity.SHARED, "go": Integrity.ISOLATED}
WRONG = [(name, wrong) for name, one in PROGRAMS.items() for wrong in one.wrong]
OVERFLOWING = {
    "a sum in the tests' own type": (
        "fn fib(n: u32) -> i32 { (0..n).fold((0i32, 1i32), |(a, b), _| (b, a.wrapping_add(b))).0 }\n",
        "fn main() { assert_eq!(fib(10), 55); assert_eq!(fib(60), 1548008755920); }\n",
    ),
    "a sum that wraps": (
        "fn sum(n: &[u8]) -> u8 { let mut all = 0; for one in n { all += one; } all }\n",
        "fn main() { assert_eq!(sum(&[1, 2]), 3); assert_eq!(sum(&[200, 100]), 44); }\n",
    ),
}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app() -> AsyncIterator[App]:
    async with running_app(Settings(port=0, workers=2, languages=offered("go", "rust"))) as running:
        yield running


async def judged(app: App, language: str, completion: str, tests: str, prompt: str) -> Assessment:
    require(PROGRAMS[language].compiler)
    return await app.evaluation.score(
        Submission(
            language=language,
            prompt=prompt,
            completion=completion,
            extraction=Extraction.NONE,
            tests=ProgramTests(test_code=tests),
            limits=LIMITS,
        )
    )


@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_right_solution_passes_apart_and_in_one_program(app: App, name: str) -> None:
    one = PROGRAMS[name]
    for more, integrity in (("", LABELS[name]), (one.in_one, Integrity.SHARED)):
        for own in ("", one.own):
            said = await judged(app, name, one.right + own, one.tests + more, one.head + one.prompt)
            assert (said.verdict, said.integrity) == (Verdict.PASSED, integrity), said


@pytest.mark.promise("Every test that `cargo test` or `go test` would run counts.", "Languages")
@pytest.mark.parametrize(("name", "wrong"), WRONG)
async def test_a_solution_that_fails_one_test_gets_nothing(app: App, name: str, wrong: str) -> None:
    one = PROGRAMS[name]
    said = await judged(app, name, one.wrong[wrong], one.tests, one.prompt)
    assert (said.reward, said.integrity) == (0.0, LABELS[name]), said


@pytest.mark.parametrize("name", PROGRAMS)
async def test_the_same_in_one_program(app: App, name: str) -> None:
    one = PROGRAMS[name]
    for wrong in ("at 3", "macro", "overflow"):
        if wrong in one.wrong:
            said = await judged(app, name, one.wrong[wrong], one.tests + one.in_one, one.prompt)
            assert (said.reward, said.integrity) == (0.0, Integrity.SHARED), wrong


@pytest.mark.parametrize("name", ["rust", "go"])
async def test_no_test_is_no_pass(app: App, name: str) -> None:
    one = PROGRAMS[name]
    said = await judged(app, name, one.right, one.empty, one.prompt)
    assert said.verdict is Verdict.INVALID_TASK, said


@pytest.mark.parametrize("name", OVERFLOWING)
async def test_numbers_that_overflow_earn_nothing(app: App, name: str) -> None:
    said = await judged(app, "rust", *OVERFLOWING[name], "")
    assert said.reward == 0.0, said


async def test_files_of_rust_tests_are_found_and_checked_alike(app: App) -> None:
    checks = RUST_CHECKS.replace("CRATE", "solution").replace("use super::f", "use solution::f")
    passing = f"pub {RUST.prompt}{RUST.right}"
    literal = f"{checks}#[test]\nfn literal() {{ assert_eq!(solution::g(2), 300); }}\n"
    made = f"use solution::f;{MADE.replace('CRATE', 'solution')}"
    for solution, tests, expected in (
        (passing, checks, Verdict.PASSED),
        (passing, made, Verdict.PASSED),
        (f"pub {RUST.prompt}{RUST.wrong['macro']}", made, Verdict.FAILED),
        (f"pub {RUST.prompt}{RUST.wrong['another message']}", checks, Verdict.FAILED),
        (f"{passing}pub fn g(n: u8) -> u8 {{ 42 + n }}\n", literal, Verdict.COMPILE_ERROR),
    ):
        said = await judged_by_files(app, solution, tests)
        assert said.verdict is expected, said


async def judged_by_files(app: App, solution: str, tests: str) -> Assessment:
    require("rustc")
    language = load_languages().find("rust")
    suite = UnitTests(
        framework=Framework.CARGO_TEST,
        files=(("tests/a.rs", tests),),
        solution_path="src/lib.rs",
    )
    return await app.evaluation.score(
        Submission(
            language="rust",
            completion=solution,
            extraction=Extraction.NONE,
            tests=suite,
            limits=language.default_limits(Limits()),
        )
    )
