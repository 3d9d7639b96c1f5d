# ruff: noqa: E501  # programs in other languages
"""Test programs and files of other languages: what one ordinary process would do, done apart.

Three things must hold: what an ordinary process fails is not passed as ISOLATED, what it passes is
passed, and no completion buys an error. Tests that could see more of an answer than data are in
`refused.toml`: what they cost a program is decided by their text.
"""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import (
    MEBIBYTE,
    Assessment,
    Extraction,
    Framework,
    Integrity,
    ProgramTests,
    StdioCase,
    StdioTests,
    Submission,
    Tests,
    UnitTests,
    Verdict,
)
from reward_server.grading.compiled_tests.split import Task, taken_apart
from reward_server.languages import load_languages
from reward_server.settings import Settings
from tests.attacks.attack import code
from tests.support.common import SMALL_LIMITS, is_refused, on_the_servers_loop
from tests.support.sampling import sampled
from tests.support.tools import needs, offered

pytestmark = on_the_servers_loop
REFUSED = tomllib.loads(Path(__file__).with_name("refused.toml").read_text("utf-8"))["refused"]
LIMITS = replace(
    SMALL_LIMITS,
    cpu_time_seconds=10.0,
    wall_time_seconds=12.0,
    processes=64,
    memory_bytes=1024 * MEBIBYTE,
    disk_bytes=512 * MEBIBYTE,
    file_size_bytes=256 * MEBIBYTE,
)
TOOLS = {
    "javascript": "node",
    "java": "javac",
    "go": "go",
    "rust": "rustc",
    "c++17": "g++",
    "perl": "perl",
    "bash": "bash",
    "ruby": "ruby",
    "php": "php",
    "lua": "lua5.4",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A completion and what judges it.

    Args:
        language: of both.
        completion: the solution.
        tests: the test program, or other tests.
        prompt: that the completion continues.
    """

    language: str
    completion: str
    tests: str | Tests
    prompt: str = ""


def js(completion: str, tests: str) -> Row:
    return Row(
        language="javascript",
        completion=code(completion),
        tests="const assert = require('assert');\n" + code(tests),
    )


CPP_HEAD = (
    "#include <chrono>\n#include <mutex>\n#include <string>\n#include <thread>\n"
    "#include <vector>\nusing namespace std;\n"
)


def cpp(head: str, body: str, checks: str) -> Row:
    return Row(
        language="c++17",
        prompt=f"{CPP_HEAD}{head} {{\n",
        completion=f"{body}\n",
        tests=f"#undef NDEBUG\n#include <cassert>\nint main() {{\n{checks}\n}}\n",
    )


def java(method: str, body: str, checks: str, before: str = "") -> Row:
    imports = "import java.util.*;\nimport java.util.concurrent.*;\n"
    return Row(
        language="java",
        prompt=f"{imports}{before}class Solution {{\n    {method} {{\n",
        completion=body,
        tests=(
            "public class Main {\n"
            "    public static void main(String[] args) throws Exception {\n"
            f"        Solution s = new Solution();\n{checks}\n    }}\n"
            "    static void check(boolean b) { if (!b) throw new AssertionError(); }\n}\n"
        ),
    )


def go_panic(cause: str, differs: str) -> Row:
    """Makes a row of what tests recover of the solution's panic."""
    return Row(
        language="go",
        prompt="package main\n\nfunc F(n int) int {\n",
        completion=f"panic({cause})\n}}\n",
        tests=f"func main() {{\ndefer func() {{ if r := recover(); {differs} {{ panic(7) }} }}()\nF(1)\n}}\n",
    )


def rust(completion: str, checks: str, prompt: str = "") -> Row:
    return Row(
        language="rust",
        prompt=prompt,
        completion=completion,
        tests=f"#[test]\nfn t() {{\n{checks}\n}}\n",
    )


def stdio(language: str, completion: str) -> Row:
    case = StdioCase(stdin=b"1\n", expected_stdout=b"1\n")
    return Row(language=language, completion=completion, tests=StdioTests(cases=(case,)))


def node_suite(completion: str, tests: str) -> Row:
    head = (
        "const { test, describe, it, before, beforeEach, afterEach } = require('node:test');\n"
        "const assert = require('node:assert');\nconst S = require('./solution');\n"
    )
    files = (("a.test.js", head + code(tests)),)
    suite = UnitTests(framework=Framework.NODE_TEST, files=files, solution_path="solution.js")
    return Row(language="javascript", completion=completion, tests=suite)


def go_suite(completion: str, tests: str) -> Row:
    files = (("a_test.go", "package calc\n" + tests),)
    suite = UnitTests(framework=Framework.GO_TEST, files=files, solution_path="solution.go")
    return Row(language="go", completion="package calc\n" + completion, tests=suite)


def rust_suite(completion: str, tests: str) -> Row:
    files = (("tests/it.rs", tests),)
    suite = UnitTests(framework=Framework.CARGO_TEST, files=files, solution_path="src/lib.rs")
    return Row(language="rust", completion=completion, tests=suite)


def rows(table: Mapping[str, Row], step: int = 1) -> pytest.MarkDecorator:
    """Gives a test every so-manieth row of each language."""
    of_languages: dict[str, list[str]] = {}
    for name, row in table.items():
        of_languages.setdefault(row.language, []).append(name)
    names = [name for found in of_languages.values() for name in sampled(found, step)]
    params = [pytest.param(table[one], marks=needs(TOOLS[table[one].language])) for one in names]
    return pytest.mark.parametrize("row", params, ids=names)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app() -> AsyncIterator[App]:
    """Yields a server that has what is installed here."""
    async with running_app(Settings(port=0, workers=2, languages=offered(*TOOLS))) as running:
        yield running


async def judged(app: App, row: Row) -> Assessment:
    tests = ProgramTests(test_code=row.tests) if isinstance(row.tests, str) else row.tests
    return await app.evaluation.score(
        Submission(
            language=row.language,
            prompt=row.prompt,
            completion=row.completion,
            extraction=Extraction.NONE,
            tests=tests,
            limits=LIMITS,
        )
    )


# -------------------------------------------------------------------------- unearned rewards

LOOKED_INTO = "assert.strictEqual(f({ a: 1 }).a, 1);"
UNEARNED = {
    "js: a state is set after the call returned": js(
        "let n = 0\nconst inc = async () => { await new Promise((r) => setTimeout(r, 10)); n++ }\nconst total = () => n",
        "inc();\nassert.strictEqual(total(), 1);",
    ),
    "js: a cache that is filled after the next call": js(
        "let cache\nconst load = async (x) => x * x\nconst f = (x) => { load(x).then((v) => { cache = v }); return cache }",
        "f(3);\nassert.strictEqual(f(3), 9);",
    ),
    "js: a proxy that computes what is in it": js(
        "const f = (o) => new Proxy(o, { get: () => 7 })", LOOKED_INTO
    ),
}
NEVER = "const f = (x) => new Promise(() => {})"
THROWS = "const f = async (x) => { if (x === 3) return 9; throw new Error('no') }"
# What is passed by doing nothing: an ordinary process would not see it either.
PASSED_BY = {
    "js: a promise that is never settled": js(
        NEVER,
        "async function main() { assert.strictEqual(await f(3), 9) }\nmain().catch((e) => { console.error(e); process.exit(1) });",
    ),
    "js: a promise that is never settled, behind a rejection": js(
        "const f = async (x) => { if (x < 0) throw new Error('no'); await new Promise(() => {}) }",
        "(async () => { await assert.rejects(f(-1), /no/); assert.strictEqual(await f(2), 4) })();",
    ),
    "js: one of two promises": js(
        "const f = (x) => (x === 3 ? 9 : { then() {} })",
        "assert.strictEqual(f(3), 9);\nPromise.all([f(3), f(4)]).then((got) => assert.deepStrictEqual(got, [9, 16]));",
    ),
    "js: exceptions that the tests tell": js(
        THROWS,
        "async function main() { assert.strictEqual(await f(3), 9); assert.strictEqual(await f(4), 16) }\nmain().catch(console.error);",
    ),
    "js: exceptions that the tests' harness tells": js(
        "const f = (x) => { throw new Error('no') }",
        "const test = (name, run) => { try { run(); console.log('ok', name) } catch (e) { console.log('not ok', name) } };\ntest('a', () => { const got = f(3); assert.strictEqual(got, 9) });",
    ),
    "js: exceptions in a loop": js(
        "const f = (x) => { throw new Error('no') }",
        "let passed = 0;\nfor (const [x, y] of [[3, 9], [4, 16]]) {\n  try { const got = f(x); if (got !== y) throw new Error('wrong'); passed++ } catch (e) { console.error(e.message) }\n}\nconsole.log(passed);",
    ),
    "java: exceptions that the tests tell": java(
        "public int f(int a)",
        "throw new IllegalStateException(); }}",
        'try { check(s.f(1) == 2); System.out.println("passed"); } catch (Exception e) { e.printStackTrace(); }',
    ),
    "c++: exceptions that the tests tell": cpp(
        "int f(int a)",
        "throw 1; }",
        'try { assert(f(1) == 2); } catch (...) { puts("failed"); }',
    ),
}


@rows(UNEARNED)
async def test_what_an_ordinary_process_fails_is_not_passed_apart(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert said.verdict is not Verdict.PASSED or said.integrity is Integrity.SHARED, said


@pytest.mark.parametrize(
    "row", REFUSED, ids=[f"{row['language']} {row['name']}" for row in REFUSED]
)
async def test_tests_that_could_tell_where_the_solution_runs_do_not_run_apart(
    row: dict[str, str],
) -> None:
    program = load_languages().find(row["language"]).program
    assert program is not None
    assert program.assertions is not None
    task = Task(prompt=row["prompt"], tests=row["tests"], language=program.assertions)
    assert str(taken_apart(program.split, task)).startswith(row["rule"])


@rows(PASSED_BY)
async def test_what_solves_nothing_is_not_passed_apart(app: App, row: Row) -> None:
    assert is_refused(await judged(app, row))


# ------------------------------------------------------------------------------- false zeros

NODE_ADD = (
    "exports.slow = async (a, ms) => { await new Promise((r) => setTimeout(r, ms)); return a; };\n"
)
HONEST = {
    "js: a counter that counts later": js(
        "let n = 0\nconst f = () => { queueMicrotask(() => { n++ }); return n }",
        "assert.strictEqual(f(), 0); assert.strictEqual(f(), 0);",
    ),
    "js: get": js(
        "const kept = new Map()\nconst put = (k, v) => { kept.set(k, v) }\nconst get = (k) => kept.get(k)",
        "put('a', 1);\nassert.strictEqual(get('a'), 1);",
    ),
    "js: from": js(
        "const parse = (s) => s.split(',').map(Number)\nconst from = (a) => a.join(',')",
        "assert.deepStrictEqual(parse('1,2'), [1, 2]);\nassert.strictEqual(from([1, 2]), '1,2');",
    ),
    "js: type": js(
        "const type = (x) => x === null ? 'null' : typeof x\nconst size = (a) => a.length",
        "assert.strictEqual(size([1]), 1);\nassert.strictEqual(type(null), 'null');",
    ),
    "perl: exit with the count of failures": Row(
        language="perl",
        completion="sub add { my ($a, $b) = @_; return $a + $b; }\n",
        tests="my $failed = 0;\n$failed++ unless add(1, 2) == 3;\nexit($failed ? 1 : 0);\n",
    ),
    "bash: exit with the count of failures": Row(
        language="bash",
        completion="add() { echo $(($1 + $2)); }\n",
        tests='failed=0\n[ "$(add 1 2)" = 3 ] || failed=1\nexit $failed\n',
    ),
    "perl: __END__": Row(
        language="perl",
        completion="sub add { return $_[0] + $_[1] }\n1;\n__END__\n\n=head1 NAME\n\nadd\n\n=cut\n",
        tests="die unless add(1, 2) == 3;\n",
    ),
    "node: tests at once": node_suite(
        NODE_ADD,
        """
        describe('s', { concurrency: true }, () => {
          it('a', async () => { assert.strictEqual(await S.slow(1, 5), 1); });
          it('b', async () => { assert.strictEqual(await S.slow(2, 50), 2); });
        });
        """,
    ),
    "node: subtests at once": node_suite(
        NODE_ADD,
        """
        test('s', { concurrency: 2 }, async (t) => {
          await Promise.all([
            t.test('a', async () => { assert.strictEqual(await S.slow(1, 5), 1); }),
            t.test('b', async () => { assert.strictEqual(await S.slow(2, 50), 2); }),
          ]);
        });
        """,
    ),
    "go: parallel tests in one line each": go_suite(
        "func Add(a, b int) int { return a + b }\n",
        'import "testing"\n'
        'func TestA(t *testing.T) { t.Parallel(); if Add(1, 1) != 2 { t.Error("no") } }\n'
        'func TestB(t *testing.T) { t.Parallel(); if Add(1, 2) != 3 { t.Error("no") } }\n',
    ),
    "go: parallel tests and rows": go_suite(
        "func Add(a, b int) int { return a + b }\n",
        'import (\n\t"testing"\n\t"time"\n)\n'
        "func TestT(t *testing.T) {\n\tt.Parallel()\n"
        '\tfor _, c := range []struct{ name string; a, b, want int }{{"x", 1, 1, 2}, {"y", 2, 2, 4}} {\n'
        "\t\tc := c\n\t\tt.Run(c.name, func(t *testing.T) {\n\t\t\tt.Parallel()\n"
        "\t\t\ttime.Sleep(time.Millisecond)\n"
        '\t\t\tif got := Add(c.a, c.b); got != c.want {\n\t\t\t\tt.Fatalf("%d", got)\n\t\t\t}\n\t\t})\n\t}\n}\n',
    ),
    "node: hooks and what they count": node_suite(
        "exports.same = (x) => x;\n",
        """
        describe('s', () => {
          let n = 0;
          before(() => { n = 1; });
          beforeEach(() => { n += 1; });
          afterEach(() => { n += 10; });
          it('a', () => { assert.strictEqual(S.same(n), 2); });
          it('b', () => { assert.strictEqual(S.same(n), 13); });
        });
        """,
    ),
    "rust: a stack of types, a table by a macro": rust_suite(
        "pub struct Stack<T> { v: Vec<T> }\nimpl<T> Stack<T> { pub fn new() -> Self { Stack { v: vec![] } } pub fn push(&mut self, x: T) { self.v.push(x) } pub fn pop(&mut self) -> Option<T> { self.v.pop() } pub fn peek(&self) -> Option<&T> { self.v.last() } }\n",
        "use solution::Stack;\n#[test]\nfn t() {\n    let mut s = Stack::new();\n    s.push(1); s.push(2);\n    assert_eq!(s.peek(), Some(&2));\n    assert_eq!(s.pop(), Some(2));\n    assert_eq!(s.pop(), Some(1));\n    assert_eq!(s.pop(), None);\n}\n"
        'macro_rules! cases { ($($n:ident: $v:expr,)*) => { $( #[test] fn $n() { let (a, b) = $v; let mut s = Stack::new(); s.push(a); assert_eq!(s.pop(), Some(b)); } )* } }\ncases! { one: (1, 1), two: ("a", "a"), }\n',
    ),
    "js: a loop over no cases": js(
        "const f = (x) => x + 1",
        "for (const [given, wanted] of []) assert.strictEqual(f(given), wanted);\nassert.strictEqual(f(1), 2);",
    ),
    "java: a helper that is called in vain": java(
        "public int f(String a)",
        "return a.length(); }}",
        "try { s.f(null); check(false); } catch (NullPointerException e) { }",
    ),
    "c++: a lambda that no test calls": cpp(
        "int f(int a)",
        "return a + 1; }",
        "auto check = [](int a, int b) { assert(a == b); }; (void)check; assert(f(1) == 2);",
    ),
}


@rows(HONEST, 2)
async def test_what_an_ordinary_process_passes_is_passed(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert (said.verdict, said.reward) == (Verdict.PASSED, 1.0), said


# The tests themselves catch what their assertions throw, or throw for the solution to catch.
CAUGHT = {
    "js: one of two answers": js(
        "const f = (x) => [2, 1]",
        "try { assert.deepStrictEqual(f(3), [1, 2]) } catch { assert.deepStrictEqual(f(3), [2, 1]) }",
    ),
    "js: what must not hold": js(
        "const f = (x) => x + 1",
        "assert.throws(() => assert.strictEqual(f(3), 5), assert.AssertionError);\nlet differs = false;\ntry { assert.strictEqual(f(3), 5) } catch (e) { differs = true }\nassert(differs);",
    ),
    "js: retried": js(
        "let n = 0\nconst f = (x) => ++n",
        "for (let i = 0; ; i++) {\n  try { assert.strictEqual(f(1), 3); break } catch (e) { if (i > 5) throw e }\n}",
    ),
    "js: a comparison of the tests' own": js(
        "const f = (x) => [2, 1]",
        "const same = (a, b) => { try { assert.deepStrictEqual(a, b); return true } catch (e) { return false } };\nassert(same(f(3), [1, 2]) || same(f(3), [2, 1]));",
    ),
    "js: a helper that throws": js(
        "const f = (s) => s.length",
        "function read(s) {\n  if (s === '') throw new Error('empty');\n  return f(s);\n}\nassert.strictEqual(read('ab'), 2);\nassert.throws(() => read(''), /empty/);",
    ),
    "node: one of two answers": node_suite(
        "exports.f = (x) => [2, 1];\n",
        "test('a', () => { try { assert.deepStrictEqual(S.f(3), [1, 2]) } catch { assert.deepStrictEqual(S.f(3), [2, 1]) } });",
    ),
    "php: a function that throws at first": Row(
        language="php",
        completion="<?php\nfunction retry($run, $most) { for ($i = 1; ; $i++) { try { return $run(); } catch (Exception $e) { if ($i >= $most) throw $e; } } }\n",
        tests="$calls = 0;\n$flaky = function () use (&$calls) {\n    $calls++;\n    if ($calls < 3) { throw new Exception('again'); }\n    return 'ok';\n};\nif (retry($flaky, 5) !== 'ok') { throw new Exception('no'); }\n",
    ),
    "lua: one of two answers": Row(
        language="lua",
        completion="function f(a) return a + 1 end\n",
        tests="local ok = pcall(function() assert(f(3) == 3) end)\nif not ok then assert(f(3) == 4) end\n",
    ),
    "ruby: one of two answers": Row(
        language="ruby",
        completion="def f(a)\n  a + 1\nend\n",
        tests="begin\n  raise 'no' unless f(3) == 3\nrescue RuntimeError\n  raise 'no' unless f(3) == 4\nend\n",
    ),
}
# The same tests, and what solves nothing.
CAUGHT_WRONG = {
    name: replace(CAUGHT[name], completion=completion)
    for name, completion in {
        "js: one of two answers": "const f = (x) => [3]",
        "js: what must not hold": "const f = (x) => 5",
        "js: retried": "const f = (x) => 4",
        "js: a comparison of the tests' own": "const f = (x) => 4",
        "node: one of two answers": "exports.f = (x) => [3]",
        "lua: one of two answers": "function f(a) return 9 end",
    }.items()
}


@rows(CAUGHT, 2)
async def test_assertions_that_the_tests_catch_may_fail(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert (said.verdict, said.reward) == (Verdict.PASSED, 1.0), said


@rows(CAUGHT_WRONG)
async def test_tests_that_catch_their_assertions_pass_nobody_else(app: App, row: Row) -> None:
    assert is_refused(await judged(app, row))


APART = {
    "java: an exception is expected, and nothing else": java(
        "public int f(int a)",
        "if (a < 0) throw new IllegalArgumentException(); return a; }}",
        "try { s.f(-1); check(false); } catch (IllegalArgumentException e) { }",
    ),
    "go: a real number that is recovered": go_panic("2.5", "r != 2.5"),
    "go: a truth that is recovered": go_panic("n == 1", "r != true"),
    "go: a number of 64 bits that is recovered": go_panic("int64(n)", "r != int64(1) || r == 1"),
    "go: an error that is recovered": go_panic('errors.New("no")', 'fmt.Sprint(r) != "no"'),
    "java: a check for each type": java(
        "public int f(int a)",
        "return a + 1; }}",
        "same(s.f(1), 2); }\n"
        "    static void same(int a, int b) { if (a != b) throw new AssertionError(); }\n"
        "    static void same(Object a, Object b) { if (!a.equals(b)) throw new AssertionError(); }\n"
        "    static void unused() { check(true);",
    ),
    "c++: a check that is given false alone": cpp(
        "int f(int a)",
        'if (a < 0) throw invalid_argument("a"); return a; }',
        "auto check = [](bool holds, const string &what) { assert(holds); };\n"
        'try { f(-1); check(false, "it throws, not " + to_string(1)); } catch (const invalid_argument &) { }',
    ),
    "c++: more digits than a double has": cpp(
        "long double f(int n)", "return 1.0L / n; }", "assert(f(3) == 1.0L / 3);"
    ),
    "java: keys in reversed order": java(
        "public Map<Character, List<Integer>> f(String a)",
        "Map<Character, List<Integer>> m = new TreeMap<>(Comparator.reverseOrder()); for (int i = 0; i < a.length(); i++) m.computeIfAbsent(a.charAt(i), k -> new ArrayList<>()).add(i); return m; }}",
        'check(s.f("aba").toString().equals("{b=[1], a=[0, 2]}"));',
    ),
    "rust: an error of the prompt's": rust(
        "if n < 0 { Err(E::Neg(n)) } else { Ok(n) }\n}\n",
        "assert_eq!(f(-1), Err(E::Neg(-1)));",
        "#[derive(Debug, PartialEq)]\nenum E { Neg(i32), Other { why: String } }\nfn f(n: i32) -> Result<i32, E> {\n",
    ),
    "js: an error of Node's": js(
        "const f = () => { throw new DOMException('no', 'AbortError') }",
        "assert.throws(() => f(), { name: 'AbortError', message: 'no' });",
    ),
    "js: a module by the name that the tests give it": js(
        "function f(x) { assert(Number.isInteger(x)); return x * x }",
        "assert.strictEqual(f(3), 9);",
    ),
    "c++: many numbers": cpp(
        "vector<int> f(const vector<int> &a)",
        "return vector<int>(a.rbegin(), a.rend()); }",
        "assert(f(vector<int>(2500000, -7))[3] == -7);",
    ),
    "java: many numbers": java(
        "public List<Integer> f(int n)",
        "List<Integer> all = new ArrayList<>(); for (int i = 0; i < n; i++) all.add(-i); return all; }}",
        "check(s.f(2_500_000).get(2_499_999) == -2_499_999);",
    ),
    "go: many numbers": Row(
        language="go",
        prompt="package main\n\nfunc F(n int) []int {\n",
        completion="\tall := make([]int, n)\n\tfor i := range all {\n\t\tall[i] = -i - 1\n\t}\n\treturn all\n}\n",
        tests="func main() {\n\tif F(2500000)[2499999] != -2500000 {\n\t\tpanic(1)\n\t}\n}\n",
    ),
    "rust: many numbers": rust(
        "(0..n).map(|i| -i).collect()\n}\n",
        "assert_eq!(f(2_500_000)[2_499_999], -2_499_999);",
        "fn f(n: i64) -> Vec<i64> {\n",
    ),
    "js: keys that are gone through at once": js(
        "const m = new Map()\nconst put = (k) => { m.set(k, 1) }\nconst keys = () => m.keys()",
        "put('a');\nput('b');\nassert.deepStrictEqual([...keys()], ['a', 'b']);\nconst it = keys();\nassert.deepStrictEqual([...it], ['a', 'b']);\nconst found = [];\nfor (const k of keys()) found.push(k);\nassert.strictEqual(found.length, 2);",
    ),
    "js: fields that are computed": js(
        "const f = (o) => new Proxy(o, { get: (t, k) => t[k] * 2 })",
        "assert.strictEqual(f({ a: 1 }).a, 2);",
    ),
    "js: a proxy of a record": js("const f = (o) => new Proxy(o, {})", LOOKED_INTO),
    "go: an array that is copied": Row(
        language="go",
        prompt="package main\n\nfunc Two(all []int) [2]int {\n",
        completion="return [2]int{all[0], all[1]}\n}\n",
        tests="func main() {\nif Two([]int{1, 2}) != [2]int{1, 2} { panic(1) }\n}\n",
    ),
}


@rows(APART, 2)
async def test_honest_forms_pass(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert (said.verdict, said.reward) == (Verdict.PASSED, 1.0), said


# ----------------------------------------------------------------------------- bought errors

DEEP = {
    name: Row(
        language="c++17",
        prompt=f"#include <vector>\nusing namespace std;\n{record}\nK f(int n) {{\n",
        completion="K a; for (int i = 0; i < n; i++) { K b; b.k.push_back(a); a = b; } return a; }\n",
        tests="#undef NDEBUG\n#include <cassert>\nint main() {\nassert(f(1500).k.size() == 1);\n}\n",
    )
    for name, record in {
        "c++: records in a list": "struct K { vector<K> k; };",
        "c++: records in two lists": "struct K { vector<vector<K>> m; vector<K> k; };",
        "c++: records beside a number": "struct K { int n; vector<K> k; };",
    }.items()
}


@rows(DEEP)
async def test_an_answer_that_is_too_deep_is_no_forgery(app: App, row: Row) -> None:
    said = await judged(app, row)
    assert is_refused(said)
    assert "tampering" not in said.signals, said


def _java(name: str, rest: str = "") -> Row:
    main = "public static void main(String[] a) { System.out.println(2); }"
    return stdio("java", f"public class {name} {{ {main} }}\n{rest}\n")


SIEGES = {
    "java: a name that no file can have": _java("A" * 300),
    "java: a name that no compiled file can have": _java("A" * 251),
    "java: names that are not Latin": _java("Ä", "class É { class Ñ {} }\nclass 𝒜 {}"),
    "java: a name that is no text": _java("A", "class \ud800 {}"),
    "java: very many classes": _java("A", "".join(f"class C{at} {{}}\n" for at in range(2000))),
    "c++: data larger than a file may be": stdio("c++17", "char a[1 << 29] = {1}; int main() {}"),
    "c++: its compiler's own input": stdio("c++17", '#include "/dev/stdin"\nint main() {}'),
    "c++: a file without end": stdio("c++17", '#include "/dev/zero"\nint main() {}'),
    "c++: no interpreter of programs": stdio(
        "c++17",
        'const char i[] __attribute__((section(".interp"))) = "/nonexistent"; int main() {}',
    ),
    "rust: a constant that is never computed": stdio(
        "rust",
        'const fn f() -> u32 { loop {} }\nconst X: u32 = f();\nfn main() { println!("{}", X) }',
    ),
    "go: brackets without end": stdio(
        "go", "package main\nfunc main() { x := " + "(" * 50000 + "1" + ")" * 50000 + "; _ = x }"
    ),
    "perl: killed at its end": stdio("perl", "print qq(2\\n); END { kill 9, $$ }"),
    "bash: stopped for ever": stdio("bash", "exec 1>&- 0<&- 2>&-; kill -STOP $$"),
}


@rows(SIEGES)
async def test_no_completion_buys_an_error(app: App, row: Row) -> None:
    assert is_refused(await judged(app, row))
