"""Errors that callers of this package can receive.

    RewardClientError
    ├── TaskError           a data-set row cannot become a request; names the field
    ├── ConfigError         a setting of `reward-train` is wrong; names the setting
    ├── CallError           `execute` or `server_info` got no answer; carries the gRPC status
    └── RewardLostError     nothing could be judged for too long; training should stop

`score` raises none of them: a completion that could not be judged is a `Score` with an `error`.
"""

from __future__ import annotations


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


class RewardLostError(RewardClientError):
    """No reward arrived for too long; the message gives the reason."""
