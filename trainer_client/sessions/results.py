"""The values that the calls of a session return."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from codereward.v1 import reward_service_pb2 as reward_pb
from codereward.v1 import session_service_pb2 as pb

_WORDS = {
    "WALL_TIME": "stopped at its time limit, after {seconds:g} s",
    "MEMORY": "the kernel killed a process because the session's memory ran out",
    "PROCESSES": "the session had as many processes as its limit allows, and a fork was refused",
    "OUTPUT": "a part of the output was dropped because it was longer than asked for",
}


class FileType(enum.Enum):
    """Types of files."""

    OTHER = pb.FILE_TYPE_UNSPECIFIED
    FILE = pb.FILE_TYPE_FILE
    FOLDER = pb.FILE_TYPE_FOLDER
    LINK = pb.FILE_TYPE_LINK


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """An entry of a folder.

    Args:
        path: its path, relative to the folder.
        type: its type.
        size_bytes: its size.
        mode: its permission bits.
    """

    path: str
    type: FileType
    size_bytes: int
    mode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputChunk:
    """A piece of a command's output.

    Args:
        data: the bytes.
        is_error: whether they went to standard error.
    """

    data: bytes
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecResult:
    """The end of a command, and its output.

    Args:
        exit_code: the exit code; None if a signal or a limit ended the command. A command that
            could not be started has 127 if there is no such file, and 126 for any other reason.
        signal: the signal that ended it; None if none did.
        stdout: standard output, as far as it was asked for.
        stderr: standard error, as far as it was asked for.
        stdout_size_bytes: bytes that the command wrote to standard output.
        stderr_size_bytes: bytes that the command wrote to standard error.
        stdout_truncated: whether `stdout` lacks a part.
        stderr_truncated: whether `stderr` lacks a part.
        limits_hit: names of the limits that were hit: `WALL_TIME`, `MEMORY`, `PROCESSES`,
            `OUTPUT`.
        start_error: why the command could not be started; empty if it was.
        wall_time_seconds: from its start to its end.
    """

    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    stdout_size_bytes: int
    stderr_size_bytes: int
    stdout_truncated: bool
    stderr_truncated: bool
    limits_hit: tuple[str, ...]
    start_error: str
    wall_time_seconds: float

    @property
    def success(self) -> bool:
        """Returns True if the command ended by itself with the exit code 0."""
        return self.exit_code == 0

    @property
    def explanation(self) -> str:
        """A sentence for a model about the command's end, besides output and exit code; may be
        empty."""
        told = [_WORDS[limit].format(seconds=self.wall_time_seconds) for limit in self.limits_hit]
        if self.signal is not None:
            told.insert(0, f"ended by signal {self.signal}")
        if self.start_error:
            told.insert(0, f"not started: {self.start_error}")
        return "; ".join(told)


class CodeOutcome(enum.Enum):
    """How code in an interpreter ended."""

    COMPLETED = pb.CODE_OUTCOME_COMPLETED
    RAISED = pb.CODE_OUTCOME_RAISED
    INTERRUPTED = pb.CODE_OUTCOME_INTERRUPTED
    INTERPRETER_LOST = pb.CODE_OUTCOME_INTERPRETER_LOST


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeResult:
    """The end of code in an interpreter, and its output.

    Args:
        outcome: how it ended. After `INTERPRETER_LOST` the interpreter's state is gone; otherwise
            it is kept.
        value: the value of the last expression, as `repr` writes it; None if there is none.
        error_name: name of the exception's class; empty if none was raised.
        error_message: the exception's message.
        traceback: the traceback, with lines of the code and of files of the session alone.
        stdout: standard output, as far as it was asked for.
        stderr: standard error, as far as it was asked for.
        images: the figures that were drawn, as PNG.
        stdout_size_bytes: bytes that were written to standard output.
        stderr_size_bytes: bytes that were written to standard error.
        value_truncated: whether `value` is only its first part.
        stdout_truncated: whether `stdout` lacks a part.
        stderr_truncated: whether `stderr` lacks a part.
        dropped_images: figures that were too large or too many.
        exit_code: exit code of an interpreter that is lost; None if it did not exit.
        signal: the signal that ended an interpreter that is lost; None if none did.
        limits_hit: names of the limits that were hit: `WALL_TIME`, `MEMORY`, `PROCESSES`,
            `OUTPUT`.
        wall_time_seconds: from its start to its end.
        execution_count: number of the call in its interpreter, from 1.
        restarted: whether the interpreter of the context's earlier calls was gone.
    """

    outcome: CodeOutcome
    value: str | None
    error_name: str
    error_message: str
    traceback: str
    stdout: bytes
    stderr: bytes
    images: tuple[bytes, ...]
    stdout_size_bytes: int
    stderr_size_bytes: int
    value_truncated: bool
    stdout_truncated: bool
    stderr_truncated: bool
    dropped_images: int
    exit_code: int | None
    signal: int | None
    limits_hit: tuple[str, ...]
    wall_time_seconds: float
    execution_count: int
    restarted: bool

    @property
    def success(self) -> bool:
        """Returns True if the code ran to its end."""
        return self.outcome is CodeOutcome.COMPLETED

    @property
    def explanation(self) -> str:
        """A sentence for a model about the code's end, besides output, value and traceback; may be
        empty."""
        told = [_WORDS[limit].format(seconds=self.wall_time_seconds) for limit in self.limits_hit]
        if self.outcome is CodeOutcome.INTERPRETER_LOST:
            told.append("the interpreter has ended, and its variables are lost")
        if self.signal is not None:
            told.append(f"it was ended by signal {self.signal}")
        if self.exit_code is not None:
            told.append(f"it ended with exit code {self.exit_code}")
        if self.restarted:
            told.append(
                "this was another interpreter than before, without the variables of earlier code"
            )
        return "; ".join(told)


def result_of(ended: pb.ExecEnded, stdout: bytes, stderr: bytes) -> ExecResult:
    """Builds the result of a command from its end and its output."""
    exit_code, signal = _end_of(ended.termination)
    return ExecResult(
        exit_code=exit_code,
        signal=signal,
        stdout=stdout,
        stderr=stderr,
        stdout_size_bytes=ended.stdout_size_bytes,
        stderr_size_bytes=ended.stderr_size_bytes,
        stdout_truncated=ended.stdout_truncated,
        stderr_truncated=ended.stderr_truncated,
        limits_hit=_names(ended.limits_hit),
        start_error=ended.start_error,
        wall_time_seconds=ended.wall_time_seconds,
    )


def code_result_of(
    ended: pb.RunCodeEnded, stdout: bytes, stderr: bytes, images: Iterable[bytes]
) -> CodeResult:
    """Builds the result of code from its end and its output."""
    exit_code, signal = _end_of(ended.termination)
    return CodeResult(
        outcome=CodeOutcome(ended.outcome),
        value=ended.value if ended.HasField("value") else None,
        error_name=ended.error.name,
        error_message=ended.error.message,
        traceback=ended.error.traceback,
        stdout=stdout,
        stderr=stderr,
        images=tuple(images),
        stdout_size_bytes=ended.stdout_size_bytes,
        stderr_size_bytes=ended.stderr_size_bytes,
        value_truncated=ended.value_truncated,
        stdout_truncated=ended.stdout_truncated,
        stderr_truncated=ended.stderr_truncated,
        dropped_images=ended.dropped_images,
        exit_code=exit_code,
        signal=signal,
        limits_hit=_names(ended.limits_hit),
        wall_time_seconds=ended.wall_time_seconds,
        execution_count=ended.execution_count,
        restarted=ended.restarted,
    )


def _end_of(termination: reward_pb.Termination) -> tuple[int | None, int | None]:
    """Returns the exit code and the signal of a process; None for what did not end it."""
    exited = termination.kind == reward_pb.TERMINATION_KIND_EXITED
    signaled = termination.kind == reward_pb.TERMINATION_KIND_SIGNALED
    return (
        termination.exit_code if exited else None,
        termination.signal if signaled else None,
    )


def _names(limits: Iterable[reward_pb.LimitKind.ValueType]) -> tuple[str, ...]:
    return tuple(reward_pb.LimitKind.Name(limit).removeprefix("LIMIT_KIND_") for limit in limits)


def file_info_of(entry: pb.FileInfo) -> FileInfo:
    """Builds an entry of a folder."""
    return FileInfo(
        path=entry.path,
        type=FileType(entry.type),
        size_bytes=entry.size_bytes,
        mode=entry.mode,
    )
