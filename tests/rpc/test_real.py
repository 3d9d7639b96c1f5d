"""The whole way, from a channel to real sandboxes and back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import grpc
import pytest
import pytest_asyncio

from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.app import App, running_app
from reward_server.settings import Settings
from tests.rpc.conftest import refused

pytestmark = pytest.mark.asyncio(loop_scope="module")

ENDLESS = "def f(x):\n    while True: pass\n"
RIGHT = "def f(x):\n    return x + 1\n"


@dataclass(frozen=True, kw_only=True)
class Real:
    """A server over real sandboxes."""

    app: App
    stub: pb_grpc.RewardServiceAsyncStub

    async def until_idle(self) -> None:
        """Returns once nothing runs and nobody waits."""
        scheduler = self.app.scheduler
        while scheduler.admitted or scheduler.running:  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(0.001)

    async def until_running(self, count: int) -> None:
        """Returns once that many executions run."""
        while self.app.scheduler.running != count:  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(0.001)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real() -> AsyncIterator[Real]:
    settings = Settings(port=0, workers=2, drain_seconds=0)
    async with (
        running_app(settings) as app,
        grpc.aio.insecure_channel(app.address) as channel,
    ):
        yield Real(app=app, stub=pb_grpc.RewardServiceStub(channel))


def function_request(completion: str, argument: int = 20) -> pb.ScoreRequest:
    asserts = [f"assert f({argument}) == {argument + 1}"]
    tests = pb.FunctionTests(entry_point="f", asserts=asserts)
    return pb.ScoreRequest(completion=completion, function=tests)


async def test_every_kind_of_tests_is_judged(real: Real) -> None:
    call = pb.CallTests(
        entry_point="Solution().g", cases=[pb.CallCase(args_json="[[1, 2]]", expected_json="3")]
    )
    stdio = pb.StdioTests(cases=[pb.StdioCase(stdin=b"4\n", expected_stdout=b"8\n")])
    method = "class Solution:\n    def g(self, x):\n        return sum(x)\n"
    told = "class Solution:\n    def g(self, x: List[int]) -> int:\n"
    requests = [
        function_request(RIGHT),
        function_request("def f(x): return x"),
        pb.ScoreRequest(prompt=told, completion=method, call=call),
        pb.ScoreRequest(completion="print(2 * int(input()))", stdio=stdio),
        pb.ScoreRequest(completion="print(3 * int(input()))", stdio=stdio),
    ]
    answers = await asyncio.gather(*(real.stub.Score(request) for request in requests))
    assert [(answer.verdict, answer.reward) for answer in answers] == [
        (pb.VERDICT_PASSED, 1.0),
        (pb.VERDICT_FAILED, 0.0),
        (pb.VERDICT_PASSED, 1.0),
        (pb.VERDICT_PASSED, 1.0),
        (pb.VERDICT_FAILED, 0.0),
    ]
    assert {answer.integrity for answer in answers} == {pb.INTEGRITY_ISOLATED}
    assert all(answer.usage.cpu_time_seconds > 0 for answer in answers)


@pytest.mark.promise(
    "A program that does not compile gets `COMPILE_ERROR` with the interpreter's message.",
    "Verdicts",
)
async def test_a_program_that_does_not_compile_is_told_from_one_that_raises(real: Real) -> None:
    stdio = pb.StdioTests(cases=[pb.StdioCase(stdin=b"4\n", expected_stdout=b"8\n")] * 2)
    broken, raising = "print(2 *\n", "print(8)\nraise SyntaxError('no')\n"
    requests = [pb.ScoreRequest(completion=text, stdio=stdio) for text in (broken, raising)]
    answers = await asyncio.gather(*(real.stub.Score(request) for request in requests))
    assert [(answer.verdict, answer.reward) for answer in answers] == [
        (pb.VERDICT_COMPILE_ERROR, 0.0),
        (pb.VERDICT_RUNTIME_ERROR, 0.0),
    ]
    assert answers[0].message == "SyntaxError: '(' was never closed (solution.py, line 1)"
    assert answers[0].usage.executions == 1


@pytest.mark.promise("Broken tests, checkers and interactors make the task invalid.", "Verdicts")
async def test_a_checker_program_that_does_not_compile_makes_the_task_invalid(real: Real) -> None:
    program = "import sys\nsys.exit(0 if"
    checker = pb.Checker(kind=pb.CHECKER_KIND_PROGRAM, program=program)
    case = pb.StdioCase(stdin=b"4\n", expected_stdout=b"8\n")
    stdio = pb.StdioTests(cases=[case], checker=checker)
    answer = await real.stub.Score(pb.ScoreRequest(completion="print(8)", stdio=stdio))
    assert answer.verdict == pb.VERDICT_INVALID_TASK
    assert not answer.HasField("reward")
    assert answer.message.endswith(": SyntaxError: '(' was never closed (solution.py, line 2)")


async def test_a_client_that_vanishes_leaves_nothing_running(real: Real) -> None:
    channel = grpc.aio.insecure_channel(real.app.address)
    stub: pb_grpc.RewardServiceAsyncStub = pb_grpc.RewardServiceStub(channel)
    batch = pb.ScoreBatchRequest(
        requests=[function_request(ENDLESS, number) for number in range(10)]
    )
    reading = asyncio.ensure_future(anext(aiter(stub.ScoreBatch(batch))))
    await real.until_running(2)
    await channel.close(None)
    await real.until_idle()
    with pytest.raises((asyncio.CancelledError, grpc.aio.AioRpcError)):
        await reading


# -------------------------------------------------------------------------------------- files

HELPER = {"pkg/__init__.py": b"", "pkg/util.py": b"def one(): return 1"}
WITH_HELPER = "from pkg.util import one\ndef f(x): return x + one() + len(open('d/n').read())"


@pytest.mark.parametrize("kind", ["function", "call", "stdio"])
async def test_a_completion_of_several_files_finds_them_and_the_tasks_data(
    real: Real, kind: str
) -> None:
    case = pb.StdioCase(stdin=b"20", expected_stdout=b"23")
    call = pb.CallCase(args_json="[20]", expected_json="23")
    tests = {
        "function": pb.FunctionTests(asserts=["assert f(20) == 23"]),
        "call": pb.CallTests(entry_point="f", cases=[call]),
        "stdio": pb.StdioTests(cases=[case, case]),
    }
    request = pb.ScoreRequest(
        completion=WITH_HELPER + ("\nprint(f(int(input())))" if kind == "stdio" else ""),
        files=HELPER,
        data_files={"d/n": b"42"},
        **{kind: tests[kind]},  # type: ignore[arg-type]  # fields by name
    )
    response = await real.stub.Score(request)
    assert response.verdict == pb.VERDICT_PASSED, response.message
    del request.files["pkg/util.py"]
    assert (await real.stub.Score(request)).verdict == pb.VERDICT_RUNTIME_ERROR


async def test_a_compiled_program_of_several_files_is_judged(real: Real) -> None:
    request = pb.ScoreRequest(
        language="c",
        completion='#include "twice.h"\n#include <stdio.h>\nint main(void)'
        '{ int n = 0; fscanf(fopen("n", "r"), "%d", &n); printf("%d", twice(n)); }',
        files={"twice.h": b"int twice(int);", "twice.c": b"int twice(int n) { return 2 * n; }"},
        data_files={"n": b"21"},
        stdio=pb.StdioTests(cases=[pb.StdioCase(expected_stdout=b"42")]),
    )
    response = await real.stub.Score(request)
    assert response.verdict == pb.VERDICT_PASSED, response.message
    request.files["twice.c"] = b"int twice(int n) { return 3 * n; }"
    assert (await real.stub.Score(request)).verdict == pb.VERDICT_FAILED
    request.files["twice.c"] = b"int twice(int n) { return }"
    failed = await real.stub.Score(request)
    assert failed.verdict == pb.VERDICT_COMPILE_ERROR
    assert "twice.c:1:" in failed.message


async def test_a_program_of_several_files_is_run(real: Real) -> None:
    request = pb.ExecuteRequest(
        source="import os, other\nprint(other.x, open('d').read())",
        files={"other.py": b"x = 1"},
        data_files={"d": b"2"},
    )
    assert (await real.stub.Execute(request)).stdout.data == b"1 2\n"


# --------------------------------------------------------------------------------- test files


async def test_test_files_are_judged_and_told_test_by_test(real: Real) -> None:
    text = (
        "import unittest\nfrom pkg.solution import f\n"
        "class TestF(unittest.TestCase):\n"
        "    def test_right(self):\n        self.assertEqual(f(1), 2)\n"
        "    def test_wrong(self):\n        self.assertEqual(f(1), 3)\n"
    )
    tests = pb.UnitTests(
        framework=pb.FRAMEWORK_UNITTEST,
        files={"tests/test_f.py": text},
        solution_path="pkg/solution.py",
    )
    policy = pb.RewardPolicy(kind=pb.REWARD_POLICY_KIND_FRACTION)
    asked = pb.ScoreRequest(completion=RIGHT, unit=tests, reward_policy=policy)
    response = await real.stub.Score(asked)
    assert [(test.name, test.outcome) for test in response.tests] == [
        ("tests/test_f.py::TestF::test_right", pb.TEST_OUTCOME_PASSED),
        ("tests/test_f.py::TestF::test_wrong", pb.TEST_OUTCOME_FAILED),
    ]
    assert (response.verdict, response.reward) == (pb.VERDICT_FAILED, 0.5)
    assert response.integrity == pb.INTEGRITY_ISOLATED


async def test_a_framework_that_the_sandboxes_lack_is_refused_and_not_offered(real: Real) -> None:
    languages = (await real.stub.GetServerInfo(pb.GetServerInfoRequest())).languages
    [python] = [language for language in languages if language.name == "python"]
    assert list(python.frameworks) == ["unittest"]
    assert "unit" in python.test_kinds
    tests = pb.UnitTests(framework=pb.FRAMEWORK_PYTEST, files={"test_f.py": "import solution"})
    error = await refused(real.stub.Score(pb.ScoreRequest(completion=RIGHT, unit=tests)))
    assert error.code is grpc.StatusCode.FAILED_PRECONDITION
    assert "FRAMEWORK_PYTEST" in error.details
