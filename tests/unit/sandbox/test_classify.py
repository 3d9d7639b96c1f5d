from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reward_server.domain import (
    CallCase,
    CallJudgement,
    CallTests,
    CapturedStream,
    Commands,
    Conversation,
    Ending,
    Execution,
    Framework,
    FunctionJudgement,
    FunctionTests,
    Job,
    LimitKind,
    Limits,
    Program,
    SplitPrograms,
    Termination,
    TerminationKind,
    TestOutcome,
    TestsProgram,
    UnitJudgement,
    UnitTests,
    Work,
)
from reward_server.errors import SandboxError
from reward_server.runner.wire import BROKEN_STATUS, Finish, Kind, Outcome, Stage, Stop
from reward_server.sandbox.classify import classify
from reward_server.sandbox.runner_documents import Findings

EXIT_1 = 1 << 8
EXIT_3 = 3 << 8
CALL = CallJudgement(
    source="",
    tests=CallTests(
        entry_point="f",
        cases=tuple(CallCase(args_json="[]", expected_json="1", weight=w) for w in (1.0, 2.0)),
    ),
)
FUNCTION = FunctionJudgement(source="", tests=FunctionTests(asserts=("a", "b")))
UNIT = UnitJudgement(
    source="", tests=UnitTests(framework=Framework.UNITTEST, files=(("test_f.py", ""),))
)
PROGRAM = Program(source="")
WORKS: tuple[Work, ...] = (CALL, FUNCTION, UNIT, PROGRAM)


def job(work: Work = CALL) -> Job:
    return Job(work=work, limits=Limits(cpu_time_seconds=2.0))


def finish(**facts: int) -> Finish:
    numbers = {"kind": Kind.FINISH, "candidate_status": 0, "judge_status": 0, "wall_time_ns": 5}
    return Finish(**{**numbers, "heard": 1, **facts})


def unheard(**facts: int) -> Finish:
    return finish(**{"heard": 0, **facts})


def one(outcome: str, name: str = "t") -> dict[str, object]:
    return {"name": name, "outcome": outcome, "message": "", "wall_ns": 1_000_000_000}


def found(
    stage: Stage = Stage.READY, *, blobs: Mapping[str, bytes] | None = None, **changes: object
) -> Findings:
    report: dict[str, object] = {
        "ready": stage is Stage.READY,
        "blame": None,
        "load": None,
        "broken": None,
        "limits": [],
        "message": "",
        "tests": [one("PASSED", "t0"), one("PASSED", "t1")],
        "signals": {},
        "status": None,
        "stdout_size": 0,
        "stderr_size": 0,
        "tests_program": None,
    }
    kept = {"stdout": b"", "stderr": b"", "product": b"", **(blobs or {})}
    return Findings(stage=stage, report={**report, **changes}, blobs=kept)


NOTHING = Findings(stage=Stage.READY)


# ------------------------------------------------------------------------ the candidate's doings


# Name, what was found and reported, and how it ended; limits and signals if there are any.
DOINGS: list[tuple[Any, ...]] = [
    ("all tests ran", {}, found(), Ending.COMPLETED),
    (
        "all tests ran and the rest was stopped",
        {"stop": Stop.JUDGE_DONE, "candidate_status": signal.SIGKILL},
        found(),
        Ending.COMPLETED,
    ),
    (
        "forbidden system call",
        {"candidate_status": signal.SIGSYS},
        found(broken="closed"),
        Ending.VIOLATION,
        (),
        {"forbidden_syscall": 1},
    ),
    (
        "forged frame",
        {"stop": Stop.JUDGE_DONE, "candidate_status": signal.SIGKILL},
        found(broken="forged", signals={"tampering": 3}),
        Ending.VIOLATION,
        (),
        {"tampering": 3},
    ),
    (
        "a frame cut by the wall clock is no forgery",
        {"stop": Stop.WALL_TIME, "candidate_status": signal.SIGKILL},
        found(broken="forged"),
        Ending.LIMIT,
        (LimitKind.WALL_TIME,),
    ),
    (
        "processor time",
        {"stop": Stop.CPU_TIME, "candidate_status": signal.SIGKILL},
        found(broken="closed"),
        Ending.LIMIT,
        (LimitKind.CPU_TIME,),
    ),
    (
        "memory",
        {"candidate_status": signal.SIGKILL, "oom_kills": 1},
        found(broken="closed"),
        Ending.LIMIT,
        (LimitKind.MEMORY,),
    ),
    (
        "memory, and the judge went too",
        {"oom_kills": 1, "judge_status": signal.SIGKILL},
        NOTHING,
        Ending.LIMIT,
        (LimitKind.MEMORY,),
    ),
    (
        "a child ran out of memory and every test passed",
        {"oom_kills": 1},
        found(),
        Ending.LIMIT,
        (LimitKind.MEMORY,),
    ),
    (
        "the kernel's own clock",
        {"candidate_status": signal.SIGXCPU, "cpu_time_ns": 2_000_000_000},
        found(broken="closed"),
        Ending.LIMIT,
        (LimitKind.CPU_TIME,),
    ),
    (
        "the kernel's own clock, hard",
        {"candidate_status": signal.SIGKILL, "cpu_time_ns": 2_000_000_000},
        found(broken="closed"),
        Ending.LIMIT,
        (LimitKind.CPU_TIME,),
    ),
    (
        "a signal of its own is no limit",
        {"candidate_status": signal.SIGXCPU, "cpu_time_ns": 1_000_000},
        found(broken="closed"),
        Ending.CRASHED,
    ),
    (
        "killed by itself",
        {"candidate_status": signal.SIGKILL},
        found(broken="closed"),
        Ending.CRASHED,
        (),
        {"killed": 1},
    ),
    (
        "file size",
        {"candidate_status": signal.SIGXFSZ},
        found(broken="closed"),
        Ending.LIMIT,
        (LimitKind.FILE_SIZE,),
    ),
    (
        "output that was also too large for a file",
        {"candidate_status": signal.SIGXFSZ, "stop": Stop.OUTPUT},
        found(broken="closed"),
        Ending.LIMIT,
        (LimitKind.OUTPUT,),
    ),
    (
        "output of a program that ended by itself",
        {"stop": Stop.OUTPUT},
        found(),
        Ending.LIMIT,
        (LimitKind.OUTPUT,),
    ),
    ("output", {}, found(limits=["output"]), Ending.LIMIT, (LimitKind.OUTPUT,)),
    (
        "result and calls",
        {},
        found(limits=["result", "calls"], broken="closed"),
        Ending.LIMIT,
        (LimitKind.RESULT, LimitKind.CALLS),
    ),
    (
        "does not compile",
        {},
        found(load={"kind": "compile", "message": "SyntaxError"}, tests=[]),
        Ending.COMPILE_ERROR,
    ),
    (
        "raised while loaded",
        {"candidate_status": EXIT_1},
        found(load={"kind": "raise", "message": "NameError"}),
        Ending.LOAD_ERROR,
    ),
    (
        "exited while loaded",
        {},
        found(load={"kind": "exit", "message": "exited"}, broken="closed"),
        Ending.LOAD_ERROR,
        (),
        {"early_exit": 1},
    ),
    (
        "no memory to load",
        {},
        found(load={"kind": "raise", "message": "MemoryError: "}),
        Ending.LIMIT,
        (LimitKind.MEMORY,),
    ),
    (
        "exit status 0 with tests outstanding",
        {},
        found(broken="closed"),
        Ending.CRASHED,
        (),
        {"early_exit": 1},
    ),
    (
        "any exit status with tests outstanding",
        {"candidate_status": EXIT_3},
        found(broken="closed", signals={"early_exit": 2, "cast_down": 1}),
        Ending.CRASHED,
        (),
        {"early_exit": 2, "cast_down": 1},
    ),
    ("a fault", {"candidate_status": signal.SIGSEGV}, found(broken="closed"), Ending.CRASHED),
    (
        "closed its socket and lived on",
        {"stop": Stop.JUDGE_DONE, "candidate_status": signal.SIGKILL},
        found(broken="closed"),
        Ending.CRASHED,
        (),
        {"early_exit": 1},
    ),
    (
        "a judge that died after its report is not believed",
        {"judge_status": signal.SIGKILL},
        found(),
        Ending.CRASHED,
        (),
        {"judge_lost": 1},
    ),
    ("no report", {"judge_status": EXIT_1}, NOTHING, Ending.CRASHED, (), {"judge_lost": 1}),
    (
        "the judge hung",
        {"stop": Stop.JUDGE_STUCK, "judge_status": signal.SIGKILL},
        NOTHING,
        Ending.CRASHED,
        (),
        {"judge_stuck": 1},
    ),
    (
        "fork bomb",
        {"process_limit_hits": 4, "candidate_status": EXIT_1},
        found(broken="closed"),
        Ending.LIMIT,
        (LimitKind.PROCESSES,),
    ),
    (
        "refused processes, and went on without",
        {"process_limit_hits": 4},
        found(),
        Ending.COMPLETED,
        (LimitKind.PROCESSES,),
    ),
    ("a test is missing", {}, found(tests=[one("PASSED")]), Ending.CRASHED, (), {"incomplete": 1}),
    (
        "a test was not run",
        {},
        found(tests=[one("PASSED"), one("NOT_RUN")]),
        Ending.CRASHED,
        (),
        {"incomplete": 1},
    ),
]


@pytest.mark.promise("Every failure after the candidate is ready is the candidate's.", "Verdicts")
@pytest.mark.parametrize("row", DOINGS, ids=[row[0] for row in DOINGS])
def test_from_ready_on_the_candidate_answers_for_everything(row: tuple[Any, ...]) -> None:
    _, facts, findings, ending, *rest = row
    limits, signals = [*rest, *((), {})[len(rest) :]]
    execution = classify(finish(**facts), findings, job())
    got = (execution.ending, execution.limits_hit, dict(execution.signals))
    assert got == (ending, limits, signals)


@pytest.mark.parametrize(
    ("status", "stderr", "ending", "limits"),
    [
        (0, b"", Ending.COMPLETED, ()),
        (EXIT_3, b"", Ending.COMPLETED, ()),
        (EXIT_1, b"Traceback\nMemoryError\n", Ending.LIMIT, (LimitKind.MEMORY,)),
        (EXIT_1, b"OSError: [Errno 24] Too many\n", Ending.LIMIT, (LimitKind.OPEN_FILES,)),
        (EXIT_1, b"OSError: [Errno 27] Too large\n", Ending.LIMIT, (LimitKind.FILE_SIZE,)),
        (EXIT_1, b"OSError: [Errno 28] No space\n", Ending.LIMIT, (LimitKind.DISK,)),
        (EXIT_1, b"OSError: [Errno 2] Absent\n", Ending.COMPLETED, ()),
        (0, b"MemoryError\n", Ending.COMPLETED, ()),
        (EXIT_1, b"MemoryError\nValueError\n", Ending.COMPLETED, ()),
        (signal.SIGSEGV, b"", Ending.CRASHED, ()),
    ],
)
def test_a_whole_program_completes_by_exiting(
    status: int, stderr: bytes, ending: Ending, limits: tuple[LimitKind, ...]
) -> None:
    findings = found(tests=[], stderr_size=99, blobs={"stdout": b"", "stderr": stderr})
    execution = classify(finish(candidate_status=status), findings, job(PROGRAM))
    assert (execution.ending, execution.limits_hit) == (ending, limits)


def test_a_program_that_was_stopped_did_not_complete() -> None:
    facts = finish(candidate_status=signal.SIGKILL, stop=Stop.JUDGE_DONE)
    assert classify(facts, found(tests=[]), job(PROGRAM)).ending is Ending.CRASHED


def test_a_program_that_failed_for_want_of_processes_hit_that_limit() -> None:
    facts = finish(candidate_status=EXIT_1, process_limit_hits=1)
    execution = classify(facts, found(tests=[]), job(PROGRAM))
    assert (execution.ending, execution.limits_hit) == (Ending.LIMIT, (LimitKind.PROCESSES,))


def test_a_test_that_failed_for_want_of_something_says_so() -> None:
    raised = {**one("ERROR"), "message": "OSError: [Errno 28] No space left on device at line 1"}
    wrong = {**one("FAILED"), "message": "MemoryError is not 3"}
    execution = classify(finish(), found(tests=[raised, wrong]), job())
    assert (execution.ending, execution.limits_hit) == (Ending.COMPLETED, (LimitKind.DISK,))


@pytest.mark.parametrize(
    "facts",
    [
        {"candidate_status": signal.SIGKILL, "oom_kills": 1},
        {"candidate_status": signal.SIGKILL, "stop": Stop.CPU_TIME},
        {"candidate_status": signal.SIGSEGV},
        {"candidate_status": signal.SIGSYS},
    ],
)
def test_a_program_that_was_killed_is_no_early_exit(facts: dict[str, int]) -> None:
    execution = classify(finish(**facts), found(broken="closed", signals={"early_exit": 1}), job())
    assert "early_exit" not in execution.signals


def test_tests_left_out_after_a_failure_are_complete_only_when_asked_for() -> None:
    tests = [one("FAILED"), one("NOT_RUN")]
    stopping = CallJudgement(source="", tests=CALL.tests, stop_at_first_failure=True)
    assert classify(finish(), found(tests=tests), job(stopping)).ending is Ending.COMPLETED
    assert classify(finish(), found(tests=tests), job()).ending is Ending.CRASHED
    tests = [one("PASSED"), one("NOT_RUN")]
    assert classify(finish(), found(tests=tests), job(stopping)).ending is Ending.CRASHED


@pytest.mark.promise("A run without tests never passes.", "Verdicts")
def test_no_tests_at_all_are_never_complete() -> None:
    no_calls = CallJudgement(source="", tests=CallTests(entry_point="f", cases=()))
    for work in (FUNCTION, UNIT, no_calls):
        assert classify(finish(), found(tests=[]), job(work)).ending is Ending.CRASHED


# ---------------------------------------------------------------------------- ours, the task's


@pytest.mark.promise("A failure before the candidate is ready is the server's.", "Verdicts")
@pytest.mark.parametrize("stage", [Stage.STARTING, Stage.LOADING])
@pytest.mark.parametrize("findings", ["silent", "reported"])
@pytest.mark.parametrize(
    "facts",
    [
        {"candidate_status": EXIT_1},
        {"stop": Stop.WALL_TIME},
        {"oom_kills": 1},
        {"candidate_status": signal.SIGSYS},
    ],
)
def test_before_ready_a_failure_is_ours(stage: Stage, findings: str, facts: dict[str, int]) -> None:
    given_findings = Findings(stage=stage) if findings == "silent" else found(stage)
    with pytest.raises(SandboxError, match=f"while {stage.name.lower()}"):
        classify(unheard(**facts), given_findings, job())


@pytest.mark.parametrize(
    ("facts", "findings", "message"),
    [
        ({"judge_status": EXIT_1}, Findings(stage=Stage.TESTS), "the tests failed"),
        ({"stop": Stop.WALL_TIME}, Findings(stage=Stage.TESTS), "stop WALL_TIME"),
        ({}, found(Stage.TESTS, blame="task", message="SyntaxError"), "SyntaxError"),
        ({}, found(Stage.LOADING, blame="task", message="no check"), "no check"),
    ],
)
def test_what_the_tests_break_is_the_tasks(
    facts: dict[str, int], findings: Findings, message: str
) -> None:
    execution = classify(unheard(**facts), findings, job())
    assert execution.ending is Ending.INVALID_TASK
    assert message in execution.message


def test_an_exception_of_the_judges_own_code_is_ours_while_the_tests_are_prepared() -> None:
    broken = unheard(judge_status=BROKEN_STATUS << 8)
    with pytest.raises(SandboxError, match="while tests"):
        classify(broken, Findings(stage=Stage.TESTS), job())


def test_blame_before_the_tests_were_touched_is_not_believed() -> None:
    with pytest.raises(SandboxError):
        classify(unheard(), found(Stage.STARTING, blame="task"), job())


def test_blame_once_the_candidate_was_heard_is_not_believed() -> None:
    execution = classify(finish(), found(blame="task"), job())
    assert (execution.ending, execution.signals) == (Ending.CRASHED, {"judge_lost": 1})


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage is not Stage.READY])
@pytest.mark.parametrize("report", [{}, {"blame": "task", "tests": []}])
def test_a_report_that_takes_back_that_the_candidate_was_heard_is_no_report(
    stage: Stage, report: dict[str, object]
) -> None:
    execution = classify(finish(), found(stage, **report), job())
    assert (execution.ending, execution.signals) == (Ending.CRASHED, {"judge_lost": 1})


@pytest.mark.parametrize("stage", Stage)
def test_a_cancelled_execution_is_nobodys(stage: Stage) -> None:
    with pytest.raises(SandboxError, match="cancelled"):
        classify(finish(stop=Stop.CANCELLED), found(stage), job())


# ---------------------------------------------------------------------------------- the schema


@pytest.mark.parametrize(
    "changes",
    [
        {"ready": 1},
        {"ready": False},
        {"blame": "server"},
        {"broken": "open"},
        {"broken": True},
        {"load": "compile"},
        {"load": {"kind": "other", "message": ""}},
        {"load": {"kind": "raise"}},
        {"limits": ["sky"]},
        {"limits": [[]]},
        {"limits": "output"},
        {"message": None},
        {"tests": {}},
        {"tests": [None, None]},
        {"tests": [one("WON"), one("PASSED")]},
        {"tests": [{**one("PASSED"), "wall_ns": -1}, one("PASSED")]},
        {"tests": [{**one("PASSED"), "wall_ns": True}, one("PASSED")]},
        {"tests": [{**one("PASSED"), "name": 1}, one("PASSED")]},
        {"signals": {"x": -1}},
        {"signals": {"x": 1.0}},
        {"signals": []},
        {"stdout_size": -1},
        {"stderr_size": None},
        {"blobs": {"stdout": b"kept", "stderr": b""}},
        {"status": 0},
        {"status": -1},
        {"tests_program": {"status": 0, "stdout_size": 0, "stderr_size": 0}},
        {"tests_program": {}},
    ],
)
def test_a_report_that_breaks_its_schema_is_no_report(changes: dict[str, Any]) -> None:
    execution = classify(finish(), found(**changes), job())
    assert (execution.ending, execution.tests) == (Ending.CRASHED, ())
    with pytest.raises(SandboxError):
        classify(unheard(), found(Stage.LOADING, **changes), job())


SPLIT = SplitPrograms(tests=Commands(commands=()), solution=Commands(commands=()))
ENDED = {"status": 256, "stdout_size": 2, "stderr_size": 0}
ITS_OUTPUT = {"tests_stdout": b"no", "tests_stderr": b""}


def test_a_tests_program_that_ended_is_told() -> None:
    findings = found(tests=[], tests_program=ENDED, blobs=ITS_OUTPUT)
    execution = classify(finish(), findings, Job(work=SPLIT))
    assert execution.ending is Ending.COMPLETED
    assert execution.tests_program == TestsProgram(
        termination=Termination(kind=TerminationKind.EXITED, value=1),
        stdout=CapturedStream(data=b"no", size_bytes=2),
        stderr=CapturedStream(),
    )


@pytest.mark.parametrize(
    ("changes", "ending", "signals"),
    [
        ({"tests_program": None}, Ending.CRASHED, {"judge_lost": 1}),
        ({"tests_program": {**ENDED, "status": None}}, Ending.CRASHED, {"judge_lost": 1}),
        ({"broken": "closed", "status": 0}, Ending.CRASHED, {"early_exit": 1}),
        ({"broken": "closed", "status": 9}, Ending.CRASHED, {"killed": 1}),
        ({"broken": "closed"}, Ending.CRASHED, {}),
        ({"broken": "forged"}, Ending.VIOLATION, {"tampering": 1}),
        ({"load": {"kind": "compile", "message": ""}}, Ending.COMPILE_ERROR, {}),
        ({"tests_program": {**ENDED, "stdout_size": 1}}, Ending.CRASHED, {"judge_lost": 1}),
        ({"tests_program": {"status": 0}}, Ending.CRASHED, {"judge_lost": 1}),
    ],
)
def test_a_solutions_program_has_to_outlive_the_tests(
    changes: dict[str, Any], ending: Ending, signals: dict[str, int]
) -> None:
    findings = found(**{"tests": [], "tests_program": ENDED, "blobs": ITS_OUTPUT, **changes})
    execution = classify(finish(), findings, Job(work=SPLIT))
    assert (execution.ending, execution.signals) == (ending, signals)


CONVERSATION = Conversation(interactor=Program(source=""), solution=Program(source=""))
ACCEPTED = {**ENDED, "status": 0}


@pytest.mark.parametrize(
    ("facts", "changes", "ending", "termination"),
    [
        ({}, {"tests_program": ACCEPTED}, Ending.COMPLETED, (TerminationKind.EXITED, 0)),
        (
            {"candidate_status": EXIT_3},
            {"tests_program": ACCEPTED},
            Ending.COMPLETED,
            (TerminationKind.EXITED, 3),
        ),
        (
            {"candidate_status": 11},
            {"tests_program": ACCEPTED},
            Ending.CRASHED,
            (TerminationKind.SIGNALED, 11),
        ),
        # A solution that was rejected may end as it likes, unless it ended first.
        ({"candidate_status": 11}, {}, Ending.COMPLETED, (TerminationKind.STOPPED, 0)),
        (
            {"candidate_status": 11},
            {"broken": "closed"},
            Ending.CRASHED,
            (TerminationKind.SIGNALED, 11),
        ),
        ({}, {"tests_program": {**ENDED, "status": None}}, Ending.CRASHED, None),
        ({}, {"tests_program": None}, Ending.CRASHED, None),
        ({}, {"blame": "task", "tests_program": None}, Ending.INVALID_TASK, None),
        ({"stop": Stop.WALL_TIME}, {"blame": "task"}, Ending.LIMIT, None),
        ({}, {"load": {"kind": "compile", "message": ""}}, Ending.COMPILE_ERROR, None),
    ],
)
def test_an_interactor_decides_and_a_solution_has_to_end_well(
    facts: dict[str, Any],
    changes: dict[str, Any],
    ending: Ending,
    termination: tuple[TerminationKind, int] | None,
) -> None:
    given = {"tests": [], "tests_program": ENDED, "blobs": ITS_OUTPUT, **changes}
    execution = classify(finish(**facts), found(**given), Job(work=CONVERSATION))
    assert execution.ending is ending
    if termination is not None:
        assert (execution.termination.kind, execution.termination.value) == termination


@pytest.mark.parametrize("stage", [Stage.TESTS, Stage.LOADING])
@pytest.mark.parametrize("facts", [{"stop": Stop.WALL_TIME}, {"stop": Stop.CPU_TIME}, {"oom": 1}])
def test_limits_before_the_first_call_are_the_tasks_fault(
    stage: Stage, facts: dict[str, Any]
) -> None:
    given = {"stop": facts.get("stop", Stop.NONE), "oom_kills": facts.get("oom", 0)}
    execution = classify(unheard(**given), found(stage, broken="closed"), Job(work=SPLIT))
    assert execution.ending is Ending.INVALID_TASK


def test_a_solutions_process_lost_before_it_was_called_is_ours() -> None:
    findings = found(Stage.LOADING, broken="closed")
    with pytest.raises(SandboxError):
        classify(unheard(candidate_status=signal.SIGKILL), findings, Job(work=SPLIT))


@pytest.mark.parametrize("name", list(found().report or ()))
def test_a_report_without_a_field_is_no_report(name: str) -> None:
    report = {key: value for key, value in (found().report or {}).items() if key != name}
    findings = Findings(stage=Stage.READY, report=report, blobs=found().blobs)
    assert classify(finish(), findings, job()).ending is Ending.CRASHED


# ----------------------------------------------------------------------------- what is reported


def test_figures_names_weights_and_output_are_carried_over() -> None:
    execution = classify(
        finish(cpu_time_ns=1_500_000_000, wall_time_ns=2_000_000_000, peak_memory_bytes=7),
        found(
            stdout_size=9,
            stderr_size=3,
            blobs={"stdout": b"out", "stderr": b"err"},
            tests=[one("PASSED", "a"), one("FAILED", "b")],
            message="1 of 2",
        ),
        job(),
    )
    usage = execution.usage
    figures = (usage.cpu_time_seconds, usage.wall_time_seconds, usage.peak_memory_bytes)
    assert figures == (1.5, 2.0, 7)
    assert [(t.name, t.weight, t.outcome) for t in execution.tests] == [
        ("a", 1.0, TestOutcome.PASSED),
        ("b", 2.0, TestOutcome.FAILED),
    ]
    assert execution.tests[0].wall_time_seconds == 1.0
    assert (execution.stdout.truncated, execution.stderr.truncated) == (True, False)
    assert execution.message == "1 of 2"


def test_the_wire_and_the_domain_name_the_same_outcomes() -> None:
    assert [str(outcome) for outcome in Outcome] == [outcome.name for outcome in TestOutcome]


@pytest.mark.parametrize(
    ("facts", "kind", "value"),
    [
        ({"candidate_status": EXIT_3}, TerminationKind.EXITED, 3),
        ({"candidate_status": 0, "stop": Stop.JUDGE_DONE}, TerminationKind.EXITED, 0),
        ({"candidate_status": signal.SIGSEGV}, TerminationKind.SIGNALED, signal.SIGSEGV),
        ({"candidate_status": 9, "stop": Stop.JUDGE_DONE}, TerminationKind.STOPPED, 9),
        ({"candidate_status": 9, "stop": Stop.WALL_TIME}, TerminationKind.LIMIT, 9),
        ({"candidate_status": 9, "oom_kills": 1}, TerminationKind.LIMIT, 9),
        ({"candidate_status": 9}, TerminationKind.SIGNALED, 9),
        ({"candidate_status": -1}, TerminationKind.STOPPED, 0),
    ],
)
def test_how_the_process_ended_is_told_apart_from_what_it_came_to(
    facts: dict[str, int], kind: TerminationKind, value: int
) -> None:
    termination = classify(finish(**facts), found(), job()).termination
    assert (termination.kind, termination.value) == (kind, value)


# ---------------------------------------------------------------------------------- properties

statuses = st.one_of(
    st.just(-1),
    st.just(0),
    st.integers(0, 255).map(lambda code: code << 8),
    st.sampled_from([int(number) for number in signal.valid_signals() if number < 32]),
)
finishes = st.builds(
    finish,
    stop=st.sampled_from([int(stop) for stop in Stop if stop is not Stop.CANCELLED]),
    candidate_status=statuses,
    judge_status=statuses,
    cpu_time_ns=st.sampled_from([0, 1_900_000_000, 3_000_000_000]),
    oom_kills=st.sampled_from([0, 0, 1]),
    process_limit_hits=st.sampled_from([0, 0, 1]),
)
junk = st.one_of(st.none(), st.booleans(), st.integers(), st.sampled_from(["", "x"]), st.just([[]]))
outcomes = st.lists(st.sampled_from([outcome.name for outcome in TestOutcome]).map(one), max_size=3)
changes = st.fixed_dictionaries(
    {},
    optional={
        "ready": st.one_of(st.booleans(), junk),
        "blame": st.one_of(st.just("task"), junk),
        "load": st.one_of(
            st.sampled_from(["compile", "raise", "exit"]).map(
                lambda kind: {"kind": kind, "message": ""}
            ),
            junk,
        ),
        "broken": st.one_of(st.sampled_from(["closed", "forged"]), junk),
        "limits": st.one_of(
            st.lists(st.sampled_from(["output", "result", "calls"]), max_size=2), junk
        ),
        "message": st.one_of(st.sampled_from(["", "x"]), junk),
        "tests": st.one_of(outcomes, outcomes, junk),
        "signals": st.one_of(st.dictionaries(st.sampled_from("ab"), st.integers()), junk),
        "status": junk,
        "stdout_size": junk,
    },
)


@st.composite
def findings_of(draw: st.DrawFn, *stages: Stage) -> Findings:
    stage = draw(st.sampled_from(stages))
    if draw(st.integers(0, 4)) == 0:
        return Findings(stage=stage)
    return found(stage, **draw(changes))


jobs = st.sampled_from(WORKS).map(job)


@given(finishes, findings_of(Stage.READY), jobs)
def test_after_ready_there_is_always_an_execution_and_it_is_the_candidates(
    facts: Finish, findings: Findings, one_job: Job
) -> None:
    execution = classify(facts, findings, one_job)
    assert execution.ending is not Ending.INVALID_TASK
    assert (execution.ending is not Ending.LIMIT) or execution.limits_hit
    if execution.ending is Ending.COMPLETED:
        assert_believable(execution, facts, findings, one_job)


def assert_believable(execution: Execution, facts: Finish, findings: Findings, one: Job) -> None:
    report = findings.report or {}
    assert (report["ready"], report["load"], report["broken"]) == (True, None, None)
    assert (facts.judge_status, facts.oom_kills, report["limits"]) == (0, 0, [])
    assert facts.stop in (Stop.NONE, Stop.JUDGE_DONE)
    if one.work is PROGRAM:
        assert execution.termination.kind is TerminationKind.EXITED
        return
    assert len(execution.tests) >= 2
    ended = {TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.ERROR, TestOutcome.SKIPPED}
    assert {test.outcome for test in execution.tests} <= ended


@given(finishes, findings_of(Stage.STARTING, Stage.LOADING), jobs)
def test_while_ours_is_at_work_nothing_is_the_candidates(
    facts: Finish, findings: Findings, one_job: Job
) -> None:
    try:
        execution = classify(facts._replace(heard=0), findings, one_job)
    except SandboxError:
        return
    assert execution.ending is Ending.INVALID_TASK
    assert (findings.report or {})["blame"] == "task"
    assert findings.stage is Stage.LOADING


@given(finishes, findings_of(Stage.TESTS), jobs)
def test_while_the_tests_are_prepared_every_end_is_the_tasks(
    facts: Finish, findings: Findings, one_job: Job
) -> None:
    assume(facts.judge_status != BROKEN_STATUS << 8)
    assert classify(facts._replace(heard=0), findings, one_job).ending is Ending.INVALID_TASK
