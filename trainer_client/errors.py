"""Errors that callers of this package can receive.

    RewardClientError
    ├── TaskError           a data-set row cannot become a request; names the field
    ├── ConfigError         a setting of `reward-train` is wrong; names the setting
    ├── CallError           a call other than `score` got no answer; carries the gRPC status
    │   ├── SessionEndedError   the session is gone; open another
    │   ├── SessionFileError    a file of a session cannot be read or written
    │   └── SessionProcessError a command of a session has ended
    └── RewardLostError     nothing could be judged for too long; training should stop

`score` raises none of them: a completion that could not be judged is a `Score` with an `error`.
"""

from __future__ import annotations

_RETRYABLE = frozenset({"UNAVAILABLE", "RESOURCE_EXHAUSTED", "CANCELLED"})
_CALLERS = frozenset(
    {
        "INVALID_ARGUMENT",
        "FAILED_PRECONDITION",
        "NOT_FOUND",
        "PERMISSION_DENIED",
        "UNAUTHENTICATED",
        "UNIMPLEMENTED",
    }
)


class RewardClientError(Exception):
    """Base of all errors of this package."""


class TaskError(RewardClientError, ValueError):
    """A data-set row that cannot become a request.

    Args:
        task: name of the task format, such as `humaneval`.
        field: the offending field of the row, such as `test_list[2]`.
        problem: what is wrong with it.
        row: the row's id; "" if it is not known.

    Examples:
        >>> from trainer_client import TaskError, tasks
        >>> try:
        ...     tasks.humaneval({"task_id": "HumanEval/0", "prompt": "def double(x):"})
        ... except TaskError as error:
        ...     print(error)
        humaneval row: entry_point: is absent or blank
    """

    def __init__(self, task: str, field: str, problem: str, row: str = "") -> None:
        super().__init__(task, field, problem, row)
        self.task = task
        self.field = field
        self.problem = problem
        self.row = row

    def __str__(self) -> str:
        row = f" {self.row}" if self.row else ""
        return f"{self.task} row{row}: {self.field}: {self.problem}"


class ConfigError(RewardClientError, ValueError):
    """A wrong setting; the message names it."""


def missing_package(error: ImportError, extra: str) -> ConfigError:
    """Returns the error for a package that is not installed; it names the extra to install."""
    return ConfigError(
        f"{error}: pip install '.[{extra}]' in a checkout of Reward Server brings it"
    )


class CallError(RewardClientError):
    """A call that got no answer.

    Args:
        status: name of the gRPC status, such as `UNAVAILABLE`.
        message: the server's or the transport's explanation.

    Examples:
        >>> from trainer_client import CallError, RewardClient
        >>> with RewardClient("localhost:50051") as client:
        ...     try:
        ...         client.execute({"language": "cobol", "source": "STOP RUN."})
        ...     except CallError as error:
        ...         print(error.status)
        FAILED_PRECONDITION
    """

    def __init__(self, status: str, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message

    def __str__(self) -> str:
        return f"{self.status}: {self.message}"

    @property
    def can_retry(self) -> bool:
        """Returns True if the same call may succeed later."""
        return self.status in _RETRYABLE

    @property
    def blame(self) -> str:
        """Whose fault it is: `caller` or `server`."""
        return "caller" if self.status in _CALLERS else "server"


class _ReasonedError(CallError):
    """A failed call whose status gives a reason."""

    def __init__(self, status: str, message: str, reason: str) -> None:
        super().__init__(status, message)
        self.args = (status, message, reason)
        self.reason = reason


class SessionEndedError(_ReasonedError):
    """A session that is not open; its files and processes are gone.

    The same call fails again. You can open another session.

    Args:
        status: `NOT_FOUND`.
        message: the server's explanation.
        reason: `SESSION_NOT_FOUND` (never opened there by this credential, or the server was
            restarted), `SESSION_CLOSED`, `SESSION_EXPIRED` (its lifetime was over), `SESSION_IDLE`
            (nothing happened for too long) or `SESSION_LOST` (it broke, for example because its
            memory ran out).
    """

    @property
    def blame(self) -> str:
        """Whose fault it is: `session` if it broke, otherwise `caller`."""
        return "session" if self.reason == "SESSION_LOST" else "caller"


class SessionFileError(_ReasonedError):
    """A file of a session that cannot be read, written or listed.

    Args:
        status: `NOT_FOUND` or `FAILED_PRECONDITION`.
        message: the path, and the kernel's explanation.
        reason: `FILE_NOT_FOUND`, `FILE_IS_FOLDER`, `FILE_NOT_A_FOLDER`, `FILE_NOT_REGULAR`,
            `FILE_NOT_PERMITTED`, `FILE_TOO_LARGE`, `FILE_DISK_FULL` or `FILE_FAILED`.
    """


class SessionProcessError(_ReasonedError):
    """A command that does not run in a session, or does not run any more.

    Args:
        status: `NOT_FOUND`.
        message: the server's explanation.
        reason: `PROCESS_NOT_FOUND`.
    """


class RewardLostError(RewardClientError):
    """No reward arrived for too long; the message gives the reason."""
