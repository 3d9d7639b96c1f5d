"""Test files of frameworks of other languages, with the real compilers in real containers.

A run takes some of the rows; REWARD_SERVER_TEST_ALL=1 takes all.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from reward_server.app import App
from reward_server.domain import (
    Assessment,
    Extraction,
    Integrity,
    Limits,
    RewardPolicy,
    RewardPolicyKind,
    Submission,
    TestOutcome,
    UnitTests,
    Verdict,
)
from reward_server.languages import load_languages
from tests.support.sampling import TAKES_ALL, sampled, times

from .suites import (
    JAVA_EQUAL_TO_ALL,
    JAVA_ON_DEMAND,
    JAVA_PLAIN,
    JAVA_SHADOWS,
    SUITES,
    Suite,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

CHEAT_SECONDS = {"javascript": 8.0}  # of wall time, which one of them uses up
CHEATS = [
    pytest.param(suite, text, id=f"{suite.language}-{name}")
    for suite in SUITES
    for name, text in suite.cheats.items()
]
of_each = pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.framework.name.lower())
of_some = pytest.mark.parametrize("suite", sampled(SUITES, 2), ids=lambda suite: suite.language)


async def judge(
    app: App,
    suite: Suite,
    text: str,
    *,
    files: tuple[tuple[str, str], ...] = (),
    further: tuple[tuple[str, bytes], ...] = (),
    policy: RewardPolicy = RewardPolicy(),  # noqa: B008  # it is immutable
    cpu_seconds: float = 10.0,
    wall_seconds: float | None = None,
) -> Assessment:
    language = load_languages().find(suite.language)
    assert language.unit is not None
    limits = replace(language.default_limits(Limits()), cpu_time_seconds=cpu_seconds)
    if wall_seconds is not None:
        limits = replace(limits, wall_time_seconds=wall_seconds)
    return await app.evaluation.score(
        Submission(
            completion=text,
            files=further,
            language=suite.language,
            tests=UnitTests(
                framework=suite.framework,
                files=files or suite.files,
                solution_path=language.unit.solution,
            ),
            limits=limits,
            extraction=Extraction.NONE,
            reward_policy=policy,
        )
    )


@pytest.mark.promise(
    "Files of JUnit 5, `node:test`, `go test` and `cargo test` are judged test by test.",
    "Languages",
)
@of_each
async def test_a_right_solution_passes_test_by_test(suite: Suite, app: App) -> None:
    said = await judge(app, suite, suite.right)
    assert (said.verdict, said.reward) == (Verdict.PASSED, 1.0), said
    assert said.integrity is Integrity.SHARED
    passed = tuple(test for test in said.tests if test.outcome is TestOutcome.PASSED)
    assert tuple(test.name for test in passed) == suite.names
    assert all(0.0 <= test.wall_time_seconds < 10.0 for test in passed)
    [skipped] = [test for test in said.tests if test not in passed]
    assert skipped.outcome is TestOutcome.SKIPPED


@of_each
async def test_a_wrong_solution_fails_the_tests_that_it_fails(suite: Suite, app: App) -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.FRACTION)
    said = await judge(app, suite, suite.wrong, policy=policy)
    assert said.verdict is Verdict.FAILED
    outcomes = [test.outcome for test in said.tests if test.name in suite.names]
    assert outcomes[0] is TestOutcome.PASSED
    assert TestOutcome.FAILED in outcomes
    assert 0.0 < said.reward < 1.0


@of_some
async def test_a_solution_that_ends_itself_crashed(suite: Suite, app: App) -> None:
    said = await judge(app, suite, suite.crashing)
    assert (said.verdict, said.reward) == (Verdict.RUNTIME_ERROR, 0.0)
    assert "status 3" in said.message


@of_some
async def test_a_solution_without_end_meets_its_limit(suite: Suite, app: App) -> None:
    said = await judge(app, suite, suite.endless, cpu_seconds=2.0)
    assert (said.verdict, said.reward) == (Verdict.TIME_LIMIT_EXCEEDED, 0.0)


@of_some
async def test_what_does_not_compile_is_said_so(suite: Suite, app: App) -> None:
    said = await judge(app, suite, f"{suite.right}\n(")
    assert said.verdict is Verdict.COMPILE_ERROR


@pytest.mark.parametrize(("suite", "text"), sampled(CHEATS, 4))
async def test_a_cheat_earns_nothing(suite: Suite, text: str, app: App) -> None:
    for _ in range(times(2, by_default=1)):  # whatever the secrets
        said = await judge(app, suite, text, wall_seconds=CHEAT_SECONDS.get(suite.language))
        assert said.verdict in (Verdict.FAILED, Verdict.RUNTIME_ERROR, Verdict.COMPILE_ERROR)
        assert said.reward == 0.0


NODE_TABLE = """const test = require('node:test');
const assert = require('node:assert');
const { add } = require('./solution');

test('table', () => {
  for (const [a, b, want] of [[1, 2, 3], [2, 2, 4]]) {
    assert.strictEqual(add(a, b), want);
  }
});
"""
JUNIT_TABLE = """import static org.junit.jupiter.api.Assertions.assertEquals;
import org.junit.jupiter.api.Test;

class AddTest {
    @Test
    void table() {
        int[][] rows = {{1, 2, 3}, {2, 2, 4}};
        for (int[] row : rows) assertEquals(row[2], Add.add(row[0], row[1]));
    }
}
"""
OWN_ASSERTIONS = b"""package org.junit.jupiter.api;

public class Assertions {
    public static void assertEquals(int a, int b) { }
}
"""


async def test_assertions_cannot_be_replaced_where_nothing_else_tells(app: App) -> None:
    node, java = (
        next(one for one in SUITES if one.language == name) for name in ("javascript", "java")
    )
    files = (("table.test.js", NODE_TABLE),)
    for asserts in ("require('assert')", "require('node:assert/strict')"):
        text = f"{asserts}.strictEqual = () => {{}}; exports.add = (a, b) => %s;"
        assert (await judge(app, node, text % "0", files=files)).reward == 0.0
        assert (await judge(app, node, text % "a + b", files=files)).reward == 1.0
    files, further = (
        (("AddTest.java", JUNIT_TABLE),),
        (("org/junit/jupiter/api/Assertions.java", OWN_ASSERTIONS),),
    )
    text = "public class Add { static int add(int a, int b) { return %s; } }"
    assert (await judge(app, java, text % "0", files=files, further=further)).reward == 0.0
    assert (await judge(app, java, text % "a + b", files=files, further=further)).reward == 1.0


PACKAGES = ("package com.example;", "")


async def judge_on_demand(
    app: App, text: str, shadow: tuple[str, str], package: str = "package com.example;"
) -> Assessment:
    java = next(one for one in SUITES if one.language == "java")
    text = (JAVA_PLAIN % (text, *shadow)).replace("package com.example;", package)
    tests = JAVA_ON_DEMAND.replace("package com.example;", package)
    if not package:
        tests = tests.replace("import static com.example.Calc.*;", "")
    return await judge(app, java, text, files=(("CalcTest.java", tests),))


@pytest.mark.parametrize(
    ("shadow", "package"),
    [
        (shadow, package)
        for number, shadow in enumerate(sampled(list(JAVA_SHADOWS), 2))
        for package in (PACKAGES if TAKES_ALL else [PACKAGES[number % len(PACKAGES)]])
    ],
)
async def test_no_name_of_a_solution_stands_for_junits(shadow: str, package: str, app: App) -> None:
    said = await judge_on_demand(app, "0", JAVA_SHADOWS[shadow], package)
    assert (said.verdict, said.reward) == (Verdict.FAILED, 0.0), said
    said = await judge_on_demand(app, "a + b", JAVA_SHADOWS[shadow], package)
    assert (said.verdict, said.reward) == (Verdict.PASSED, 1.0), said
    assert said.integrity is Integrity.SHARED


async def test_assertions_of_a_solutions_package_pass_no_table(app: App) -> None:
    java = next(one for one in SUITES if one.language == "java")
    tests = JUNIT_TABLE.replace("org.junit.jupiter.api.Test;", "org.junit.jupiter.api.*;")
    files = (("AddTest.java", tests.replace(") assertEquals", ") Assertions.assertEquals")),)
    text = "public class Add { static int add(int a, int b) { return %s; } }\n"
    text += "class Assertions { static void assertEquals(int a, int b) { } }\n"
    assert (await judge(app, java, text % "0", files=files)).reward == 0.0
    said = await judge(app, java, text % "a + b", files=files)
    assert (said.reward, said.integrity) == (1.0, Integrity.SHARED), said


@pytest.mark.parametrize("shadow", JAVA_EQUAL_TO_ALL)
async def test_expected_values_that_equal_everything_earn_nothing(shadow: str, app: App) -> None:
    said = await judge_on_demand(app, "a > 5 ? 0 : a + b", JAVA_EQUAL_TO_ALL[shadow])
    assert (said.verdict, said.reward) == (Verdict.FAILED, 0.0), said


NODE_FORGER = r"""const fs = require('node:fs');
const [made] = fs.readdirSync('node_modules');
const harness = fs.readFileSync(`node_modules/${made}/index.js`, 'utf8');
const [, tag] = /`\\n([0-9a-f]{16})-/.exec(harness);
const tell = (text) => fs.writeSync(1, `\n${tag}${text}\n`);
const made_up = (name) => { tell(`+${name}\t${name}`); tell(`-p\t0.1\t${name}\t`); };
for (let i = 0; i < 99; i++) made_up(`early${i}`);
let calls = 0;
exports.add = () => {
  for (let i = 0; i < 99; i++) made_up(`late${i}`);
  if (calls++ === 0) {
    // The first test is said to be over, then another to run while its assertion fails.
    tell(`-p\t0.1\tadds\t`);
    tell(`+none\tnone`);
    Promise.resolve().then(() => tell(`+adds\tadds`));
  }
  return 0;
};
"""


@pytest.mark.parametrize("kind", [RewardPolicyKind.FRACTION, RewardPolicyKind.FIRST_K])
async def test_results_that_a_solution_makes_up_earn_nothing(
    kind: RewardPolicyKind, app: App
) -> None:
    suite = next(one for one in SUITES if one.language == "javascript")
    first_k = 1 if kind is RewardPolicyKind.FIRST_K else 0
    said = await judge(app, suite, NODE_FORGER, policy=RewardPolicy(kind=kind, first_k=first_k))
    assert (said.verdict, said.reward) == (Verdict.FAILED, 0.0), said.tests


NODE_MODULE = """import test, { beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { add } from './solution.js';

let calls = 0;
beforeEach(() => { calls += 1; });
test('adds', (t, done) => { setTimeout(() => { assert.equal(add(1, 2), 3); done(); }, 1); });
test('rejects', async () => { await assert.rejects(async () => add(), TypeError); });
"""
RUST_PANICS = """#[test]
#[should_panic(expected = "zero")]
fn panics() { solution::divide(1, 0); }

#[test]
fn errs() -> Result<(), String> { solution::checked(1).map(|_| ()) }
"""


# Tests that run at once end in another order than they begin in.
NODE_AT_ONCE = """
const { test, describe, it } = require('node:test');
const assert = require('node:assert');
const S = require('./solution');
describe('s', { concurrency: true }, () => {
  it('long', async () => { assert.strictEqual(await S.slow(1, 50), 1); });
  it('short', async () => { assert.strictEqual(await S.slow(2, 5), 2); });
  it('nothing', async () => { assert.strictEqual(await S.slow(undefined, 5), undefined); });
});
test('t', { concurrency: 2 }, async (t) => {
  await Promise.all([
    t.test('a', async () => { assert.strictEqual(await S.slow(1, 5), 1); }),
    t.test('b', async () => { assert.strictEqual(await S.slow(2, 50), 2); }),
  ]);
});
"""


async def test_modules_callbacks_and_rejections(app: App) -> None:
    suite = next(one for one in SUITES if one.language == "javascript")
    right = (
        "export function add(a, b) { if (b === undefined) throw new TypeError(); return a + b; }"
    )
    said = await judge(app, suite, right, files=(("add.test.js", NODE_MODULE),))
    assert (said.verdict, said.integrity) == (Verdict.PASSED, Integrity.SHARED), said
    back = (
        "const { test } = require('node:test');\nconst back = require('./solution');\n"
        + "".join(
            f"test('{name}', (t, done) => {{ back.{name}(done); }});\n"
            for name in ("once", "twice", "caught")
        )
    )
    solution = """exports.once = (done) => done();
    exports.twice = (done) => { done(); done(); };
    exports.caught = (done) => { done(); try { done(); } catch { } };"""
    said = await judge(app, suite, solution, files=(("back.test.js", back),))
    assert [test.outcome.name for test in said.tests] == ["PASSED", "FAILED", "FAILED"], said
    waits = (
        "const sleep = (ms) => new Promise((r) => setTimeout(r, ms));\n"
        "exports.slow = async (x, ms) => { await sleep(ms); return x; };"
    )
    said = await judge(app, suite, waits, files=(("slow.test.js", NODE_AT_ONCE),))
    assert said.verdict is Verdict.PASSED, said
    wrong = waits.replace("return x", "return x && 1")
    said = await judge(app, suite, wrong, files=(("slow.test.js", NODE_AT_ONCE),))
    assert said.verdict is Verdict.FAILED, said
    wrong = "export function add(a, b) { return a + b; }"
    said = await judge(app, suite, wrong, files=(("add.test.js", NODE_MODULE),))
    assert [test.outcome.name for test in said.tests] == ["PASSED", "FAILED"]


async def test_panics_that_should_be_and_results(app: App) -> None:
    suite = next(one for one in SUITES if one.language == "rust")
    text = """pub fn divide(a: i64, b: i64) -> i64 {{ if b == 0 {{ {} }} else {{ a / b }} }}
pub fn checked(_: i64) -> Result<i64, String> {{ {} }}
"""
    files = (("tests/it.rs", RUST_PANICS),)
    said = await judge(app, suite, text.format('panic!("zero")', "Ok(1)"), files=files)
    assert (said.verdict, said.integrity) == (Verdict.PASSED, Integrity.SHARED), said
    said = await judge(app, suite, text.format("0", 'Err("no".into())'), files=files)
    assert {test.outcome for test in said.tests} == {TestOutcome.FAILED}
    said = await judge(app, suite, text.format('panic!("other")', "Ok(1)"), files=files)
    assert said.verdict is Verdict.FAILED
