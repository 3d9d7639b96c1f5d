"""Failures of the server. A program's failure is never an exception; see `domain.Execution`.

RewardServerError
├── RequestError            the caller's fault; the same request fails again
│   ├── InvalidRequestError     malformed or oversize; names the field
│   └── UnsupportedError        this server cannot do it (language, limit, integrity)
├── UnknownTaskError        no such task is stored; store it, and send the request again
├── UnauthenticatedError    no valid credential was shown
├── OverloadedError         the queue is full or too slow; retry after a while
│   └── QuotaError              a tenant has as much as its quota allows; retry after a while
├── DeadlineError           the deadline was not met
├── BudgetSpentError        a submission used up its time; the program's fault, and a verdict
├── DrainingError           the server is shutting down; retry elsewhere
├── SandboxError            the server's machinery failed; retry elsewhere
├── SessionEndedError       a session that is not open, or not the caller's; open another
├── SessionProcessError     no such command runs in a session
├── SessionFileError        a file of a session cannot be read or written; the caller's fault
└── StartError              the server cannot start as it is configured
    ├── SettingsError           a setting is wrong
    └── MissingWallError        a protection is missing; see `doctor`
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Collection

_DOCTOR = "`reward-server doctor`"


class RewardServerError(Exception):
    """Base of all failures of the server."""


class RequestError(RewardServerError):
    """The caller's fault: the same request fails again."""


class InvalidRequestError(RequestError):
    """A malformed or oversize request.

    Args:
        field: path of the offending field, such as `limits.cpu_time_seconds`.
        problem: what is wrong with it, and the limit if there is one.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class UnsupportedError(RequestError):
    """A request that this server cannot serve, such as an unknown language."""


class UnknownTaskError(RewardServerError):
    """No task with this digest is stored for the caller's credential.

    Args:
        digest: the digest that the request has.
    """

    def __init__(self, digest: bytes) -> None:
        super().__init__(
            f"task_digest: no task {digest.hex()} is stored for this credential; "
            "store it by PutTask and send the request again"
        )
        self.digest = digest


class UnauthenticatedError(RewardServerError):
    """The caller showed no valid credential."""


class OverloadedError(RewardServerError):
    """The queue is full, or cannot serve the request before its deadline.

    Args:
        retry_after_seconds: time after which a retry may succeed.
    """

    def __init__(self, message: str, *, retry_after_seconds: float) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class QuotaError(OverloadedError):
    """A tenant has as much at once as its quota allows.

    Args:
        tenant: the tenant's name.
        quota: the quota's name in the token file.
        limit: its value, and where it applies.
        retry_after_seconds: time after which a retry may succeed.
    """

    def __init__(self, tenant: str, quota: str, limit: str, *, retry_after_seconds: float) -> None:
        super().__init__(
            f"the tenant {tenant} has no more than {quota} of {limit} at once",
            retry_after_seconds=retry_after_seconds,
        )
        self.quota = quota


class DeadlineError(RewardServerError):
    """A deadline that was not met."""


class BudgetSpentError(RewardServerError):
    """The executions of a submission used up its time budget; the submission gets a verdict."""


class DrainingError(RewardServerError):
    """The server is shutting down and takes no more work."""


class SandboxError(RewardServerError):
    """The server's machinery failed; nothing is known about the program."""


class SessionEnd(enum.StrEnum):
    """Why a session is not open."""

    NOT_FOUND = "SESSION_NOT_FOUND"
    CLOSED = "SESSION_CLOSED"
    EXPIRED = "SESSION_EXPIRED"
    IDLE = "SESSION_IDLE"
    LOST = "SESSION_LOST"


class SessionEndedError(RewardServerError):
    """A session that is not open, or not the caller's.

    Args:
        reason: why.
        message: the explanation for people.
    """

    def __init__(self, reason: SessionEnd, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class SessionProcessError(RewardServerError):
    """No such command runs in a session."""


class SessionFileError(RewardServerError):
    """A file of a session that cannot be read, written or listed.

    Args:
        reason: why, such as `FILE_NOT_FOUND`.
        message: the path, and the kernel's explanation.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class StartError(RewardServerError):
    """The server cannot start as it is configured; a person has to change something."""


class SettingsError(StartError):
    """A setting is wrong, or two do not go together."""


class MissingWallError(StartError):
    """A protection is missing, and the settings do not allow it to be missing.

    Args:
        missing: name and detail of each missing wall.
        waivable: names of the walls that the settings may allow to be missing.
    """

    def __init__(self, missing: tuple[tuple[str, str], ...], *, waivable: Collection[str]) -> None:
        lines = [f"  {name}: {detail}" for name, detail in missing]
        needed = [name for name, _ in missing if name not in waivable]
        others = [name for name, _ in missing if name in waivable]
        advice = []
        if needed:
            advice.append(f"mend {', '.join(needed)}, without which nothing runs (see {_DOCTOR})")
        if others:
            advice.append(
                f"mend {', '.join(others)} (see {_DOCTOR}), or accept the risk with "
                f"--allow-missing {','.join(others)}"
            )
        super().__init__("\n".join(["missing protections:", *lines, *advice]))
        self.missing = missing


def cause_of(error: BaseException) -> str:
    """Returns what an operator is told about a container that did not do as it was asked."""
    match error:
        case TimeoutError():
            return "it did not answer in time"
        case asyncio.IncompleteReadError():
            return "its processes ended"
        case _:
            return f"{type(error).__name__}: {error}"
