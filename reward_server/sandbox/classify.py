"""Decides the ending of an execution, from the supervisor's numbers and the judge's report.

The stage that an execution reached (`wire.Stage`) decides whose failure it is. Before the tests
were read, and while the program was handed over, a failure is the server's: an exception and a
retry, and never a reward. While the tests were prepared, it is the task's, unless the runner's own
code raised the exception. From READY on, every failure is the candidate's, so that no program can
avoid a verdict by breaking its sandbox. An execution is COMPLETED only by a report in which every
test of the request ran to its end.

There is one exception after READY. If tests and solution are two programs, the tests' program may
report that it made a value that cannot cross to the other program. Then the tests cannot be a
separate program.

From READY on, the first of these that holds decides:
    killed for a forbidden system call             VIOLATION
    stopped by the clock or by a kernel limit      LIMIT
    judge lost or stuck, or its report broken      CRASHED
    a forged message                               VIOLATION
    a limit that the judge saw                     LIMIT
    did not load                                   COMPILE_ERROR, LOAD_ERROR
    ended with tests outstanding                   CRASHED, or LIMIT if processes were refused
    otherwise                                      COMPLETED
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from reward_server.domain import (
    CallJudgement,
    CapturedStream,
    Commands,
    Conversation,
    Ending,
    Execution,
    FunctionJudgement,
    Job,
    LimitKind,
    Pair,
    Program,
    SplitPrograms,
    Termination,
    TerminationKind,
    TestOutcome,
    TestResult,
    TestsProgram,
    UnitJudgement,
    Usage,
    Work,
)
from reward_server.errors import SandboxError
from reward_server.runner.wire import BROKEN_STATUS, Finish, Outcome, Stage, Stop
from reward_server.sandbox.runner_documents import Findings

T = TypeVar("T")

_REPORT_LIMITS = {
    "output": LimitKind.OUTPUT,
    "result": LimitKind.RESULT,
    "calls": LimitKind.CALLS,
    "file_size": LimitKind.FILE_SIZE,
}
_STOP_LIMITS = {
    Stop.WALL_TIME: LimitKind.WALL_TIME,
    Stop.CPU_TIME: LimitKind.CPU_TIME,
    Stop.MEMORY: LimitKind.MEMORY,
    Stop.OUTPUT: LimitKind.OUTPUT,
}
_STOP_WORDS = {
    LimitKind.WALL_TIME: "wall time ran out",
    LimitKind.CPU_TIME: "CPU time ran out",
    LimitKind.MEMORY: "memory ran out",
    LimitKind.PROCESSES: "no more processes were allowed",
    LimitKind.FILE_SIZE: "a file grew too large",
    LimitKind.DISK: "the disk was full",
    LimitKind.OPEN_FILES: "too many files were open",
    LimitKind.OUTPUT: "it wrote too much output",
    LimitKind.RESULT: "a result was too large",
    LimitKind.CALLS: "there were too many calls",
}
# The interpreter's words for an uncaught refusal by the kernel. The program can forge them, but can
# thereby only exchange one failure for another.
_EXHAUSTED = {
    "MemoryError": LimitKind.MEMORY,
    "BlockingIOError: [Errno 11]": LimitKind.PROCESSES,
    "RuntimeError: can't start new thread": LimitKind.PROCESSES,
    "OSError: [Errno 24]": LimitKind.OPEN_FILES,
    "OSError: [Errno 27]": LimitKind.FILE_SIZE,
    "OSError: [Errno 28]": LimitKind.DISK,
}
_FAILURES = (TestOutcome.FAILED, TestOutcome.ERROR, TestOutcome.LIMIT)
_LOAD_KINDS = ("compile", "raise", "exit")
# A process was killed by a signal whose sender is unknown.
LOST_SIGNALS = frozenset({"judge_lost", "killed"})
# The kernel kills a process for its CPU time when about the limit was used.
_CPU_SHARE = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class _Load:
    """Why a program did not load."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """A judge's report that matches the schema."""

    load: _Load | None
    broken: str | None
    limits: tuple[LimitKind, ...]
    message: str
    tests: tuple[TestResult, ...]
    signals: Mapping[str, int]
    status: int | None
    stdout: CapturedStream
    stderr: CapturedStream
    product: bytes
    tests_program: TestsProgram | None
    is_tasks: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Conclusion:
    """An ending with its message, limits and signals.

    `is_stopped` is True if the judge was done before the program ended, so that how it ended later
    counts for nothing.
    """

    ending: Ending
    message: str = ""
    limits: tuple[LimitKind, ...] = ()
    signals: Mapping[str, int] = field(default_factory=dict)
    is_stopped: bool = False


def classify(finish: Finish, findings: Findings, job: Job) -> Execution:
    """Returns the result of an execution.

    Raises:
        SandboxError: the failure is the server's, because it came before the judge heard the
            candidate, or the execution was cancelled.
    """
    if finish.stop == Stop.CANCELLED:
        raise SandboxError("the execution was cancelled")
    if not finish.heard:
        return _before_ready(finish, findings, job)
    report = _read(findings, job.work) if findings.stage is Stage.READY else None
    if report is not None and report.status is not None:
        # The process that ran the commands reports the status of the last one.
        finish = finish._replace(candidate_status=report.status)
    conclusion = _conclude(finish, report, job)
    return _execution(finish, conclusion, report)


# ------------------------------------------------------------------------------ before READY


def _before_ready(finish: Finish, findings: Findings, job: Job) -> Execution:
    if isinstance(job.work, Pair) and (limit := _limit_of(finish, job)):
        message = f"{_STOP_WORDS[limit]} before the tests called the solution"
        conclusion = _Conclusion(ending=Ending.INVALID_TASK, message=message, limits=(limit,))
        return _execution(finish, conclusion, _read(findings, job.work))
    report = findings.report or {}
    blamed = report.get("blame") == "task" and findings.stage is not Stage.STARTING
    if not blamed and (findings.stage is not Stage.TESTS or _is_broken(finish)):
        raise SandboxError(
            f"the execution failed while {findings.stage.name.lower()} ({_describe(finish)})"
        )
    said = report.get("message")
    message = said if isinstance(said, str) and said else f"the tests failed ({_describe(finish)})"
    lost = {"judge_lost": 1} if _signal_of(finish.judge_status) == signal.SIGKILL else {}
    conclusion = _Conclusion(ending=Ending.INVALID_TASK, message=message, signals=lost)
    return _execution(finish, conclusion, _read(findings, job.work))


def _is_broken(finish: Finish) -> bool:
    """Returns True if an exception of the runner, not of the tests, ended the judge."""
    status = finish.judge_status
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == BROKEN_STATUS


def _describe(finish: Finish) -> str:
    candidate = _say_status(finish.candidate_status)
    judge = _say_status(finish.judge_status)
    return f"stop {Stop(finish.stop).name}, candidate {candidate}, judge {judge}"


def _say_status(status: int) -> str:
    if status == -1:
        return "absent"
    if os.WIFSIGNALED(status):
        return f"killed by signal {os.WTERMSIG(status)}"
    return f"exited {os.WEXITSTATUS(status)}"


# -------------------------------------------------------------------------------- from READY


def _conclude(finish: Finish, report: _Report | None, job: Job) -> _Conclusion:
    if _signal_of(finish.candidate_status) == signal.SIGSYS:
        return _Conclusion(
            ending=Ending.VIOLATION,
            message="the program made a forbidden system call",
            signals={"forbidden_syscall": 1},
        )
    if kernel_limit := _limit_of(finish, job):
        return _limit(kernel_limit)
    if finish.stop == Stop.JUDGE_STUCK:
        return _crashed("the judge did not come to an end", "judge_stuck")
    if report is None or finish.judge_status != 0:
        return _crashed("the judge was lost", "judge_lost")
    conclusion = _blame_processes(finish, _conclude_report(finish, report, job.work), job.work)
    if conclusion.ending is Ending.CRASHED and _is_killed(finish.candidate_status, finish):
        return replace(conclusion, signals={**conclusion.signals, "killed": 1})
    return conclusion


def _is_killed(status: int, finish: Finish) -> bool:
    """Returns True if a process was killed by another process than the zygote."""
    return _signal_of(status) == signal.SIGKILL and finish.stop == Stop.NONE


def _limit_of(finish: Finish, job: Job) -> LimitKind | None:
    if limit := _STOP_LIMITS.get(Stop(finish.stop)):
        return limit
    if finish.oom_kills > 0:
        return LimitKind.MEMORY
    number = _signal_of(finish.candidate_status)
    if number == signal.SIGXFSZ:
        return LimitKind.FILE_SIZE
    used = finish.cpu_time_ns >= _CPU_SHARE * job.limits.cpu_time_seconds * 1e9
    by_kernel = number == signal.SIGXCPU or (number == signal.SIGKILL and not finish.stop)
    return LimitKind.CPU_TIME if by_kernel and used else None


def _conclude_report(finish: Finish, report: _Report, work: Work) -> _Conclusion:
    if report.broken == "forged":
        return _Conclusion(
            ending=Ending.VIOLATION,
            message="the program forged a message to the judge",
            signals={"tampering": 1},
        )
    if report.limits:
        return _limit(*report.limits)
    if report.load is not None:
        return _not_loaded(report.load)
    if isinstance(work, SplitPrograms):
        return _conclude_split(report)
    if isinstance(work, Conversation):
        return _conclude_conversation(finish, report)
    if report.broken is not None:
        return _left_early(finish)
    if isinstance(work, Program | Commands):
        return _conclude_program(finish, report)
    if not _complete(report.tests, work):
        return _crashed("not every test ran to its end", "incomplete")
    raised = [test.message for test in report.tests if test.outcome is TestOutcome.ERROR]
    limits = tuple(dict.fromkeys(limit for text in raised if (limit := _exhausted(text))))
    return _Conclusion(ending=Ending.COMPLETED, message=report.message, limits=limits)


def _conclude_split(report: _Report) -> _Conclusion:
    """Returns the conclusion about two programs; the solution's program must not end first."""
    if report.broken is not None:
        if limit := _exhausted(_last_line(report)):
            return _limit(limit)
        exited = report.status is not None and os.WIFEXITED(report.status)
        said = "was lost" if report.status is None else _say_status(report.status)
        message = f"the solution's program {said} with tests outstanding"
        return _crashed(message, *(["early_exit"] if exited else []))
    if report.is_tasks:
        return _Conclusion(ending=Ending.INVALID_TASK, message=report.message)
    if report.tests_program is None or report.tests_program.termination is None:
        return _crashed("the tests' program was lost", "judge_lost")
    return _Conclusion(ending=Ending.COMPLETED)


def _conclude_conversation(finish: Finish, report: _Report) -> _Conclusion:
    """Returns the conclusion about a solution and its interactor, whose status shows what it
    decided."""
    if report.is_tasks:
        return _Conclusion(ending=Ending.INVALID_TASK, message=report.message)
    interactor = report.tests_program and report.tests_program.termination
    if interactor is None:
        return _crashed("the interactor was lost", "judge_lost")
    accepts = interactor == Termination(kind=TerminationKind.EXITED)
    if not accepts and report.broken is None:
        return _Conclusion(ending=Ending.COMPLETED, is_stopped=True)
    return _conclude_program(finish, report)


def _conclude_program(finish: Finish, report: _Report) -> _Conclusion:
    if not os.WIFEXITED(finish.candidate_status):
        return _crashed(f"the program was {_say_status(finish.candidate_status)}")
    limit = _exhausted(_last_line(report))
    if limit and os.WEXITSTATUS(finish.candidate_status):
        return _limit(limit)
    return _Conclusion(ending=Ending.COMPLETED, message=report.message)


def _last_line(report: _Report) -> str:
    return report.stderr.data.rstrip().rpartition(b"\n")[2].decode("utf-8", "replace")


def _exhausted(text: str) -> LimitKind | None:
    """Returns the limit that an exception's text names."""
    return next((limit for words, limit in _EXHAUSTED.items() if text.startswith(words)), None)


def _not_loaded(load: _Load) -> _Conclusion:
    if load.kind == "compile":
        return _Conclusion(ending=Ending.COMPILE_ERROR, message=load.message)
    if limit := _exhausted(load.message):
        return _limit(limit)
    signals = {"early_exit": 1} if load.kind == "exit" else {}
    return _Conclusion(ending=Ending.LOAD_ERROR, message=load.message, signals=signals)


def _left_early(finish: Finish) -> _Conclusion:
    if finish.stop:
        return _crashed("the program left its tests and lived on", "early_exit")
    message = f"the program {_say_status(finish.candidate_status)} with tests outstanding"
    return _crashed(message, *(["early_exit"] if os.WIFEXITED(finish.candidate_status) else []))


def _blame_processes(finish: Finish, conclusion: _Conclusion, work: Work) -> _Conclusion:
    """Adds the limit of processes if the kernel refused any; it then counts as a failure's
    cause."""
    if not finish.process_limit_hits:
        return conclusion
    failed = conclusion.ending in (Ending.CRASHED, Ending.LOAD_ERROR)
    ran = isinstance(work, Program | Commands) and conclusion.ending is Ending.COMPLETED
    if failed or (ran and finish.candidate_status != 0):
        return _limit(LimitKind.PROCESSES)
    return replace(conclusion, limits=(*conclusion.limits, LimitKind.PROCESSES))


def _crashed(message: str, *signals: str) -> _Conclusion:
    return _Conclusion(ending=Ending.CRASHED, message=message, signals=dict.fromkeys(signals, 1))


def _limit(*kinds: LimitKind) -> _Conclusion:
    return _Conclusion(ending=Ending.LIMIT, message=_STOP_WORDS[kinds[0]], limits=kinds)


def _complete(
    tests: tuple[TestResult, ...], work: FunctionJudgement | CallJudgement | UnitJudgement
) -> bool:
    """Returns True if every test of the request has an outcome that counts."""
    match work:
        case CallJudgement():
            expected = len(tests) == len(work.tests.cases)
        case FunctionJudgement():
            expected = len(tests) >= max(1, len(work.tests.asserts))
        case UnitJudgement():
            expected = len(tests) >= 1
    outcomes = [test.outcome for test in tests]
    if TestOutcome.NOT_RUN in outcomes:
        before = outcomes[: outcomes.index(TestOutcome.NOT_RUN)]
        expected &= work.stop_at_first_failure and any(one in _FAILURES for one in before)
    return bool(tests) and expected and TestOutcome.LIMIT not in outcomes


def _signal_of(status: int) -> int:
    return os.WTERMSIG(status) if status != -1 and os.WIFSIGNALED(status) else 0


# --------------------------------------------------------------------------------- the result


def _execution(finish: Finish, conclusion: _Conclusion, report: _Report | None) -> Execution:
    counted = dict(report.signals) if report else {}
    if report and report.broken == "closed" and "early_exit" not in conclusion.signals:
        # A closed channel does not show whether a program exited or was killed.
        counted.pop("early_exit", None)
    for name, count in conclusion.signals.items():
        counted[name] = max(count, counted.get(name, 0))
    stopped = Termination(kind=TerminationKind.STOPPED)
    return Execution(
        ending=conclusion.ending,
        termination=stopped if conclusion.is_stopped else _termination(finish),
        message=conclusion.message,
        tests=report.tests if report else (),
        product=report.product if report else b"",
        tests_program=report.tests_program if report else None,
        stdout=report.stdout if report else CapturedStream(),
        stderr=report.stderr if report else CapturedStream(),
        usage=Usage(
            cpu_time_seconds=finish.cpu_time_ns / 1e9,
            wall_time_seconds=finish.wall_time_ns / 1e9,
            peak_memory_bytes=finish.peak_memory_bytes,
        ),
        limits_hit=conclusion.limits,
        signals=counted,
    )


def _termination(finish: Finish) -> Termination:
    status, stop = finish.candidate_status, Stop(finish.stop)
    if status == -1:
        return Termination(kind=TerminationKind.STOPPED)
    ended = _ended(status)
    if ended.kind is TerminationKind.EXITED:
        return ended
    number = ended.value
    if number == signal.SIGKILL and (stop in _STOP_LIMITS or finish.oom_kills > 0):
        return Termination(kind=TerminationKind.LIMIT, value=number)
    if number == signal.SIGKILL and stop is not Stop.NONE:
        return Termination(kind=TerminationKind.STOPPED, value=number)
    return ended


def _ended(status: int) -> Termination:
    if os.WIFEXITED(status):
        return Termination(kind=TerminationKind.EXITED, value=os.WEXITSTATUS(status))
    return Termination(kind=TerminationKind.SIGNALED, value=os.WTERMSIG(status))


# --------------------------------------------------------------------------------- the schema


def _read(findings: Findings, work: Work) -> _Report | None:
    """Returns the report, or None if there is none that matches the schema."""
    if findings.report is None:
        return None
    try:
        return _parse(findings.report, findings.blobs, findings.stage, work)
    except (KeyError, TypeError, ValueError):
        return None


def _parse(
    report: Mapping[str, object], blobs: Mapping[str, bytes], stage: Stage, work: Work
) -> _Report:
    if _typed(report["ready"], bool) != (stage is Stage.READY):
        raise ValueError("ready contradicts the stage")
    blame = report["blame"]
    is_blamable = stage is not Stage.READY or isinstance(work, Pair)
    if blame not in ((None, "task") if is_blamable else (None,)):
        raise ValueError("blame")
    if report["broken"] not in (None, "closed", "forged"):
        raise ValueError("broken")
    weights = _weights(work)
    tests = tuple(
        _parse_test(test, weights[index] if index < len(weights) else 1.0)
        for index, test in enumerate(_typed(report["tests"], list))
    )
    return _Report(
        load=_parse_load(report["load"]),
        broken=None if report["broken"] is None else str(report["broken"]),
        limits=tuple(_REPORT_LIMITS[name] for name in _typed(report["limits"], list)),
        message=_typed(report["message"], str),
        tests=tests,
        signals={
            _typed(name, str): _count(number)
            for name, number in _typed(report["signals"], dict).items()
        },
        status=_parse_status(report["status"], work),
        stdout=_stream(blobs["stdout"], report["stdout_size"]),
        stderr=_stream(blobs["stderr"], report["stderr_size"]),
        product=blobs["product"],
        tests_program=_parse_tests_program(report["tests_program"], blobs, work),
        is_tasks=blame is not None,
    )


def _parse_tests_program(
    ended: object, blobs: Mapping[str, bytes], work: Work
) -> TestsProgram | None:
    if ended is None:
        return None
    if not isinstance(work, Pair):
        raise ValueError("tests_program")
    fields = _typed(ended, dict)
    status = fields["status"]
    return TestsProgram(
        termination=None if status is None else _ended(_count(status)),
        stdout=_stream(blobs["tests_stdout"], fields["stdout_size"]),
        stderr=_stream(blobs["tests_stderr"], fields["stderr_size"]),
    )


def _parse_load(load: object) -> _Load | None:
    if load is None:
        return None
    fields = _typed(load, dict)
    kind = _typed(fields["kind"], str)
    if kind not in _LOAD_KINDS:
        raise ValueError("load")
    return _Load(kind=kind, message=_typed(fields["message"], str))


def _parse_status(status: object, work: Work) -> int | None:
    if status is not None and not isinstance(work, Commands | Pair):
        raise ValueError("status")
    return None if status is None else _count(status)


def _parse_test(test: object, weight: float) -> TestResult:
    fields = _typed(test, dict)
    return TestResult(
        name=_typed(fields["name"], str),
        outcome=TestOutcome[Outcome(_typed(fields["outcome"], str))],
        message=_typed(fields["message"], str),
        weight=weight,
        wall_time_seconds=_count(fields["wall_ns"]) / 1e9,
    )


def _weights(work: Work) -> tuple[float, ...]:
    if isinstance(work, CallJudgement):
        return tuple(case.weight for case in work.tests.cases)
    return ()


def _stream(data: bytes, size: object) -> CapturedStream:
    stream = CapturedStream(data=data, size_bytes=_count(size))
    if len(data) > stream.size_bytes:
        raise ValueError("more was kept than written")
    return stream


def _typed(value: object, kind: type[T]) -> T:
    if type(value) is not kind:
        raise TypeError(f"{kind.__name__} expected")
    return value


def _count(value: object) -> int:
    number = _typed(value, int)
    if number < 0:
        raise ValueError("a count is negative")
    return number
