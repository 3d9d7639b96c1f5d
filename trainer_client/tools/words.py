"""What a model is told about the end of a program, and about the tests of its solution.

Output comes from programs of the model; nothing in it is about hidden tests. About these a model is
told what the feedback level allows, and nothing by default.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.score import Integrity, Score, TestOutcome, Verdict
from trainer_client.sessions.results import CodeResult, ExecResult

# Each level tells what the levels before it tell, and more.
Feedback = Literal["none", "verdict", "failing_test_name", "stderr"]
_LEVELS: tuple[Feedback, ...] = ("none", "verdict", "failing_test_name", "stderr")

SUBMITTED = "Submitted. The tests run at the end."
NOTHING = "[no output]"
UNAVAILABLE = "The sandbox is not available. End your turn."
OVER = "The task is over. End your turn."
FILE_IS_JUDGED = (
    "\n\nThe file {path} in the working folder is your solution. Only this file is judged."
)
FOLDER_IS_JUDGED = (
    "\n\nThe working folder is the repository. What its files are at the end is judged."
)

_VERDICTS = {
    Verdict.PASSED: "All tests passed.",
    Verdict.FAILED: "A test failed.",
    Verdict.COMPILE_ERROR: "The solution does not compile.",
    Verdict.RUNTIME_ERROR: "The solution crashed, or raised an exception.",
    Verdict.TIME_LIMIT_EXCEEDED: "The solution took too long.",
    Verdict.MEMORY_LIMIT_EXCEEDED: "The solution used too much memory.",
    Verdict.OUTPUT_LIMIT_EXCEEDED: "The solution printed too much.",
    Verdict.SECURITY_VIOLATION: "The solution did something that is not allowed.",
    Verdict.INVALID_TASK: "The tests themselves are broken.",
}
_LIMITS = {
    "CPU_TIME": "stopped after {limits.cpu_time_seconds:g} s of CPU time",
    "WALL_TIME": "stopped after {limits.wall_time_seconds:g} s",
    "MEMORY": "ran out of memory: the limit is {mebibytes} MiB",
    "PROCESSES": "no further process or thread was allowed: the limit is {limits.processes}",
    "FILE_SIZE": "a file was too large: the limit is {limits.file_size_bytes} bytes",
    "DISK": "the disk was full: the limit is {limits.disk_bytes} bytes",
    "OPEN_FILES": "no further file could be opened: the limit is {limits.open_files}",
    "OUTPUT": "printed too much: the limit is {limits.output_bytes} bytes",
    "RESULT": "a result was too large: the limit is {limits.result_bytes} bytes",
    "CALLS": "too many calls: the limit is {limits.calls}",
}
_QUIET = (TestOutcome.PASSED, TestOutcome.SKIPPED, TestOutcome.NOT_RUN)


def program_told(answer: pb.ExecuteResponse, limits: pb.Limits, most: int) -> str:
    """Returns the output of a program, and its end.

    Args:
        answer: the server's answer.
        limits: the limits of the execution.
        most: characters of each output stream, at most.
    """
    hit = [pb.LimitKind.Name(kind).removeprefix("LIMIT_KIND_") for kind in answer.limits_hit]
    endings = [_limit(name, limits) for name in hit]
    if answer.termination.kind == pb.TERMINATION_KIND_SIGNALED:
        endings.append(f"ended by signal {answer.termination.signal}")
    elif answer.termination.exit_code:
        endings.append(f"exit code {answer.termination.exit_code}")
    return _told(answer.stdout.data, answer.stderr.data, endings, most)


def command_told(result: ExecResult, most: int) -> str:
    """Returns the output of a command in a session, and its end.

    Args:
        result: the command's result.
        most: characters of each output stream, at most.
    """
    endings = [result.explanation] if result.explanation else []
    if result.exit_code:
        endings.append(f"exit code {result.exit_code}")
    return _told(result.stdout, result.stderr, endings, most)


def code_told(result: CodeResult, most: int) -> str:
    """Returns the output of code in an interpreter, the value of its last expression, and its end.

    Args:
        result: the code's result.
        most: characters of each of the texts, at most.
    """
    parts = [_told(result.stdout, result.stderr, [], most)] if result.stdout + result.stderr else []
    parts += [shortened(text, most) for text in (result.value, result.traceback) if text]
    if result.explanation:
        parts.append(f"[{result.explanation}]")
    return "\n".join(part.rstrip("\n") for part in parts) or NOTHING


def tests_told(found: Score, level: Feedback, limits: pb.Limits, most: int) -> str:
    """Returns what a feedback level tells about the tests of a solution.

    Args:
        found: the server's conclusion.
        level: the feedback level.
        limits: the limits of the executions.
        most: characters of standard error, at most.
    """
    return "\n".join(_lines(found, level, limits, most))


def shortened(text: str, most: int) -> str:
    """Returns the beginning and the end of a text, if it has more than `most` characters."""
    if len(text) <= most:
        return text
    head = most // 2
    tail = most - head
    return f"{text[:head]}\n[{len(text) - most} characters are left out]\n{text[-tail:]}"


def _lines(found: Score, level: Feedback, limits: pb.Limits, most: int) -> Iterator[str]:
    rank = _LEVELS.index(level)
    yield SUBMITTED if rank == 0 or found.verdict is None else _VERDICTS[found.verdict]
    if rank == 0:
        return
    for name in found.limits_hit:
        yield f"[{_limit(name, limits)}]"
    failing = next((test.name for test in found.tests if test.outcome not in _QUIET), "")
    if rank >= _LEVELS.index("failing_test_name") and failing:
        yield f"The first test that did not pass: {failing}"
    # Beside the solution, tests write their own text to its standard error.
    is_the_solutions = found.integrity is Integrity.ISOLATED
    if rank >= _LEVELS.index("stderr") and found.stderr and is_the_solutions:
        yield f"[stderr]\n{_text(found.stderr, most)}"


def _limit(name: str, limits: pb.Limits) -> str:
    words = _LIMITS.get(name, f"reached the limit {name}")
    return words.format(limits=limits, mebibytes=limits.memory_bytes >> 20)


def _told(stdout: bytes, stderr: bytes, endings: list[str], most: int) -> str:
    parts = [_text(stdout, most)] if stdout else []
    if stderr:
        parts.append(f"[stderr]\n{_text(stderr, most)}")
    parts += [f"[{ending}]" for ending in endings]
    return "\n".join(parts) or NOTHING


def _text(data: bytes, most: int) -> str:
    return shortened(data.decode("utf-8", "replace").rstrip("\n"), most)
