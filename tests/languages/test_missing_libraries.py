"""Libraries that a task imports and its sandbox lacks, in every language that the host offers.

A row is a task with a right solution and one that does not compile. What the task needs and the
sandbox lacks makes it invalid, whatever its solution does; what it does not use is left out.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import (
    Assessment,
    Extraction,
    Framework,
    FunctionTests,
    Integrity,
    Limits,
    ProgramTests,
    StdioCase,
    StdioTests,
    Submission,
    Tests,
    UnitTests,
    Verdict,
)
from reward_server.languages import load_languages
from reward_server.settings import Settings
from tests.support.sampling import sampled
from tests.support.tools import offered, require

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.promise(
        "A missing library that a task needs makes it invalid; what a completion imports does not.",
        "Verdicts",
    ),
]

TOOLS = {
    "java": "javac",
    "javascript": "node",
    "go": "go",
    "rust": "rustc",
    "c": "gcc",
    "c++": "g++",
    "ruby": "ruby",
    "php": "php",
    "lua": "lua5.4",
    "perl": "perl",
}
BROKEN = ") ] }"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task, and a solution that is right if its libraries are there.

    Args:
        language: of the task.
        tests: of the task.
        right: the solution.
        prompt: of the task.
        needed: what it needs and the sandbox lacks.
    """

    language: str
    tests: Tests
    right: str
    prompt: str = ""
    needed: tuple[str, ...] = ()


def program(text: str) -> ProgramTests:
    return ProgramTests(test_code=text)


GO_SUM = "func Sum(a, b int) int { return a + b }"
JS_SUM = "const sum = (a, b) => a + b;"
JAVA_TESTS = program(
    "    }\n    public static void main(String[] args) {\n    assert(f(1L) == true);\n    }\n}\n"
)
JAVA_SUM = "import java.util.*;\nclass Problem {\n    public static boolean f(long x) {\n"
RUST_TESTS = program("#[test] fn t() { assert_eq!(sum(1, 2), 3); }")
CPP_TESTS = program("#include <cassert>\nint main() { assert(sum(1, 2) == 3); }")
ADDS = FunctionTests(entry_point="f", asserts=("assert f(1) == 2",))

NEEDED = {
    "java: a type of the prompt": Task(
        language="java",
        prompt="import org.javatuples.*;\n" + JAVA_SUM.replace("boolean", "Pair<Long, Long>"),
        right="        return null;\n",
        tests=program("    }\n    public static void main(String[] a) { assert f(1) == null; }\n}"),
        needed=("org.javatuples",),
    ),
    "go: assertions": Task(
        language="go",
        right=GO_SUM,
        tests=program(
            'import ("testing"; "gopkg.in/check")\n'
            "func TestSum(t *testing.T) { check.Equal(t, Sum(1, 2), 3) }"
        ),
        needed=("gopkg.in/check",),
    ),
    "go: a test file": Task(
        language="go",
        right=f"package sum\n{GO_SUM}",
        tests=UnitTests(
            framework=Framework.GO_TEST,
            files=(
                (
                    "sum_test.go",
                    'package sum\nimport ("testing"; "example.com/is")\n'
                    "func TestSum(t *testing.T) { is.New(t).Equal(Sum(1, 2), 3) }\n",
                ),
            ),
            solution_path="solution.go",
        ),
        needed=("example.com/is",),
    ),
    "javascript: chai": Task(
        language="javascript",
        right=JS_SUM,
        tests=program("const { expect } = require('chai');\nexpect(sum(1, 2)).to.equal(3);"),
        needed=("chai",),
    ),
    "javascript: the expect of jest": Task(
        language="javascript",
        right=JS_SUM,
        tests=program(
            'var expect = require("@jest/expect").jestExpect;\nexpect(sum(1, 2)).toBe(3);'
        ),
        needed=("@jest/expect",),
    ),
    "javascript: a test file": Task(
        language="javascript",
        right=f"{JS_SUM} module.exports = {{ sum }};",
        tests=UnitTests(
            framework=Framework.NODE_TEST,
            files=(
                (
                    "sum.test.js",
                    "const test = require('node:test');\nconst should = require('should');\n"
                    "const { sum } = require('./solution');\n"
                    "test('sums', () => should(sum(1, 2)).equal(3));\n",
                ),
            ),
            solution_path="solution.js",
        ),
        needed=("should",),
    ),
    "rust: a type of the prompt": Task(
        language="rust",
        prompt="use num_bigint::BigInt;\nfn sum(a: i32, b: BigInt) -> i32 {\n",
        right="    a\n}\n",
        tests=RUST_TESTS,
        needed=("num_bigint",),
    ),
    "rust: a macro of the tests": Task(
        language="rust",
        prompt="fn sum(a: i32, b: i32) -> i32 {\n",
        right="    a + b\n}\n",
        tests=program(
            "#[cfg(test)] mod tests { use super::*;\n    use pretty_assertions::assert_eq;\n"
            "    #[test] fn t() { assert_eq!(sum(1, 2), 3); } }"
        ),
        needed=("pretty_assertions",),
    ),
    "c++: a type of the prompt": Task(
        language="c++",
        prompt="#include <nosuch/number.hpp>\nnosuch::number sum(int a, int b) {\n",
        right="    return a + b;\n}\n",
        tests=CPP_TESTS,
        needed=("nosuch/number.hpp",),
    ),
    "c: a header": Task(
        language="c",
        prompt="#include <nosuch.h>\nint sum(int a, int b) {\n",
        right="    return a + b;\n}\n",
        tests=program("#include <assert.h>\nint main(void) { assert(sum(1, 2) == 3); return 0; }"),
        needed=("nosuch.h",),
    ),
    "ruby: expectations": Task(
        language="ruby",
        right="def sum(a, b) = a + b",
        tests=program("require 'rspec/expectations'\nraise unless sum(1, 2) == 3"),
        needed=("rspec/expectations",),
    ),
    "perl: two modules, of which one is there": Task(
        language="perl",
        right="sub sum { $_[0] + $_[1] }",
        tests=program("use List::Util qw(max);\nuse Nosuch::Is;\nis(sum(1, 2), 3);"),
        needed=("Nosuch::Is",),
    ),
    "php: an autoloader": Task(
        language="php",
        prompt="<?php\n",
        right="function sum($a, $b) { return $a + $b; }",
        tests=program("require_once 'vendor/autoload.php';\nif (sum(1, 2) !== 3) { exit(1); }"),
        needed=("vendor/autoload.php",),
    ),
    "lua: luaunit": Task(
        language="lua",
        right="function sum(a, b) return a + b end",
        tests=program("local lu = require('luaunit')\nlu.assertEquals(sum(1, 2), 3)"),
        needed=("luaunit",),
    ),
    "python: a type of the prompt": Task(
        language="python",
        prompt="import nosuch.types as nt\n\ndef f(x: nt.Number):\n",
        right="    return x + 1\n",
        tests=ADDS,
        needed=("nosuch.types",),
    ),
    "python: a program of standard input": Task(
        language="python",
        prompt="from nosuch import reader\n\ndef main(read=reader):\n",
        right="    print(2)\n\nmain()\n",
        tests=StdioTests(cases=(StdioCase(stdin=b"1\n", expected_stdout=b"2\n"),)),
        needed=("nosuch",),
    ),
}
UNUSED = {
    "java: all names of a package": Task(
        language="java",
        prompt=f"import org.javatuples.*;\n{JAVA_SUM}",
        right="        return x > 0;\n",
        tests=JAVA_TESTS,
    ),
    "java: one name": Task(
        language="java",
        prompt=f"import org.junit.Test;\n{JAVA_SUM}",
        right="        return x > 0;\n",
        tests=JAVA_TESTS,
    ),
    "go": Task(
        language="go",
        right=GO_SUM,
        tests=program(
            'import ("testing"; "example.com/is")\n'
            "func TestSum(t *testing.T) { if Sum(1, 2) != 3 { t.Fatal() } }"
        ),
    ),
    "javascript": Task(
        language="javascript",
        right=JS_SUM,
        tests=program(
            "const { expect } = require('chai');\nconst assert = require('assert');\n"
            "assert.strictEqual(sum(1, 2), 3);"
        ),
    ),
    "rust: three crates": Task(
        language="rust",
        prompt="use nosuch::{First, Second as Other};\nuse other;\n"
        "extern crate third;\nfn sum(a: i32, b: i32) -> i32 {\n",
        right="    a + b\n}\n",
        tests=RUST_TESTS,
    ),
    "c++": Task(
        language="c++",
        prompt="#include <nosuch/number.hpp>\nint sum(int a, int b) {\n",
        right="    return a + b;\n}\n",
        tests=CPP_TESTS,
    ),
    "lua": Task(
        language="lua",
        right="function sum(a, b) return a + b end",
        tests=program("local lu = require('luaunit')\nassert(sum(1, 2) == 3)"),
    ),
    "python: the prompt": Task(
        language="python",
        prompt="import nosuch\n\ndef f(x):\n",
        right="    return x + 1\n",
        tests=ADDS,
    ),
    "python: the tests": Task(
        language="python",
        right="def f(x):\n    return x + 1\n",
        tests=FunctionTests(
            entry_point="f",
            test_code="import nosuch as ns\n\ndef check(f):\n    assert f(1) == 2\n",
        ),
    ),
}
# What a completion imports by itself, and imports that the task can do without or leaves to it.
OWN = {
    "java": (
        "import org.javatuples.Pair;\nclass P { static boolean f(long x) { Pair p; ",
        JAVA_TESTS,
    ),
    "go": (f'import "example.com/is"\n{GO_SUM[:-1]}; is.Equal() }}', UNUSED["go"].tests),
    "javascript": (
        f"const chai = require('chai'); {JS_SUM}",
        program("console.assert(sum(1, 2) === 3)"),
    ),
    "javascript: tests that do without": (
        "const sum = (a, b) => a - b;",
        program(
            "let say = console.log;\ntry {\n  say = require('chalk').red;\n} catch { }\n"
            "if (sum(1, 2) !== 3) throw new Error(say('no'));"
        ),
    ),
    "javascript: files that call two libraries by one name": (
        "const sum = (a, b) => a - b; module.exports = { sum };",
        UnitTests(
            framework=Framework.NODE_TEST,
            files=tuple(
                (
                    f"{name}.test.js",
                    f"const test = require({quote}node:test{quote});\n"
                    f"const is = require('{library}');\nconst {{ sum }} = require('./solution');\n"
                    "test('sums', () => is.equal(sum(1, 2), 3));\n",
                )
                for name, quote, library in (("a", "'", "assert"), ("b", '"', "assert/strict"))
            ),
            solution_path="solution.js",
        ),
    ),
    "rust": ("use nosuch::A;\nfn sum(a: i32, b: i32) -> i32 { a + b }", RUST_TESTS),
    "rust: a module of the solution": (
        BROKEN,
        program("use shapes::Circle;\n#[test] fn t() { assert_eq!(Circle::new(3).radius, 3); }"),
    ),
    "c++": ("#include <nosuch>\nint sum(int a, int b) { return a + b; }", CPP_TESTS),
    "ruby": ("require 'nosuch'\ndef sum(a, b) = a + b", program("raise unless sum(1, 2) == 3")),
    "python": ("import nosuch\ndef f(x):\n    return x + 1\n", ADDS),
    "python: tests that do without": (
        "def f(x):\n    return x - 1\n",
        FunctionTests(
            entry_point="f",
            setup_code="try:\n    import nosuch\nexcept ImportError:\n    nosuch = None\n",
            asserts=("assert f(1) == 2",),
        ),
    ),
}


def named(language: str) -> str:
    return language.partition(":")[0]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app() -> AsyncIterator[App]:
    """Yields a server with the languages that the host has."""
    languages = offered("python", *TOOLS)
    async with running_app(Settings(port=0, workers=1, languages=languages)) as app:
        yield app


async def judge(app: App, task: Task, completion: str) -> Assessment:
    if task.language != "python":
        require(TOOLS[task.language])
    limits = load_languages().find(task.language).default_limits(Limits())
    submission = Submission(
        completion=completion,
        language=task.language,
        prompt=task.prompt,
        tests=task.tests,
        limits=replace(limits, cpu_time_seconds=30.0, wall_time_seconds=60.0),
        extraction=Extraction.NONE,
    )
    return await app.evaluation.score(submission)


@pytest.mark.parametrize("name", sampled(list(NEEDED), 2))
async def test_a_library_that_the_task_needs_and_the_sandbox_lacks_makes_it_invalid(
    app: App, name: str
) -> None:
    task = NEEDED[name]
    for completion in (task.right, f"{task.right}{BROKEN}", task.right):
        said = await judge(app, task, completion)
        assert (said.verdict, said.reward) == (Verdict.INVALID_TASK, None), said
        assert said.missing_modules == task.needed
        assert task.needed[0] in said.message


@pytest.mark.parametrize("name", sampled(list(UNUSED), 2))
async def test_an_import_that_the_task_does_not_use_is_left_out(app: App, name: str) -> None:
    task = UNUSED[name]
    for completion, reward in ((f"{task.right}{BROKEN}", 0.0), (task.right, 1.0)):
        said = await judge(app, task, completion)
        assert said.reward == reward, said


@pytest.mark.parametrize("name", OWN)
async def test_what_a_completion_imports_makes_no_task_invalid(app: App, name: str) -> None:
    completion, tests = OWN[name]
    said = await judge(app, Task(language=named(name), tests=tests, right=""), completion)
    assert said.verdict in (Verdict.COMPILE_ERROR, Verdict.RUNTIME_ERROR, Verdict.FAILED), said
    assert said.reward == 0.0


async def test_a_task_without_an_unused_import_keeps_its_label(app: App) -> None:
    said = await judge(app, UNUSED["rust: three crates"], "    a + b\n}\n")
    assert said.integrity is Integrity.ISOLATED
