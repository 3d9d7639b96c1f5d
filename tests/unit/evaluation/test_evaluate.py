"""A submission becomes the right executions, and what they come to the right answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from reward_server.domain import (
    Assessment,
    CallCase,
    CallJudgement,
    CallTests,
    CapturedStream,
    Checker,
    CheckerKind,
    Ending,
    Execution,
    Extraction,
    Framework,
    FunctionJudgement,
    FunctionTests,
    Integrity,
    Job,
    LimitKind,
    Limits,
    Placement,
    Program,
    Provenance,
    RewardPolicy,
    RewardPolicyKind,
    StdioCase,
    StdioTests,
    Submission,
    Termination,
    TerminationKind,
    TestOutcome,
    TestResult,
    Tests,
    UnitJudgement,
    UnitTests,
    Usage,
    Verdict,
    Work,
)
from reward_server.errors import (
    DeadlineError,
    InvalidRequestError,
    SandboxError,
    UnsupportedError,
)
from reward_server.evaluation import Evaluation
from reward_server.evaluation.deduplication import KEPT_ANSWER_BYTES, fingerprint
from reward_server.evaluation.graders.outputs import KEPT_OUTPUT_BYTES
from reward_server.evaluation.graders.python_test_files import plan
from reward_server.languages import load_languages
from reward_server.scheduler import Scheduler
from tests.support.clock import Clock

EXITED = Termination(kind=TerminationKind.EXITED)
PROVENANCE = Provenance(server_version="1", backend="fake")
FRACTION = RewardPolicy(kind=RewardPolicyKind.FRACTION)
ASSERTS = FunctionTests(asserts=("assert f(1) == 2", "assert f(2) == 3"))

Behaviour = Callable[[Job], Execution]


def done(*outcomes: TestOutcome, ending: Ending = Ending.COMPLETED, **rest: object) -> Execution:
    tests = tuple(
        TestResult(name=f"case {number}", outcome=outcome, message="why")
        for number, outcome in enumerate(outcomes, start=1)
    )
    usage = Usage(cpu_time_seconds=1.0, wall_time_seconds=2.0, peak_memory_bytes=100)
    execution = Execution(ending=ending, termination=EXITED, tests=tests, usage=usage)
    return replace(execution, **rest)  # type: ignore[arg-type]  # fields by name


def wrote(text: bytes, **rest: object) -> Execution:
    return done(stdout=CapturedStream(data=text, size_bytes=len(text)), **rest)  # type: ignore[arg-type]  # as above


def passing(job: Job) -> Execution:
    match job.work:
        case FunctionJudgement(tests=tests):
            return done(*[TestOutcome.PASSED] * max(1, len(tests.asserts)))
        case CallJudgement(tests=tests):
            return done(*[TestOutcome.PASSED] * len(tests.cases))
        case Program() as work:
            return wrote(work.stdin)
        case UnitJudgement():
            return done(TestOutcome.PASSED)


@dataclass(kw_only=True)
class Executor:
    """Behaves as the test says; `gate`, where there is one, holds every execution back."""

    slots: int = 8
    behaviour: Behaviour = passing
    gate: asyncio.Event | None = None
    started: list[Job] = field(default_factory=list)
    killed: list[Job] = field(default_factory=list)
    running: int = 0
    peak: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, job: Job) -> Execution:
        self.started.append(job)
        self.running += 1
        self.peak = max(self.peak, self.running)
        self.begun.set()
        try:
            if self.gate:
                await self.gate.wait()
            await asyncio.sleep(0)
            return self.behaviour(job)
        except asyncio.CancelledError:
            self.killed.append(job)
            raise
        finally:
            self.running -= 1

    @property
    def works(self) -> list[Work]:
        return [job.work for job in self.started]


def evaluation(executor: Executor, *, capacity: int = 64, **rest: object) -> Evaluation:
    settings: dict[str, object] = {"provenance": {"python": PROVENANCE}, **rest}
    scheduler = Scheduler(executor, capacity=capacity)
    return Evaluation(scheduler, load_languages(), **settings)  # type: ignore[arg-type]  # by name


def submission(tests: Tests = ASSERTS, **rest: object) -> Submission:
    completion = "def f(x):\n    return x + 1\n"
    return replace(Submission(completion=completion, tests=tests), **rest)  # type: ignore[arg-type]  # by name


def calls(*weights: float) -> CallTests:
    return CallTests(
        entry_point="f",
        cases=tuple(
            CallCase(args_json=f"[{index}]", expected_json="0", weight=weight)
            for index, weight in enumerate(weights)
        ),
    )


def cases(count: int, checker: Checker = Checker(), weight: float = 1.0) -> StdioTests:  # noqa: B008
    numbers = [str(index).encode() for index in range(count)]
    return StdioTests(
        cases=tuple(
            StdioCase(stdin=number, expected_stdout=number, weight=weight) for number in numbers
        ),
        checker=checker,
    )


async def score(behaviour: Behaviour, wanted: Submission) -> tuple[Assessment, Executor]:
    executor = Executor(behaviour=behaviour)
    return await evaluation(executor).score(wanted), executor


def outcomes(assessment: Assessment) -> str:
    return "".join(
        "-" if test.outcome is TestOutcome.NOT_RUN else test.outcome.name[0]
        for test in assessment.tests
    )


def stdin_of(job: Job) -> int:
    assert isinstance(job.work, Program)
    return int(job.work.stdin)


# -------------------------------------------------------------------------------- functions


async def test_function_tests_take_one_execution() -> None:
    wanted = submission(id="a", limits=Limits(cpu_time_seconds=3), language="PY")
    assessment, executor = await score(passing, wanted)
    (job,) = executor.started
    assert job.language == "python"
    assert job.limits.cpu_time_seconds == 3
    assert isinstance(job.work, FunctionJudgement)
    assert (job.work.source, job.work.tests) == (wanted.completion, ASSERTS)
    assert job.work.stop_at_first_failure
    assert job.work.crossing.names == {"f"}
    assert assessment.id == "a"
    assert assessment.verdict is Verdict.PASSED
    assert assessment.reward == 1.0
    assert assessment.integrity is Integrity.ISOLATED
    assert assessment.provenance == PROVENANCE
    assert assessment.termination == EXITED
    assert not assessment.deduplicated


async def test_a_policy_that_needs_every_test_runs_every_test() -> None:
    behaviour = lambda _: done(TestOutcome.FAILED, TestOutcome.PASSED)  # noqa: E731
    assessment, executor = await score(behaviour, submission(reward_policy=FRACTION))
    (work,) = executor.works
    assert isinstance(work, FunctionJudgement)
    assert not work.stop_at_first_failure
    assert assessment.reward == 0.5
    assert assessment.verdict is Verdict.FAILED


async def test_the_program_and_the_prompt_are_what_extraction_makes_of_them() -> None:
    wanted = submission(
        FunctionTests(entry_point="f", test_code="def check(c): assert c(1) > math.pi"),
        prompt="import math\ndef f(x):\n",
        completion="<think>no</think>```python\ndef f(x):\n    return math.pi\n```",
    )
    _, executor = await score(passing, wanted)
    (work,) = executor.works
    assert isinstance(work, FunctionJudgement)
    assert work.source == "import math\ndef f(x):\n    return math.pi\n"
    assert work.crossing.helpers == "import math"


async def test_the_asserts_tell_which_block_is_meant_where_no_entry_point_is_given() -> None:
    completion = "```python\ndef f(x):\n    return x\n```\n```python\nprint(f(1))\n```"
    _, executor = await score(passing, submission(completion=completion))
    (work,) = executor.works
    assert isinstance(work, FunctionJudgement)
    assert work.source == "def f(x):\n    return x\n"


async def test_a_completion_without_the_fence_that_was_asked_for_is_not_run() -> None:
    wanted = submission(
        extraction=Extraction.MARKDOWN, reward_policy=RewardPolicy(format_bonus=0.2)
    )
    assessment, executor = await score(passing, wanted)
    assert executor.started == []
    assert assessment.verdict is Verdict.COMPILE_ERROR
    assert assessment.reward == 0.0
    assert assessment.usage.executions == 0
    assert outcomes(assessment) == "--"


async def test_fenced_code_that_does_not_compile_earns_the_format_bonus() -> None:
    wanted = submission(
        completion="```python\ndef f(\n```", reward_policy=RewardPolicy(format_bonus=0.2)
    )
    assessment, _ = await score(lambda _: done(ending=Ending.COMPILE_ERROR), wanted)
    assert assessment.verdict is Verdict.COMPILE_ERROR
    assert assessment.reward == 0.2
    assert outcomes(assessment) == "--"


async def test_an_invalid_task_has_no_reward() -> None:
    behaviour = lambda _: done(ending=Ending.INVALID_TASK, message="no tests")  # noqa: E731
    assessment, _ = await score(behaviour, submission())
    assert assessment.verdict is Verdict.INVALID_TASK
    assert assessment.reward is None
    assert assessment.message == "no tests"


# ------------------------------------------------------------------------------------ calls


def dying_at(*fatal: str) -> Behaviour:
    """Behaves as a program that passes every call but dies at some arguments."""

    def behave(job: Job) -> Execution:
        assert isinstance(job.work, CallJudgement)
        arguments = [case.args_json for case in job.work.tests.cases]
        found = [index for index, text in enumerate(arguments) if text in fatal]
        if not found:
            return done(*[TestOutcome.PASSED] * len(arguments))
        rest = [TestOutcome.NOT_RUN] * (len(arguments) - found[0] - 1)
        passed = [TestOutcome.PASSED] * found[0]
        return done(*passed, TestOutcome.ERROR, *rest, ending=Ending.CRASHED, signals={"exit": 1})

    return behave


async def test_calls_take_one_execution_while_the_program_lives() -> None:
    assessment, executor = await score(passing, submission(calls(1, 2, 3)))
    assert len(executor.started) == 1
    assert [test.weight for test in assessment.tests] == [1, 2, 3]
    assert assessment.verdict is Verdict.PASSED


async def test_calls_behind_a_fatal_one_go_on_in_fresh_executions() -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.WEIGHTED)
    wanted = submission(calls(1, 1, 2, 1, 4, 1), reward_policy=policy)
    assessment, executor = await score(dying_at("[1]", "[3]"), wanted)
    asked = [
        [case.args_json for case in work.tests.cases]
        for work in executor.works
        if isinstance(work, CallJudgement)
    ]
    assert asked == [["[0]", "[1]", "[2]", "[3]", "[4]", "[5]"], ["[2]", "[3]", "[4]", "[5]"],
                     ["[4]", "[5]"]]  # fmt: skip
    assert outcomes(assessment) == "PEPEPP"
    assert [test.name for test in assessment.tests] == [f"case {n}" for n in range(1, 7)]
    assert assessment.reward == 0.8
    assert assessment.verdict is Verdict.RUNTIME_ERROR
    assert assessment.usage.executions == 3
    assert assessment.usage.cpu_time_seconds == 3.0
    assert assessment.usage.peak_memory_bytes == 100
    assert assessment.signals == {"exit": 2}


async def test_a_program_that_dies_at_every_call_takes_one_execution_a_call_and_no_more() -> None:
    wanted = submission(calls(1, 1, 1, 1), reward_policy=FRACTION)
    _, executor = await score(dying_at("[0]", "[1]", "[2]", "[3]"), wanted)
    assert len(executor.started) == 4


@pytest.mark.parametrize(
    "ending", [Ending.CRASHED, Ending.LIMIT, Ending.LOAD_ERROR, Ending.COMPILE_ERROR]
)
async def test_an_execution_that_decided_no_call_is_not_repeated(ending: Ending) -> None:
    wanted = submission(calls(1, 1), reward_policy=FRACTION)
    assessment, executor = await score(lambda _: done(ending=ending), wanted)
    assert len(executor.started) == 1
    assert outcomes(assessment) == "--"
    assert assessment.reward == 0.0


async def test_only_the_first_k_calls_are_made() -> None:
    policy = RewardPolicy(kind=RewardPolicyKind.FIRST_K, first_k=2)
    assessment, executor = await score(passing, submission(calls(1, 1, 1), reward_policy=policy))
    (work,) = executor.works
    assert isinstance(work, CallJudgement)
    assert len(work.tests.cases) == 2
    assert outcomes(assessment) == "PP-"
    assert assessment.verdict is Verdict.PASSED
    assert assessment.reward == 1.0


async def test_a_method_s_class_is_what_the_tests_want() -> None:
    tests = replace(calls(1), entry_point="Solution().f")
    completion = "```python\nclass Solution: ...\n```\n```python\nSolution().f(1)\n```"
    _, executor = await score(passing, submission(tests, completion=completion))
    (work,) = executor.works
    assert isinstance(work, CallJudgement)
    assert work.source == "class Solution: ...\n"


# ------------------------------------------------------------------------------------ stdio


async def test_each_case_has_an_execution_of_its_own() -> None:
    assessment, executor = await score(passing, submission(cases(3)))
    assert [stdin_of(job) for job in executor.started] == [0, 1, 2]
    assert assessment.verdict is Verdict.PASSED
    assert assessment.stdout.data == b"2"
    assert assessment.usage.executions == 3
    assert [test.name for test in assessment.tests] == ["case 1", "case 2", "case 3"]


async def test_a_wrong_case_ends_it_where_one_failure_decides() -> None:
    behaviour = lambda job: wrote(b"0" if stdin_of(job) != 1 else b"no")  # noqa: E731
    assessment, executor = await score(behaviour, submission(cases(50)))
    assert assessment.verdict is Verdict.FAILED
    assert outcomes(assessment) == "PF" + "-" * 48
    assert len(executor.started) <= 5
    assert assessment.message == "case 2: line 1: expected '1', got 'no'"
    assert assessment.stdout.data == b"no"


async def test_every_case_counts_where_the_policy_needs_them_all() -> None:
    behaviour = lambda job: wrote(b"x") if stdin_of(job) % 2 else passing(job)  # noqa: E731
    assessment, executor = await score(behaviour, submission(cases(10), reward_policy=FRACTION))
    assert len(executor.started) == 10
    assert outcomes(assessment) == "PF" * 5
    assert assessment.reward == 0.5


async def test_cases_run_side_by_side_but_for_the_first() -> None:
    executor = Executor(gate=asyncio.Event())
    task = asyncio.create_task(evaluation(executor, parallelism=3).score(submission(cases(9))))
    await executor.begun.wait()
    assert executor.running == 1
    assert executor.gate is not None
    executor.gate.set()
    await task
    assert executor.peak == 3


async def test_the_first_wrong_case_decides_however_late_it_ends() -> None:
    other_ended = asyncio.Event()

    class Late(Executor):
        async def run(self, job: Job) -> Execution:
            if stdin_of(job) == 1:
                await other_ended.wait()
            execution = await super().run(job)
            if stdin_of(job) == 2:
                other_ended.set()
            return execution

    executor = Late(behaviour=lambda job: passing(job) if stdin_of(job) == 0 else wrote(b"no"))
    assessment = await evaluation(executor).score(submission(cases(9)))
    assert outcomes(assessment) == "PF-------"
    assert assessment.message.startswith("case 2")


async def test_cases_behind_a_wrong_one_are_killed() -> None:
    class Hanging(Executor):
        async def run(self, job: Job) -> Execution:
            if stdin_of(job) > 1:
                self.gate = asyncio.Event()
            return await super().run(job)

    executor = Hanging(behaviour=lambda job: wrote(b"0"))
    assessment = await evaluation(executor).score(submission(cases(4)))
    assert outcomes(assessment) == "PF--"
    assert executor.running == 0


@pytest.mark.parametrize(
    ("execution", "outcome", "verdict"),
    [
        (wrote(b"0", termination=replace(EXITED, value=3)), "E", Verdict.RUNTIME_ERROR),
        (wrote(b"0", ending=Ending.CRASHED), "E", Verdict.RUNTIME_ERROR),
        (
            wrote(b"0", ending=Ending.LIMIT, limits_hit=(LimitKind.CPU_TIME,)),
            "L",
            Verdict.TIME_LIMIT_EXCEEDED,
        ),
        (
            done(stdout=CapturedStream(data=b"0", size_bytes=9), limits_hit=(LimitKind.OUTPUT,)),
            "L",
            Verdict.OUTPUT_LIMIT_EXCEEDED,
        ),
        (wrote(b"0", ending=Ending.VIOLATION), "E", Verdict.SECURITY_VIOLATION),
    ],
)
async def test_right_output_of_a_program_that_ended_wrongly_is_no_pass(
    execution: Execution, outcome: str, verdict: Verdict
) -> None:
    assessment, _ = await score(lambda _: execution, submission(cases(1)))
    assert outcomes(assessment) == outcome
    assert assessment.verdict is verdict


async def test_output_is_compared_whole_and_kept_cut() -> None:
    text = b"1\n" * KEPT_OUTPUT_BYTES
    tests = StdioTests(cases=(StdioCase(stdin=b"", expected_stdout=text),) * 3)
    assessment, _ = await score(lambda _: wrote(text + b"2"), submission(tests))
    assert assessment.verdict is Verdict.FAILED
    assert len(assessment.stdout.data) == KEPT_OUTPUT_BYTES
    assert assessment.stdout.size_bytes == len(text) + 1
    assert assessment.stdout.truncated


async def test_a_failed_execution_of_ours_ends_it_and_kills_the_others() -> None:
    class Broken(Executor):
        async def run(self, job: Job) -> Execution:
            if stdin_of(job) == 2:
                raise SandboxError("broken")
            if stdin_of(job) > 0:
                self.gate = asyncio.Event()
            return await super().run(job)

    executor = Broken()
    with pytest.raises(SandboxError):
        await evaluation(executor).score(submission(cases(9)))
    assert executor.running == 0


# ------------------------------------------------------------------------- checker programs

CHECKED = Checker(kind=CheckerKind.PROGRAM, program="check", program_language="py")


def checked(answer: Callable[[bytes], Execution]) -> Behaviour:
    def behave(job: Job) -> Execution:
        assert isinstance(job.work, Program)
        if not job.work.files:
            return wrote(b"candidate's")
        assert set(job.work.files) == {"input", "output", "expected"}
        return answer(job.work.files["output"])

    return behave


def exits(status: int, **rest: object) -> Execution:
    return done(termination=replace(EXITED, value=status), **rest)  # type: ignore[arg-type]  # by name


async def test_a_checker_program_gets_input_output_and_expected_output() -> None:
    wanted = submission(cases(1, CHECKED), limits=Limits(cpu_time_seconds=1))
    assessment, executor = await score(checked(lambda _: exits(0)), wanted)
    _, job = executor.started
    assert job.work == Program(
        source="check",
        args=("input", "output", "expected"),
        files={"input": b"0", "output": b"candidate's", "expected": b"0"},
    )
    assert job.language == "python"
    assert job.limits == Limits()
    assert assessment.verdict is Verdict.PASSED


BROKEN = [
    exits(2),
    exits(0, ending=Ending.CRASHED),
    exits(0, ending=Ending.LIMIT),
    done(termination=Termination(kind=TerminationKind.SIGNALED, value=1)),
    done(ending=Ending.COMPILE_ERROR),
]


@pytest.mark.parametrize("answer", BROKEN)
async def test_a_checker_program_that_is_broken_anyway_makes_the_task_invalid(
    answer: Execution,
) -> None:
    assessment, _ = await score(checked(lambda _: answer), submission(cases(3, CHECKED)))
    assert assessment.verdict is Verdict.INVALID_TASK
    assert assessment.reward is None


@pytest.mark.parametrize("answer", BROKEN)
@pytest.mark.parametrize("control", [exits(0), exits(1)])
async def test_output_that_breaks_a_working_checker_program_is_wrong(
    answer: Execution, control: Execution
) -> None:
    behaviour = checked(lambda output: answer if output == b"candidate's" else control)
    assessment, _ = await score(behaviour, submission(cases(1, CHECKED)))
    assert assessment.verdict is Verdict.FAILED
    assert assessment.reward == 0.0


async def test_a_checker_program_is_not_asked_about_a_program_that_failed() -> None:
    _, executor = await score(lambda _: exits(1), submission(cases(1, CHECKED)))
    assert len(executor.started) == 1


# ---------------------------------------------------------------------------------- refusals


async def test_an_unknown_language_is_refused() -> None:
    executor = Executor()
    with pytest.raises(UnsupportedError, match="cobol"):
        await evaluation(executor).score(submission(language="cobol"))
    wrong = Checker(kind=CheckerKind.PROGRAM, program="x", program_language="cobol")
    with pytest.raises(UnsupportedError, match="cobol"):
        await evaluation(executor).score(submission(cases(1, wrong)))
    with pytest.raises(UnsupportedError, match="cobol"):
        await evaluation(executor).execute(Job(work=Program(source=""), language="cobol"))
    assert executor.started == []


@pytest.mark.parametrize("required", Integrity)
async def test_the_integrity_on_offer_is_enough_for_every_requirement(required: Integrity) -> None:
    assessment, _ = await score(passing, submission(require_integrity=required))
    assert assessment.integrity >= required


@pytest.mark.promise(
    "A request for a stronger label than its tests allow is refused before anything runs.", "Labels"
)
async def test_more_integrity_than_the_tests_text_allows_is_refused_before_anything_runs() -> None:
    text = "import solution\nclass TestF(solution.Base):\n    pass\n"
    files = UnitTests(framework=Framework.UNITTEST, files=(("test_f.py", text),))
    executor = Executor()
    for required in (Integrity.ISOLATED, Integrity.SHARED_TWINS):
        asked = submission(files, require_integrity=required)
        with pytest.raises(UnsupportedError, match=f"{required.name} .* SHARED is"):
            await evaluation(executor).score(asked)
    assert executor.started == []


@pytest.mark.parametrize("required", [Integrity.SHARED_TWINS, Integrity.ISOLATED])
async def test_a_refusal_tells_what_the_author_of_tests_in_python_can_do(
    required: Integrity,
) -> None:
    text = "import solution\ndef test_f():\n    solution.g = 3\n    assert solution.f(2) == 64\n"
    tests = UnitTests(framework=Framework.PYTEST, files=(("test_f.py", text),))
    told = f"{required.name} is not .* SHARED is, since .*solution.g, by rule 10.*leave that out"
    with pytest.raises(UnsupportedError, match=told):
        await evaluation(Executor()).score(submission(tests, require_integrity=required))
    apart = replace(tests, files=(("test_f.py", text.replace("    solution.g = 3\n", "")),))
    known = await plan(apart, "")
    assert known.integrity is Integrity.ISOLATED


@pytest.mark.parametrize(
    ("placement", "setup", "told"),
    [
        (Placement.BESIDE, "", "SHARED is, since .*leave FunctionTests.placement unset"),
        (Placement.BY_TEXT, "import inspect", "SHARED is, since .*leave that out, or require"),
        (Placement.ISOLATED, "import inspect", "not on offer for these tests: line 1: import"),
    ],
)
@pytest.mark.parametrize("required", [Integrity.SHARED_TWINS, Integrity.ISOLATED])
async def test_a_refusal_tells_how_function_tests_are_judged_apart(
    placement: Placement, setup: str, told: str, required: Integrity
) -> None:
    tests = FunctionTests(
        entry_point="f",
        asserts=("assert f([3, 1]) == [1, 3]", "assert inspect.getsource(f)")[: 2 if setup else 1],
        setup_code=setup,
        placement=placement,
    )
    executor = Executor()
    with pytest.raises(UnsupportedError, match=told):
        await evaluation(executor).score(submission(tests, require_integrity=required))
    assert executor.started == []


# ------------------------------------------------------------------------------------ sharing


@pytest.mark.parametrize("leaving", [0, 1])
async def test_who_leaves_does_not_take_the_execution_from_the_others(leaving: int) -> None:
    executor = Executor(gate=asyncio.Event())
    judge = evaluation(executor)
    tasks = [asyncio.create_task(judge.score(submission())) for _ in range(2)]
    await executor.begun.wait()
    await asyncio.sleep(0)
    tasks[leaving].cancel()
    await asyncio.wait([tasks[leaving]])
    assert tasks[leaving].cancelled()
    assert executor.killed == []
    assert executor.gate is not None
    executor.gate.set()
    assert (await tasks[1 - leaving]).reward == 1.0
    assert len(executor.started) == 1


async def test_the_last_to_leave_kills_the_execution() -> None:
    executor = Executor(gate=asyncio.Event())
    judge = evaluation(executor)
    tasks = [asyncio.create_task(judge.score(submission())) for _ in range(3)]
    await executor.begun.wait()
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert len(executor.killed) == 1
    assert executor.running == 0


async def test_an_error_of_ours_is_shared() -> None:
    class Broken(Executor):
        async def run(self, job: Job) -> Execution:
            await super().run(job)
            raise SandboxError("broken")

    executor = Broken(gate=asyncio.Event())
    judge = evaluation(executor)
    tasks = [asyncio.create_task(judge.score(submission())) for _ in range(2)]
    await executor.begun.wait()
    await asyncio.sleep(0)
    assert executor.gate is not None
    executor.gate.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(answer) for answer in answers] == [SandboxError] * 2
    assert len(executor.started) == 1


async def test_a_leader_s_deadline_is_not_the_followers() -> None:
    executor = Executor(gate=asyncio.Event())
    judge = evaluation(executor)
    clock = Clock()
    leader = asyncio.create_task(judge.score(submission(), deadline=clock.time() + 60))
    await executor.begun.wait()
    follower = asyncio.create_task(judge.score(submission()))
    await asyncio.sleep(0)
    clock.advance(61)
    with pytest.raises(DeadlineError):
        await leader
    assert executor.gate is not None
    executor.gate.set()
    assert (await follower).reward == 1.0


async def test_a_follower_s_deadline_is_its_own() -> None:
    executor = Executor(gate=asyncio.Event())
    judge = evaluation(executor)
    leader = asyncio.create_task(judge.score(submission()))
    await executor.begun.wait()
    clock = Clock()
    follower = asyncio.create_task(judge.score(submission(), deadline=clock.time() + 60))
    await asyncio.sleep(0)
    clock.advance(61)
    with pytest.raises(DeadlineError):
        await follower
    assert executor.killed == []
    assert executor.gate is not None
    executor.gate.set()
    assert (await leader).reward == 1.0


# --------------------------------------------------------------------------------- same ids


async def test_a_repeated_id_gets_the_first_answer() -> None:
    executor = Executor()
    judge = evaluation(executor)
    first = await judge.score(submission(id="a"))
    again = await judge.score(submission(id="a", tags={"try": "2"}))
    assert again == replace(first, deduplicated=True)
    assert len(executor.started) == 1


async def test_an_id_whose_judgement_failed_is_free_again() -> None:
    class Broken(Executor):
        async def run(self, job: Job) -> Execution:
            if not self.started:
                self.started.append(job)
                raise SandboxError("broken")
            return await super().run(job)

    judge = evaluation(Broken())
    with pytest.raises(SandboxError):
        await judge.score(submission(id="a"))
    assert (await judge.score(submission(id="a", completion="other"))).reward == 1.0


async def test_the_window_ends_after_its_seconds() -> None:
    executor = Executor()
    now = 0.0
    judge = evaluation(executor, window_seconds=10.0, clock=lambda: now)
    await judge.score(submission(id="a"))
    now = 9.0
    await judge.score(submission(id="a"))
    assert len(executor.started) == 1
    now = 10.0
    await judge.score(submission(id="a", completion="other"))
    assert len(executor.started) == 2


async def test_the_window_holds_no_more_than_its_count() -> None:
    executor = Executor()
    judge = evaluation(executor, window_size=2)
    for name in ("a", "b", "c", "b", "c", "a"):
        await judge.score(submission(id=name))
    assert len(executor.started) == 4


async def test_the_window_holds_no_more_bytes_than_allowed() -> None:
    size = KEPT_ANSWER_BYTES // 3
    output = CapturedStream(data=b"x" * size, size_bytes=size)
    executor = Executor(behaviour=lambda job: replace(passing(job), stdout=output))
    judge = evaluation(executor)
    for name in ("a", "b", "c", "c", "a"):
        await judge.score(submission(id=name))
    assert len(executor.started) == 4


VARIANTS = [
    submission(),
    submission(completion="x"),
    submission(prompt="x"),
    submission(language="py"),
    submission(extraction=Extraction.NONE),
    submission(limits=Limits(calls=1)),
    submission(reward_policy=FRACTION),
    submission(require_integrity=Integrity.SHARED),
    submission(FunctionTests(asserts=("assert f(1) == 2assert f(2) == 3",))),
    submission(FunctionTests(asserts=ASSERTS.asserts[::-1])),
    submission(FunctionTests(setup_code="x", asserts=ASSERTS.asserts)),
    submission(FunctionTests(test_code="x", asserts=ASSERTS.asserts)),
    submission(calls(1, 2)),
    submission(calls(2, 1)),
    submission(cases(2)),
    submission(cases(2, weight=2.0)),
    submission(cases(2, Checker(kind=CheckerKind.FLOAT))),
    submission(cases(2, Checker(kind=CheckerKind.FLOAT, absolute_tolerance=0.1))),
    submission(cases(2, Checker(kind=CheckerKind.FLOAT, relative_tolerance=0.1))),
]


def test_whatever_can_change_an_answer_changes_the_fingerprint() -> None:
    assert len({fingerprint(variant) for variant in VARIANTS}) == len(VARIANTS)


def test_id_and_tags_do_not_change_the_fingerprint() -> None:
    assert fingerprint(submission(id="a", tags={"b": "c"})) == fingerprint(submission())


def test_a_lone_surrogate_has_a_fingerprint() -> None:
    assert fingerprint(submission(completion="\ud800")) != fingerprint(submission(completion="?"))


# ---------------------------------------------------------------------------------- the budget


def over_time(seconds: float, limit: LimitKind = LimitKind.WALL_TIME) -> Execution:
    return done(
        ending=Ending.LIMIT,
        limits_hit=(limit,),
        usage=Usage(wall_time_seconds=seconds, cpu_time_seconds=0.0),
    )


def slept(seconds: float, text: bytes = b"") -> Execution:
    return wrote(text, usage=Usage(wall_time_seconds=seconds))


def submission_of_calls(count: int) -> Submission:
    one = CallCase(args_json="[1]", expected_json="1")
    return submission(CallTests(entry_point="f", cases=(one,) * count), reward_policy=FRACTION)


@pytest.mark.parametrize(
    "behaviour",
    [
        lambda job: over_time(30.0),
        lambda job: over_time(30.0, LimitKind.CPU_TIME),
        lambda job: slept(29.9),
    ],
    ids=["sleeps over its limit", "computes over its limit", "sleeps just below its limit"],
)
@pytest.mark.parametrize("kind", [RewardPolicyKind.FRACTION, RewardPolicyKind.WEIGHTED])
async def test_a_program_that_sleeps_in_every_case_gets_its_verdict(
    behaviour: Behaviour, kind: RewardPolicyKind
) -> None:
    executor = Executor(slots=2, behaviour=behaviour)
    wanted = submission(cases(200), reward_policy=RewardPolicy(kind=kind))
    found = await evaluation(executor).score(wanted)
    assert found.reward == 0.0
    assert found.verdict in (Verdict.TIME_LIMIT_EXCEEDED, Verdict.FAILED)
    assert len(found.tests) == 200
    assert found.tests[-1].outcome is TestOutcome.LIMIT
    assert len(executor.started) * 30 / 2 <= 240 + 2 * 30


async def test_calls_that_each_outlast_their_execution_share_the_budget() -> None:
    def behaviour(job: Job) -> Execution:
        assert isinstance(job.work, CallJudgement)
        outcomes = [TestOutcome.LIMIT] + [TestOutcome.NOT_RUN] * (len(job.work.tests.cases) - 1)
        return replace(over_time(30.0), tests=done(*outcomes).tests)

    executor = Executor(slots=8, behaviour=behaviour)
    found = await evaluation(executor).score(submission_of_calls(50))
    assert (found.verdict, found.reward) == (Verdict.TIME_LIMIT_EXCEEDED, 0.0)
    assert [test.outcome for test in found.tests] == [TestOutcome.LIMIT] * 50
    assert len(executor.started) == 8


async def test_what_passed_before_the_budget_was_spent_counts_over_all_cases() -> None:
    executor = Executor(behaviour=lambda job: slept(25.0, _stdin(job)))
    found = await evaluation(executor, parallelism=1).score(
        submission(cases(20), reward_policy=FRACTION)
    )
    assert found.verdict is Verdict.TIME_LIMIT_EXCEEDED
    assert found.reward == pytest.approx(10 / 20)


def _stdin(job: Job) -> bytes:
    assert isinstance(job.work, Program)
    return job.work.stdin


async def test_a_request_may_ask_for_more_time() -> None:
    executor = Executor(behaviour=lambda job: slept(25.0, _stdin(job)))
    wanted = submission(cases(20), reward_policy=FRACTION, time_budget_seconds=600.0)
    assert (await evaluation(executor, parallelism=1).score(wanted)).reward == 1.0


async def test_a_budget_has_always_room_for_one_whole_execution() -> None:
    executor = Executor(behaviour=lambda job: slept(500.0, _stdin(job)))
    wanted = submission(cases(1), limits=Limits(wall_time_seconds=600.0), time_budget_seconds=1.0)
    assert (await evaluation(executor).score(wanted)).reward == 1.0


async def test_a_checker_that_gets_no_time_is_the_candidates_fault_and_not_the_tasks() -> None:
    def behaviour(job: Job) -> Execution:
        assert isinstance(job.work, Program)
        return slept(100.0)

    checker = Checker(kind=CheckerKind.PROGRAM, program="judge")
    wanted = submission(cases(30, checker), reward_policy=FRACTION)
    found = await evaluation(Executor(behaviour=behaviour)).score(wanted)
    assert found.verdict is Verdict.TIME_LIMIT_EXCEEDED
    assert found.tests[0].outcome is TestOutcome.PASSED
    assert found.tests[-1].outcome is TestOutcome.LIMIT


async def test_a_deadline_that_passes_after_a_run_above_its_limit_is_a_verdict() -> None:
    executor = Executor(slots=1)
    seen: list[Job] = []

    def behaviour(job: Job) -> Execution:
        seen.append(job)
        if len(seen) == 1:
            executor.gate = asyncio.Event()
            return over_time(1.0)
        return passing(job)

    executor.behaviour = behaviour
    clock = Clock()
    wanted = submission(cases(5), reward_policy=FRACTION)
    scoring = asyncio.create_task(evaluation(executor).score(wanted, deadline=clock.time() + 60))
    while len(executor.started) < 2:  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(0)
    clock.advance(59.75)  # what is left is for the way back
    found = await scoring
    assert (found.verdict, found.reward) == (Verdict.TIME_LIMIT_EXCEEDED, 0.0)
    assert len(executor.killed) == 1


@pytest.mark.promise(
    "A deadline shorter than the limits is `DEADLINE_EXCEEDED`, no verdict.", "Service"
)
async def test_a_deadline_that_is_shorter_than_the_limits_is_no_verdict() -> None:
    executor = Executor(slots=1, gate=asyncio.Event())
    clock = Clock()
    judge = evaluation(executor)
    scoring = asyncio.create_task(judge.score(submission(cases(5)), deadline=clock.time() + 5))
    await executor.begun.wait()
    clock.advance(6)
    with pytest.raises(DeadlineError):
        await scoring


# ---------------------------------------------------------------------------------- owners


@pytest.mark.promise("Credentials share no ids, work or stored tasks.", "Service")
async def test_owners_choose_their_ids_and_share_no_work() -> None:
    executor = Executor(gate=asyncio.Event())
    judge = evaluation(executor)
    tasks = [
        asyncio.create_task(judge.score(submission(id="a", completion=text), owner=owner))
        for owner, text in (("x", "one"), ("y", "two"), ("z", "one"))
    ]
    while len(executor.started) < 3:  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(0)
    executor.gate.set()
    assert not any([(await task).deduplicated for task in tasks])
    again = await judge.score(submission(id="a", completion="one"), owner="x")
    assert again.deduplicated
    with pytest.raises(InvalidRequestError, match="used for other content"):
        await judge.score(submission(id="a", completion="two"), owner="x")


# --------------------------------------------------------------------- what cannot be a program


async def test_a_completion_that_cannot_be_a_program_is_judged_without_being_run() -> None:
    executor = Executor()
    wanted = submission(cases(3), completion="", refusal="the completion has 9 bytes")
    found = await evaluation(executor).score(wanted)
    assert (found.verdict, found.reward) == (Verdict.COMPILE_ERROR, 0.0)
    assert found.message == "the completion has 9 bytes"
    assert len(found.tests) == 3
    assert not executor.started
