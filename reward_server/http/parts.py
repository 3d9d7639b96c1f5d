"""The parts of the server that the doors use; this module needs no extra."""

from __future__ import annotations

from dataclasses import dataclass

from reward_server.evaluation import Evaluation
from reward_server.rpc.callers import Callers
from reward_server.rpc.convert import Bounds
from reward_server.rpc.interceptors import Gate
from reward_server.rpc.service import RewardService
from reward_server.sessions.sessions import Sessions
from reward_server.telemetry import Telemetry


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of the server that the doors use; see `rpc.service` and `rpc.interceptors`."""

    service: RewardService
    evaluation: Evaluation
    bounds: Bounds
    callers: Callers
    gate: Gate
    telemetry: Telemetry
    version: str
    sessions: Sessions | None
