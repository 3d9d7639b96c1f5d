"""The parts that answers of SandboxFusion's door share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response

from reward_server.errors import DeadlineError, DrainingError, OverloadedError, SandboxError
from reward_server.http.failures import refusal

NOT_RUN = (OverloadedError, DeadlineError, DrainingError, SandboxError)
SUCCESS, FAILED = "Success", "Failed"
# The third status, "Error", would say that the server failed; what was not run is 504 instead.
FINISHED, TIMED_OUT = "Finished", "TimeLimitExceeded"
KILLED = -9  # the return code of a program that a limit ended
_NOT_RUN_STATUS = 504

Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]


def refused(error: Exception) -> Response:
    """Returns the answer of a failure; what was not run is 504, which clients try again."""
    return refusal(error, _NOT_RUN_STATUS if isinstance(error, NOT_RUN) else None)


def told(
    status: str,
    *,
    message: str = "",
    compile_result: Mapping[str, Any] | None = None,
    run_result: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Returns a description of a run, SandboxFusion's `RunCodeResponse`."""
    return {
        "status": status,
        "message": message,
        "compile_result": compile_result,
        "run_result": run_result,
        "executor_pod_name": None,
        "files": {},
    }


def command_result(
    status: str,
    *,
    return_code: int | None,
    stdout: str = "",
    stderr: str = "",
    wall_time_seconds: float | None = None,
    cpu_time_seconds: float | None = None,
) -> dict[str, Any]:
    """Returns a description of a command, SandboxFusion's `CommandRunResult`."""
    return {
        "status": status,
        "execution_time": wall_time_seconds,
        "cpu_time": cpu_time_seconds,
        "return_code": return_code,
        "stdout": stdout,
        "stderr": stderr,
    }
