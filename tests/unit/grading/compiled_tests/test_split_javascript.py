"""Which test programs in JavaScript are taken apart is decided from their text."""

from __future__ import annotations

import pytest

from reward_server.grading.compiled_tests.split import SPLITTERS, Split, Task
from reward_server.languages import load_languages

PROMPT = "const help = (x) => x + 1\n/* Doubles. */\nconst f = (v) => {\n"


def split(tests: str, prompt: str = "", language: str = "javascript") -> Split | None:
    found = load_languages().find(language)
    assert found.program is not None
    assert found.program.assertions is not None
    task = Task(prompt=prompt, tests=tests, language=found.program.assertions)
    return SPLITTERS[found.program.split](task)


@pytest.mark.parametrize(
    "tests",
    [
        "console.assert(f(1) === 2)",
        "const g = f\nconsole.assert(g([1, 2]).length === 2)",
        "const v = [2, 1]\nf(v)\nconsole.assert(v[0] === 1)",
        "const v = [2, 1]\nconsole.assert(f(v) === 1)",
        "for (let i = 0; i < 9; i++) { console.assert(f(i) === i * 2) }",
        "console.assert(f([1, 2].map((x) => x + 1))[0] === 2)",
        "const assert = require('node:assert')\nassert.throws(() => f(1), /no f/)",
        "async function main() { const r = await f(1); if (r !== 2) throw Error('no') }\nmain()",
        "const { a, b: [c] } = f(1)\nconsole.assert(a === c)",
        "console.assert(f(...[1, 2]) === 3 ? true : false)",
    ],
)
def test_tests_of_data_are_taken_apart(tests: str) -> None:
    assert split(tests) is not None


@pytest.mark.parametrize(
    "tests",
    [
        "console.assert(f((x) => x) === 1)",
        "console.assert(f([function () {}]) === 1)",
        "const g = (x) => x\nconsole.assert(f(g) === 1)",
        "console.assert(f(1)(2) === 3)",
        "const g = f(1)\nconsole.assert(g(2) === 3)",
        "const [g] = f(1)\nconsole.assert(g(2) === 3)",
        "console.assert(f([1]).map((x) => x)[0] === 2)",  # an own class may have such a method
        "const s = f()\ns.push(1)\nconsole.assert(s.size() === 1)",
        "console.assert(f().next().value === 1)",
        "console.assert(new f(1).x === 1)",
        "console.assert(f.name === 'f')",
        "console.assert(f.call(null, 1) === 1)",
        "console.assert(f(1) === LIMIT)",
        "class G extends f {}\nconsole.assert(new G())",
        "console.assert(f(1) instanceof Own)",
        "const v = [2, 1]\nconst k = f(v)\nconsole.assert(v[k] === 1)",
        "const v = [2, 1]\nconsole.assert(f(v) === v.length)",
        "console.log = () => {}\nconsole.assert(f(1) === 1)",
        "Array.prototype.x = 1\nconsole.assert(f(1) === 1)",
        "globalThis.f = 1\nconsole.assert(f(1) === 1)",
        "eval('f(1)')\nconsole.assert(f(1) === 1)",
        "const g = require('./solution')\nconsole.assert(f(1) === 1)",
        "console.assert(true)",
        "console.assert(f(1) === 1",
    ],
)
def test_tests_that_need_more_than_data_are_not(tests: str) -> None:
    assert split(tests) is None


def test_the_prompts_helpers_are_the_tests_own_and_its_function_is_asked_for() -> None:
    found = split("console.assert(f(help(1)) === 4)", PROMPT)
    assert found is not None
    assert "const help = (x) => x + 1" in found.stubs.text
    assert found.stubs.text.count(".stub(") == 1
    assert "const f = require" in found.stubs.text
    assert split("console.assert(f(other(1)) === 4)", PROMPT) is None


@pytest.mark.parametrize(
    "prompt",
    [
        "function* f(v) {\n",
        "class f {\n  run(v) {\n",
        "function help() {}\nfunction f(v) {\n",
    ],
)
def test_prompts_that_ask_for_other_than_a_function_are_not_taken_apart(prompt: str) -> None:
    assert split("console.assert(f(1) === 1)", prompt) is None


def test_no_word_of_the_solution_is_in_the_tests_program_and_none_of_theirs_in_its() -> None:
    found = split("console.assert(f(1) === 'expected')")
    assert found is not None
    served = found.serving("const f = 'of the solution'")
    beside = b"".join(served.files.values()).decode()
    assert "expected" not in served.text + beside.replace("was expected", "")
    assert "of the solution'" not in found.stubs.text


def test_typed_tests_are_taken_apart() -> None:
    prompt = "interface P { x: number }\nfunction f(a: number[], p: P): number[] {\n"
    tests = "const p: P = { x: 1 };\nconsole.assert(f([1], p)[0] === 2);"
    found = split(tests, prompt, "typescript")
    assert found is not None
    assert "interface P" in found.stubs.text
    assert "const f: any" in found.stubs.text
