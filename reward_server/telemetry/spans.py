"""Spans of OpenTelemetry, if an operator has set a collector; otherwise nothing of it is imported.

The extra `[otel]` brings the packages.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reward_server.errors import SettingsError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """Begins spans below the present one.

    Attributes:
        begin: returns a block that is a span, given its name.
        provider: the provider of OpenTelemetry; None if there are no spans.
    """

    begin: Callable[[str], AbstractContextManager[object]] = lambda _: nullcontext()
    provider: TracerProvider | None = None

    def close(self) -> None:
        """Exports the spans that are still kept."""
        if self.provider is not None:
            self.provider.shutdown()


NO_SPANS = Spans()


def exported_spans(endpoint: str, version: str) -> Spans:
    """Returns spans that are sent to a collector over OTLP and gRPC.

    Args:
        endpoint: the collector's address, such as http://127.0.0.1:4317.
        version: version of the server.

    Raises:
        SettingsError: the packages of the extra are not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    except ImportError as error:
        raise SettingsError(
            f"otlp_endpoint: spans need the extra [otel] ({error}); pip install 'codereward[otel]'"
        ) from None
    return spans_to(OTLPSpanExporter(endpoint=endpoint), version)


def spans_to(exporter: SpanExporter, version: str) -> Spans:
    """Returns spans that are sent to an exporter, in batches."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.name": "reward-server", "service.version": version})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    tracer = provider.get_tracer("reward_server", version)
    return Spans(
        # The exceptions of calls may quote a completion.
        begin=lambda name: tracer.start_as_current_span(
            name, record_exception=False, set_status_on_exception=False
        ),
        provider=provider,
    )
