# ruff: noqa: E501  # programs in other languages
"""Tests in other languages that no answer can fail are told by their text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reward_server.domain import Framework, Limits, UnitTests
from reward_server.evaluation.graders.compilation import Programs
from reward_server.evaluation.graders.compiled_test_files import suite_grader
from reward_server.grading.compiled_tests.vacuous import flaw_of_program
from reward_server.languages import load_languages
from tests.support.sampling import sampled

LANGUAGES = load_languages()
NODE = "const test = require('node:test'); const assert = require('node:assert'); const { add } = require('./solution');\n"
JAVA = "import org.junit.jupiter.api.*;\nimport static org.junit.jupiter.api.Assertions.*;\nclass SolutionTest {\n"
GO = 'package main\nimport (\n\t"testing"\n\t"fmt"\n)\n'
RUST = "use solution::add;\n"
IDLE_NODE = (
    "",
    "test('a', () => { add(1, 2) === 3 })",
    "test('a', () => { add(1, 2); })",
    "test.skip('a', () => { assert.equal(add(1,2), 3) })",
    "test('a', { skip: true }, () => { assert.equal(add(1,2), 3) })",
    "test.todo('a')",
    "test('a', () => { assert(true) })",
    "test('a', () => { assert.equal(1, 1); add(1,2) })",
    "test('a', () => { try { assert.equal(add(1,2), 3) } catch (e) {} })",
    "test('a', () => { try { assert.equal(add(1,2), 3) } catch (e) { console.log(e) } })",
    "function helper() { assert.equal(add(1,2), 3) }\ntest('a', () => { add(1,2) })",
    "test('a', () => { if (false) { assert.equal(add(1,2), 3) } })",
    "test('a', () => { new Error('wrong') })",
    "test('a', () => { console.log(add(1,2) === 3) })",
    "test('a', () => { const expected = 3; add(1,2) === expected; })",
    "describe.skip('x', () => { test('a', () => { assert.equal(add(1,2), 3) }) })",
    "test('a', async () => { const r = await add(1,2); r === 3 })",
    "function check(f) { return f(1,2) === 3 }\ntest('a', () => { check(add) })",
)
OPEN_NODE = (
    "test('a', () => { assert.equal(add(1, 2), 3) })",
    "test('a', () => { if (add(1,2) !== 3) throw new Error('x') })",
    "test('a', (t, done) => { done(add(1,2) === 3 ? undefined : new Error('x')) })",
    "test('a', () => { if (add(1,2) !== 3) process.exit(1) })",
    "const { strictEqual } = require('node:assert');\ntest('a', () => { strictEqual(add(1,2), 3) })",
    "const same = require('./helpers');\ntest('a', () => { same(add(1,2), 3) })",
    "test('a', () => { let ok = true; try { assert.equal(add(1,2), 3) } catch (e) { ok = false } assert(ok) })",
    "import eq from 'node:assert';\ntest('a', () => { eq.equal(add(1,2),3) })",
    "test('a', async () => { await assert.rejects(add(1)) })",
    "test('a', () => { process.exitCode = add(1,2) === 3 ? 0 : 1 })",
)
IDLE_JAVA = (
    "",
    "@Test void a() { Solution.add(1, 2); }",
    "@Test void a() { boolean ok = Solution.add(1, 2) == 3; }",
    "@Test @Disabled void a() { assertEquals(3, Solution.add(1, 2)); }",
    '@Disabled("x") @Test void a() { assertEquals(3, Solution.add(1, 2)); }',
    "@Test void a() { assertTrue(true); Solution.add(1,2); }",
    "@Test void a() { assertEquals(1, 1); }",
    "@Test void a() { try { assertEquals(3, Solution.add(1, 2)); } catch (Throwable e) { } }",
    "@Test void a() { try { assertEquals(3, Solution.add(1, 2)); } catch (AssertionError e) { } }",
    '@Test void a() { new AssertionError("x"); }',
    "void helper() { assertEquals(3, Solution.add(1,2)); }\n@Test void a() throws Exception { Solution.add(1,2); }",
    "@Test void a() { int expected = 3; boolean b = Solution.add(1,2) == expected; System.out.println(b); }",
    "@Test void a() { if (false) { assertEquals(3, Solution.add(1,2)); } }",
    "@Test void a() { assert true; Solution.add(1,2); }",
)
OPEN_JAVA = (
    "@Test void a() { assertEquals(3, Solution.add(1, 2)); }",
    "@Test void a() { if (Solution.add(1,2) != 3) throw new RuntimeException(); }",
    "@Test void a() { if (Solution.add(1,2) != 3) fail(); }",
    "@Test void a() { assertThrows(Exception.class, () -> Solution.add(1,2)); }",
    "@Test void a() { assert Solution.add(1,2) == 3; }",
    "@Test void a() { assert(Solution.add(1,2) == 3); }",
    "@Test void a() { try { Solution.add(1,2); fail(); } catch (Exception e) { } }",
    "void same(int a, int b) { assertEquals(a, b); }\n@Test void a() { same(3, Solution.add(1,2)); }",
    "@Test void a() { Assertions.assertEquals(3, Solution.add(1,2)); }",
)
IDLE_GO = (
    "",
    "func TestA(t *testing.T) { Add(1, 2) }",
    "func TestA(t *testing.T) { _ = Add(1, 2) == 3 }",
    'func TestA(t *testing.T) { t.Skip("x"); if Add(1,2) != 3 { t.Fatal() } }',
    'func TestA(t *testing.T) { if Add(1,2) != 3 { fmt.Println("wrong") } }',
    'func TestA(t *testing.T) { if Add(1,2) != 3 { t.Log("wrong") } }',
    "func helper(t *testing.T) { if Add(1,2) != 3 { t.Fatal() } }\nfunc TestA(t *testing.T) { Add(1,2) }",
    'func TestA(t *testing.T) { t.Run("x", func(t *testing.T) { Add(1,2) }) }',
    "func TestA(t *testing.T) { t.SkipNow(); if Add(1,2) != 3 { t.Fatal() } }",
    "func TestA(t *testing.T) { if false { t.Fatal() } }",
    "func TestA(t *testing.T) { expected := 3; got := Add(1,2); fmt.Println(got == expected) }",
    'func TestA(t *testing.T) { fmt.Errorf("wrong") }',
)
OPEN_GO = (
    'func TestA(t *testing.T) { if Add(1,2) != 3 { t.Errorf("x") } }',
    "func TestA(t *testing.T) { if Add(1,2) != 3 { panic(1) } }",
    "func same(t *testing.T, a int) { if a != 3 { t.Fatal() } }\nfunc TestA(t *testing.T) { same(t, Add(1,2)) }",
    "func TestA(t *testing.T) { equal(t, Add(1,2)) }",
    "func TestA(t *testing.T) { if Add(1,2) != 3 { t.Fail() } }",
)
IDLE_RUST = (
    "",
    "#[test]\nfn a() { add(1, 2); }",
    "#[test]\nfn a() { let _ = add(1, 2) == 3; }",
    "#[test]\n#[ignore]\nfn a() { assert_eq!(add(1, 2), 3); }",
    "#[ignore]\n#[test]\nfn a() { assert_eq!(add(1, 2), 3); }",
    "#[test]\nfn a() { assert!(true); add(1,2); }",
    "#[test]\nfn a() { assert_eq!(1, 1); }",
    '#[test]\nfn a() { println!("{}", add(1,2) == 3); }',
    "#[test]\nfn a() { matches!(add(1,2), 3); }",
    "fn helper() { assert_eq!(add(1,2), 3); }\n#[test]\nfn a() { add(1,2); }",
    "#[test]\nfn a() { if false { assert_eq!(add(1,2), 3); } }",
    "#[test]\nfn a() { let expected = 3; let b = add(1,2) == expected; }",
)
OPEN_RUST = (
    "#[test]\nfn a() { assert_eq!(add(1, 2), 3); }",
    "#[test]\nfn a() { if add(1,2) != 3 { panic!(); } }",
    "#[test]\nfn a() -> Result<(), String> { if add(1,2) == 3 { Ok(()) } else { Err(String::new()) } }",
    "#[test]\n#[should_panic]\nfn a() { add(1,2); }",
    "fn same(a: i32) { assert_eq!(a, 3) }\n#[test]\nfn a() { same(add(1,2)); }",
    "#[test]\nfn a() { add(1,2).checked_add(1).unwrap(); }",
)
IDLE_PROGRAMS = (
    ("cpp", "#include <cassert>\nint main() { add(1, 2); return 0; }"),
    ("cpp", "int main() { add(1,2) == 3; }"),
    ("cpp", "#include <cassert>\nint main() { assert(true); add(1,2); }"),
    (
        "cpp",
        "#include <cassert>\nvoid helper() { assert(add(1,2) == 3); }\nint main() { return 0; }",
    ),
    ("cpp", "#include <iostream>\nint main() { std::cout << (add(1,2) == 3); }"),
    (
        "java",
        "public class Main { public static void main(String[] args) { Solution s = new Solution(); s.add(1, 2); } }",
    ),
    ("javascript", "const assert = require('assert');\nadd(1, 2) === 3;"),
    ("javascript", "const check = () => { add(1,2) === 3 };\ncheck();"),
    ("go", "func TestA(t *testing.T) { Add(1,2) }"),
    ("rust", "#[cfg(test)]\nmod tests { use super::*; #[test] fn a() { add(1,2); } }"),
    ("typescript", "const expected: number = 3; add(1,2) === expected;"),
    ("cpp", 'int main() { if (add(1,2) != 3) { std::cerr << "wrong"; } return 0; }'),
)
OPEN_PROGRAMS = (
    ("go", "func TestA(t *testing.T) { assert := assert.New(t); assert.Equal(3, Add(1, 2)) }"),
    ("cpp", "int main() { return add(1,2) == 3 ? 0 : 1; }"),
    ("cpp", "int main() { if (add(1,2) != 3) return 1; return 0; }"),
    ("cpp", '#include "doctest.h"\nTEST_CASE() { }'),
    ("cpp", "int main() { if (add(1,2) != 3) throw 1; }"),
    ("go", "func main() { if Add(1,2) != 3 { os.Exit(1) } }"),
    ("javascript", "console.assert(add(1,2) === 3)"),
    ("rust", "fn main() { if add(1,2) != 3 { std::process::exit(1); } }"),
    (
        "java",
        "public class Main { public static void main(String[] args) { if (new Solution().add(1,2) != 3) System.exit(1); } }",
    ),
    ("bash", "[ $(add 1 2) = 3 ]"),
    ("rust", "fn main() -> Result<(), String> { Ok(()) }"),
)

SUITES = {
    "javascript": ("a.test.js", Framework.NODE_TEST),
    "java": ("SolutionTest.java", Framework.JUNIT),
    "go": ("a_test.go", Framework.GO_TEST),
    "rust": ("tests/a.rs", Framework.CARGO_TEST),
}
IDLE = (
    *(("javascript", NODE + body) for body in IDLE_NODE),
    *(("java", JAVA + body + "\n}\n") for body in IDLE_JAVA),
    *(("go", GO + body) for body in IDLE_GO),
    *(("rust", RUST + body) for body in IDLE_RUST),
)
OPEN = (
    *(("javascript", NODE + body) for body in OPEN_NODE),
    *(("java", JAVA + body + "\n}\n") for body in OPEN_JAVA),
    *(("go", GO + body) for body in OPEN_GO),
    *(("rust", RUST + body) for body in OPEN_RUST),
)


async def flaw_of_suite(language: str, text: str, solution_path: str = "") -> str:
    path, framework = SUITES[language]
    tests = UnitTests(framework=framework, files=((path, text),), solution_path=solution_path)
    grader = await suite_grader(tests, LANGUAGES.find(language), Programs(Limits()))
    return grader.flaw


def flaw_of(language: str, text: str) -> str:
    found = LANGUAGES.find(language)
    assert found.program is not None
    return flaw_of_program(text, found.name, found.program.assertions)


@pytest.mark.parametrize(("language", "text"), IDLE)
async def test_files_that_no_answer_can_fail_are_found(language: str, text: str) -> None:
    assert await flaw_of_suite(language, text)


@pytest.mark.parametrize(("language", "text"), OPEN)
async def test_files_that_an_answer_may_fail_are_not(language: str, text: str) -> None:
    assert await flaw_of_suite(language, text) == ""


async def test_there_are_sixty_forms_of_files_in_four_frameworks() -> None:
    assert len(IDLE) >= 55
    assert {language for language, _ in IDLE} == SUITES.keys()


@pytest.mark.parametrize(("language", "text"), IDLE_PROGRAMS)
def test_programs_that_no_answer_can_fail_are_found(language: str, text: str) -> None:
    assert "cannot fail" in flaw_of(language, text)


@pytest.mark.parametrize(("language", "text"), OPEN_PROGRAMS)
def test_programs_that_an_answer_may_fail_are_not(language: str, text: str) -> None:
    assert flaw_of(language, text) == ""


def test_a_function_of_the_prompt_may_assert() -> None:
    cpp = LANGUAGES.find("c++")
    assert cpp.program is not None
    prompt = "void same(int a, int b) { if (a != b) throw 1; }\n// returns the sum\nint add(int a, int b) {"
    text = "int main() { same(add(1, 2), 3); }"
    assert flaw_of_program(text, cpp.name, cpp.program.assertions, prompt) == ""
    assert flaw_of_program(text, cpp.name, cpp.program.assertions, "// must not fail(\nint add(")


async def test_a_helper_that_is_not_among_the_files_is_left_open() -> None:
    text = "const { same } = require('./helpers'); test('a', () => { same(add(1, 2), 3) })"
    assert await flaw_of_suite("javascript", text) == ""
    assert await flaw_of_suite("javascript", text, "helpers.js")


@pytest.mark.parametrize(("name", "language"), [("cpp", "c++"), ("java", "java"), ("js", "js")])
def test_no_program_of_humaneval_x_is_refused(data_folder: Path, name: str, language: str) -> None:
    rows = (data_folder / f"humaneval_x_{name}.jsonl").read_text().splitlines()
    assert len(rows) == 164
    assert [row for row in sampled(rows, 4) if flaw_of(language, json.loads(row)["test"])] == []
