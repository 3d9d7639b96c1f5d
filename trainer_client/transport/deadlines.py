"""The time that the server may take for a request, computed from the request's own limits.

With a shorter deadline, a program that keeps within its limits could run longer than its caller
waits, and so end without a verdict. The numbers are the server's defaults. If a server has greater
ones, `GetServerInfo` reports them, and its callers have to set `rpc_timeout_seconds`.
"""

from __future__ import annotations

from codereward.v1 import reward_service_pb2 as pb

DEFAULT_WALL_TIME_SECONDS = 30.0
DEFAULT_TIME_BUDGET_SECONDS = 240.0
_QUEUE_SECONDS = 30.0
# Before a server accepts a pass, it may run perturbed copies of the tests. These runs do not count
# towards the budget. There are at most this many, and each may take the whole wall limit.
_COPIES = 32


def score_seconds(request: pb.ScoreRequest) -> float:
    """Returns the time for one attempt at a verdict.

    It is the sum of the budget, the runs of perturbed copies, one execution and the queue.
    """
    wall = _wall_seconds(request.limits)
    budget = DEFAULT_TIME_BUDGET_SECONDS
    if request.HasField("time_budget_seconds"):
        budget = request.time_budget_seconds
    copies = 0 if request.HasField("stdio") else _COPIES
    return max(budget, 2 * wall) + (copies + 1) * wall + _QUEUE_SECONDS


def execute_seconds(request: pb.ExecuteRequest) -> float:
    """Returns the time for one attempt at a run: a compilation, an execution, and the queue."""
    return max(DEFAULT_TIME_BUDGET_SECONDS, _wall_seconds(request.limits)) + _QUEUE_SECONDS


def _wall_seconds(limits: pb.Limits) -> float:
    return (
        limits.wall_time_seconds
        if limits.HasField("wall_time_seconds")
        else (DEFAULT_WALL_TIME_SECONDS)
    )
