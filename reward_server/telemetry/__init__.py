"""Shows operators what a server does: metrics, pages over HTTP, and log lines.

None of them ever contains a completion, a test, a program's output or a token.

metrics     counts and measures, in one registry for each server
executions  counts executions where they run
exposition  serves a registry over HTTP: metrics, liveness, readiness and the status page
status      what the status page shows, computed from the metrics alone
logs        log lines for people or for programs
spans       spans of OpenTelemetry, if an operator has set a collector
"""

from reward_server.telemetry.executions import CountingExecutor
from reward_server.telemetry.exposition import serve_metrics
from reward_server.telemetry.logs import configure_logging, tell_call, tell_request
from reward_server.telemetry.metrics import Telemetry
from reward_server.telemetry.spans import NO_SPANS, Spans, exported_spans

__all__ = [
    "NO_SPANS",
    "CountingExecutor",
    "Spans",
    "Telemetry",
    "configure_logging",
    "exported_spans",
    "serve_metrics",
    "tell_call",
    "tell_request",
]
