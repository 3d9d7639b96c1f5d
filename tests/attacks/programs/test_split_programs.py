# ruff: noqa: E501  # programs in another language
"""Test programs that run apart from the solution: attacks get nothing, honest work passes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import (
    Assessment,
    Extraction,
    Integrity,
    ProgramTests,
    RewardPolicy,
    RewardPolicyKind,
    Submission,
    TestOutcome,
    Verdict,
)
from reward_server.settings import Settings
from tests.attacks.attack import code
from tests.attacks.exit_status import awarded_by_exit_status
from tests.attacks.programs.program_attacks import (
    JAVASCRIPT_SOLUTION,
    JAVASCRIPT_TESTS,
    PROGRAM_ATTACKS,
    ProgramAttack,
)
from tests.attacks.programs.split_attacks import CLASSES
from tests.support.common import SMALL_LIMITS, is_refused, on_the_servers_loop
from tests.support.sampling import sampled
from tests.support.tools import require

pytestmark = on_the_servers_loop
LIMITS = replace(SMALL_LIMITS, processes=64)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app() -> AsyncIterator[App]:
    """Yields a server that has what is installed here."""
    require("node")
    async with running_app(Settings(port=0, workers=2, languages=("javascript",))) as running:
        yield running


async def judged(
    app: App, completion: str, tests: str = JAVASCRIPT_TESTS, **rest: object
) -> Assessment:
    submission = Submission(
        language="javascript",
        completion=completion,
        extraction=Extraction.NONE,
        tests=ProgramTests(test_code=code(tests)),
        limits=LIMITS,
    )
    return await app.evaluation.score(replace(submission, **rest))  # type: ignore[arg-type]  # by name


async def test_the_problem_is_solved_by_a_solution_alone(app: App) -> None:
    assessment = await judged(app, JAVASCRIPT_SOLUTION, require_integrity=Integrity.ISOLATED)
    assert assessment.verdict is Verdict.PASSED, assessment
    assert assessment.integrity is Integrity.ISOLATED
    assert [test.outcome for test in assessment.tests] == [TestOutcome.PASSED] * 6


@pytest.mark.promise("Attacks on tests that run apart earn nothing.", "Languages")
@pytest.mark.parametrize(
    "completion",
    [
        pytest.param(text, id=f"{kind} {name}")
        for kind, members in CLASSES.items()
        for name, text in sampled(list(members.items()), 4)
    ],
)
async def test_an_attack_gets_no_reward(app: App, completion: str) -> None:
    assessment = await judged(app, completion)
    assert is_refused(assessment), assessment
    assert assessment.integrity is Integrity.ISOLATED


@pytest.mark.parametrize(
    "attack",
    [attack for attack in PROGRAM_ATTACKS if attack.language == "javascript"],
    ids=lambda attack: attack.name,
)
async def test_an_attack_that_beats_the_exit_status_gets_no_reward(
    app: App, attack: ProgramAttack
) -> None:
    awarded, assessment = await asyncio.gather(
        awarded_by_exit_status(app, attack.language, attack.completion),
        judged(app, attack.completion),
    )
    assert awarded
    assert is_refused(assessment), assessment
    assert assessment.integrity is Integrity.ISOLATED


# ---------------------------------------------------------------------------- honest solutions

HONEST = {
    "nothing and its likes": (
        "const f = (x) => x",
        """
        const assert = require('assert')
        assert.strictEqual(f(undefined), undefined)
        assert.strictEqual(f(null), null)
        assert.deepStrictEqual(f([undefined, null, , 1]), [undefined, null, , 1])
        assert.deepStrictEqual(f({ a: undefined }), { a: undefined })
        assert(f() === undefined)
        """,
    ),
    "exceptions": (
        """
        class OwnError extends Error { name = 'OwnError'; code = 7 }
        const f = (x) => {
          if (x === 1) throw new RangeError('too small')
          if (x === 2) throw new OwnError('own')
          if (x === 3) throw 'text'
          return x
        }
        """,
        """
        const assert = require('assert')
        assert.throws(() => f(1), RangeError)
        assert.throws(() => f(1), /too small/)
        assert.throws(() => f(2), { message: 'own', code: 7 })
        assert.throws(() => f(2), (error) => error instanceof Error && error.name === 'OwnError')
        try { f(3); assert(false) } catch (error) { assert.strictEqual(error, 'text') }
        assert.doesNotThrow(() => f(4))
        """,
    ),
    "generators": (
        "function* f(n) { for (let i = 0; i < n; i++) yield i }",
        """
        const assert = require('assert')
        assert.deepStrictEqual([...f(3)], [0, 1, 2])
        """,
    ),
    "state between calls": (
        "let n = 0\nconst f = () => ++n",
        "console.assert(f() === 1)\nconsole.assert(f() === 2)",
    ),
    "output of its own": (
        "console.log('loading')\nconst f = (x) => { console.log(x); console.error(x); return x }",
        "console.assert(f('one') === 'one')\nconsole.log('tests')",
    ),
    "prototypes of its own making": (
        """
        Array.prototype.last = function () { return this[this.length - 1] }
        Object.prototype.own = function () { return 1 }
        const f = (v) => v.last() + v.own()
        """,
        "console.assert(f([1, 2, 3]) === 4)",
    ),
    "an exit at the end": (
        "const f = (x) => x",
        "let failed = 0;\nif (f(2) !== 2) failed++;\nprocess.exit(failed ? 1 : 0);",
    ),
    "a promise that is never settled": (
        "const f = () => new Promise(() => {})",
        "console.assert(f() !== undefined)",
    ),
    "a job between two calls that are not awaited": (
        "let n = 0\nconst f = () => { queueMicrotask(() => { n++ }); return n }",
        "console.assert(f() === 0)\nconsole.assert(f() === 0)",
    ),
    "functions whose names are keywords elsewhere": (
        """
        const kept = new Map()
        const set = (k, v) => { kept.set(k, v) }
        const get = (k) => kept.get(k)
        const type = (x) => typeof x
        const from = (a) => a.join()
        const async = (a) => a.length
        const is = (a, b) => a === b
        """,
        """
        set('a', 1)
        console.assert(get('a') === 1)
        console.assert(type(2) === 'number' && from([1, 2]) === '1,2')
        const all = [[1], [2]];
        for (const one of all) console.assert(async(one) === 1)
        console.assert(is(1, 1))
        """,
    ),
}


@pytest.mark.promise("Honest solutions pass tests that run apart.", "Languages")
@pytest.mark.parametrize("name", HONEST)
async def test_honest_work_passes(app: App, name: str) -> None:
    solution, tests = HONEST[name]
    assessment = await judged(app, code(solution), tests)
    assert (assessment.verdict, assessment.reward) == (Verdict.PASSED, 1.0), assessment
    assert assessment.integrity is Integrity.ISOLATED
    assert not assessment.signals


TWO_FACED = "let n = 0\nconst big = () => (n++ % 2 ? 1e9 : -1e9)\n"
LIARS = {  # a solution, and what tests find of it
    "a set that says how many it has": (
        "const f = () => Object.defineProperty(new Set(), 'size', { value: 2 })",
        "assert.deepStrictEqual(got, new Set(['a', 'b']))",
    ),
    "a map of such a class": (
        "class M extends Map { get size() { return 1 } }\nconst f = () => new M()",
        "assert.deepEqual(got, new Map([['a', 2]]))",
    ),
    "bytes of another count": (
        "const f = () => Object.defineProperty(new Uint8Array(0), 'length', { value: 2 })",
        "assert.strictEqual(got.length, 2)",
    ),
    "a number that is large and small": (
        f"{TWO_FACED}const f = () => ({{ valueOf: big }})",
        "assert(got > 1.41 && got < 1.42)",
    ),
    "one by two names": (
        f"{TWO_FACED}const f = () => ({{ [Symbol.toPrimitive]: big, also: big }})",
        "assert(got > 1.41 && got < 1.42)",
    ),
    "one whose conversions are made anew": (
        f"{TWO_FACED}const f = () => ({{ get valueOf() {{ const k = big(); return () => k }} }})",
        "assert(got > 1.41 && got < 1.42)",
    ),
}


@pytest.mark.parametrize("name", LIARS)
async def test_an_answer_that_is_two_values_is_refused(app: App, name: str) -> None:
    solution, finds = LIARS[name]
    tests = f"const assert = require('assert')\nconst got = f()\n{finds}\n"
    assert is_refused(await judged(app, solution, tests))


LATE = {  # a solution, and what tests find of it
    "a state": (
        "let n = 0\nconst f = async () => { await null; n++ }\nconst g = () => n",
        "f()",
        "g() === 1",
    ),
    "a state, by a timer": (
        "let n = 0\nconst f = () => new Promise((r) => setTimeout(() => { n++; r() }, 5))\nconst g = () => n",
        "f()",
        "g() === 1",
    ),
    "what was kept": (
        "let kept\nconst f = (x) => { Promise.resolve(x * x).then((v) => { kept = v }); return kept }",
        "f(3)",
        "f(3) === 9",
    ),
    "a result": ("const f = async () => 3", "", "f() === 3"),
    "a thenable": ("const f = () => ({ then(r) { r(3) } })", "", "f() === 3"),
}


@pytest.mark.parametrize("name", LATE)
async def test_what_comes_after_the_return_comes_too_late(app: App, name: str) -> None:
    solution, before, finds = LATE[name]
    assert is_refused(await judged(app, solution, f"{before}\nconsole.assert({finds})\n"))


async def test_an_answer_that_chooses_what_cannot_be_sent_is_no_fault_of_the_task(app: App) -> None:
    tests = "console.assert(f('a'.repeat(f(''))) === 1)"
    for count, verdict in ((1 << 26, Verdict.RUNTIME_ERROR), (3, Verdict.PASSED)):
        solution = f"const f = (x) => x === '' ? {count} : 1"
        limits = replace(LIMITS, memory_bytes=1 << 30)
        said = await judged(app, solution, tests, limits=limits)
        assert (said.verdict, said.integrity) == (verdict, Integrity.ISOLATED), said
        assert said.reward == (verdict is Verdict.PASSED)


async def test_calls_of_the_tests_own_are_not_counted(app: App) -> None:
    tests = "for (let i = 0; i < 50; i++) console.assert(f(i) === i)"
    assessment = await judged(app, "const f = (x) => x", tests, limits=replace(LIMITS, calls=10))
    assert assessment.verdict is Verdict.PASSED, assessment


IN_ONE = {
    "a function is handed over": ("(g) => g(1)", "console.assert(f((x) => x + 1) === 2)"),
    "a function of theirs is handed over": (
        "(g) => g(1)",
        "const g = (x) => x + 1\nconsole.assert(f(g) === 2)",
    ),
}


@pytest.mark.parametrize(("solution", "tests"), IN_ONE.values(), ids=IN_ONE.keys())
async def test_tests_that_need_more_than_data_run_with_the_solution(
    app: App, solution: str, tests: str
) -> None:
    assessment = await judged(app, f"const f = {solution}\n", tests)
    assert assessment.verdict is Verdict.PASSED, assessment
    assert assessment.integrity < Integrity.ISOLATED


async def test_tests_that_turn_out_not_to_run_apart_run_with_the_solution(app: App) -> None:
    tests = "const given = new WeakMap()\nconsole.assert(f(given) === 'object')"
    solution = "const f = (x) => typeof x\n"
    assessment = await judged(app, solution, tests)
    assert (assessment.verdict, assessment.reward) == (Verdict.PASSED, 1.0), assessment
    assert assessment.integrity < Integrity.ISOLATED


async def test_tests_that_never_call_are_invalid_where_they_must_run_apart(app: App) -> None:
    tests = "if (1 > 9) f(1)"
    assessment = await judged(app, "const f = 1", tests, require_integrity=Integrity.ISOLATED)
    assert (assessment.verdict, assessment.reward) == (Verdict.INVALID_TASK, None)


async def test_each_assertion_counts_by_itself(app: App) -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.FRACTION)
    tests = "".join(f"console.assert(f({n}) === {n})\n" for n in range(4))
    half = await judged(app, "const f = (x) => x % 2", tests, reward_policy=policy)
    assert (half.reward, half.verdict) == (0.5, Verdict.FAILED), half
    dies = "const f = (x) => x < 2 ? x : process.exit(0)"
    died = await judged(app, dies, tests, reward_policy=policy)
    outcomes = [test.outcome for test in died.tests]
    passed, error, unrun = TestOutcome.PASSED, TestOutcome.ERROR, TestOutcome.NOT_RUN
    assert outcomes == [passed, passed, error, unrun]
    assert died.reward == 0.5


async def test_what_does_not_compile_is_a_compile_error(app: App) -> None:
    for solution in ("const f = (x) => {", "const f = 1; const f = 2", "import x from"):
        assessment = await judged(app, solution, "console.assert(f(1) === 1)")
        assert assessment.verdict is Verdict.COMPILE_ERROR, assessment
        assert "SyntaxError" in assessment.message
