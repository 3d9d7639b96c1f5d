"""The values that the calls of a session return."""

from __future__ import annotations

import enum
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


def result_of(ended: pb.ExecEnded, stdout: bytes, stderr: bytes) -> ExecResult:
    """Builds the result of a command from its end and its output."""
    termination = ended.termination
    exited = termination.kind == reward_pb.TERMINATION_KIND_EXITED
    signaled = termination.kind == reward_pb.TERMINATION_KIND_SIGNALED
    return ExecResult(
        exit_code=termination.exit_code if exited else None,
        signal=termination.signal if signaled else None,
        stdout=stdout,
        stderr=stderr,
        stdout_size_bytes=ended.stdout_size_bytes,
        stderr_size_bytes=ended.stderr_size_bytes,
        stdout_truncated=ended.stdout_truncated,
        stderr_truncated=ended.stderr_truncated,
        limits_hit=tuple(
            reward_pb.LimitKind.Name(limit).removeprefix("LIMIT_KIND_")
            for limit in ended.limits_hit
        ),
        start_error=ended.start_error,
        wall_time_seconds=ended.wall_time_seconds,
    )


def file_info_of(entry: pb.FileInfo) -> FileInfo:
    """Builds an entry of a folder."""
    return FileInfo(
        path=entry.path,
        type=FileType(entry.type),
        size_bytes=entry.size_bytes,
        mode=entry.mode,
    )
