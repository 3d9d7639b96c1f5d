"""Passes a trainer's trace on to the server, if the trainer uses OpenTelemetry."""

from __future__ import annotations

import sys


def trace_metadata() -> tuple[tuple[str, str], ...]:
    """Returns the present span as metadata of W3C (`traceparent`).

    It returns nothing if the trainer has no span. It does not import OpenTelemetry for that: a
    trainer with a span has done so.
    """
    if "opentelemetry.trace" not in sys.modules:
        return ()
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return tuple(carrier.items())
