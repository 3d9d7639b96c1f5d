"""The values that sessions exchange with their sandboxes."""

from __future__ import annotations

import base64
import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from reward_server.domain import MEBIBYTE, LimitKind, Network, Termination
from reward_server.runner.sessions.wire import Type
from reward_server.runner.walls import policy

WORKING_FOLDER, USER_FOLDER = policy.WORK_FOLDER, policy.USER_FOLDER


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """Limits of all that is in a session, together.

    Args:
        memory_bytes: memory of its processes and files.
        processes: processes and threads alive at once.
        disk_bytes: size of its files.
        file_size_bytes: size of one file.
        open_files: open descriptors of one process.
    """

    memory_bytes: int = 512 * MEBIBYTE
    processes: int = 128
    disk_bytes: int = 256 * MEBIBYTE
    file_size_bytes: int = 256 * MEBIBYTE
    open_files: int = 1024

    def within(self, greatest: SessionLimits) -> SessionLimits:
        """Returns these limits, each at most the greatest."""
        return SessionLimits(
            **{
                limit.name: min(getattr(self, limit.name), getattr(greatest, limit.name))
                for limit in fields(self)
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The limits and the network that a session's sandbox needs.

    Args:
        limits: its limits.
        network: its network.
    """

    limits: SessionLimits
    network: Network = Network.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command to run.

    Args:
        argv: the executable and its arguments.
        cwd: the folder to run it in, absolute or relative to the working folder.
        environment: variables added to those of all programs.
        time_limit_seconds: wall time after which it is killed.
        output_bytes: bytes of each output stream that are kept.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    time_limit_seconds: float
    output_bytes: int
    cwd: str = "."


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The start of a command; `pid` is the number of its process in the session."""

    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A piece of a command's output."""

    data: bytes
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of a command.

    Args:
        termination: how its process ended.
        problem: why it could not be started; empty if it was.
        limits_hit: the limits that were hit meanwhile.
        stdout_bytes: bytes that it wrote to standard output.
        stderr_bytes: bytes that it wrote to standard error.
        stdout_truncated: whether a part of standard output was dropped.
        stderr_truncated: whether a part of standard error was dropped.
        wall_time_seconds: from its start to its end.
    """

    termination: Termination
    problem: str
    limits_hit: tuple[LimitKind, ...]
    stdout_bytes: int
    stderr_bytes: int
    stdout_truncated: bool
    stderr_truncated: bool
    wall_time_seconds: float


Event = Started | Output | Ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Code to run in an interpreter.

    Args:
        source: the code.
        time_limit_seconds: wall time after which it is interrupted.
        output_bytes: bytes of each output stream that are kept.
        environment: variables that it sees beside those of its interpreter.
    """

    source: str
    time_limit_seconds: float
    output_bytes: int
    environment: Mapping[str, str] = field(default_factory=dict)


class CodeOutcome(enum.Enum):
    """How code in an interpreter ended; the values are those of the protocol."""

    COMPLETED = 1
    RAISED = 2
    INTERRUPTED = 3
    INTERPRETER_LOST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What code shows: a figure, the value of its last expression, or what it displays.

    Args:
        data: it by MIME type: a text, bytes in base64, or JSON.
        is_main: whether it is the value of the last expression.
    """

    data: Mapping[str, Any]
    is_main: bool

    @property
    def text(self) -> str:
        """It as text."""
        return str(self.data.get("text/plain", ""))

    @property
    def png(self) -> bytes | None:
        """It as an image, if it is one."""
        found = self.data.get("image/png")
        return None if found is None else base64.b64decode(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """An exception of code in an interpreter."""

    name: str
    message: str
    traceback: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeEnded:
    """The end of code in an interpreter.

    Args:
        outcome: how it ended.
        value: the `repr` of the last expression's value; None if there is none.
        value_truncated: whether `value` is only its first part.
        error: the exception that it raised.
        termination: how the interpreter's process ended, if it is lost.
        limits_hit: the limits that were hit meanwhile.
        stdout_bytes: bytes that were written to standard output.
        stderr_bytes: bytes that were written to standard error.
        stdout_truncated: whether a part of standard output was dropped.
        stderr_truncated: whether a part of standard error was dropped.
        dropped_images: figures that were too large or too many.
        wall_time_seconds: from its start to its end.
        execution_count: number of the call in its interpreter, from 1.
        restarted: whether the interpreter of earlier calls was gone.
    """

    outcome: CodeOutcome
    value: str | None = None
    value_truncated: bool = False
    error: Raised | None = None
    termination: Termination | None = None
    limits_hit: tuple[LimitKind, ...]
    stdout_bytes: int
    stderr_bytes: int
    stdout_truncated: bool
    stderr_truncated: bool
    dropped_images: int = 0
    wall_time_seconds: float
    execution_count: int
    restarted: bool = False


CodeEvent = Output | Shown | CodeEnded


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file to write; see `SessionFile` in the protocol."""

    path: str
    content: bytes
    append: bool = False
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """An entry of a folder."""

    path: str
    type: Type
    size_bytes: int
    mode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What the kernel counted in a session's control group.

    Args:
        oom_kills: processes killed because memory ran out.
        process_limit_hits: forks refused because of the limit of processes.
    """

    oom_kills: int = 0
    process_limit_hits: int = 0

    def limits_hit(
        self, after: Counters, *, timed_out: bool, output_cut: bool
    ) -> tuple[LimitKind, ...]:
        """Returns the limits that were hit since these counters were read.

        Args:
            after: the counters of now.
            timed_out: whether the time limit was reached.
            output_cut: whether output was dropped.
        """
        hit = {
            LimitKind.WALL_TIME: timed_out,
            LimitKind.MEMORY: after.oom_kills > self.oom_kills,
            LimitKind.PROCESSES: after.process_limit_hits > self.process_limit_hits,
            LimitKind.OUTPUT: output_cut,
        }
        return tuple(limit for limit, is_hit in hit.items() if is_hit)
