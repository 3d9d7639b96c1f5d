"""Structured log lines, with the call that they belong to."""

from __future__ import annotations

import logging
import sys

import structlog

_LONGEST_FACT = 128  # characters; callers choose ids


def tell_call(**facts: str) -> None:
    """Adds facts, such as peer and tenant, to all further log lines of this task.

    Args:
        facts: texts by name; empty ones are left out.
    """
    structlog.contextvars.bind_contextvars(
        **{name: _safe(value) for name, value in facts.items() if value}
    )


def tell_request(request_id: str) -> None:
    """Adds the id that a caller gave its request to all further log lines of this task."""
    if request_id:
        structlog.contextvars.bind_contextvars(request_id=_safe(request_id))
    else:
        structlog.contextvars.unbind_contextvars("request_id")


def _safe(text: str) -> str:
    """Returns text that cannot end a line and forge another."""
    text = text[:_LONGEST_FACT]
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


def configure_logging(level: str, *, as_json: bool) -> None:
    """Writes log lines to standard error, as text for people or as JSON for programs."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso"),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_renderers(as_json=as_json),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    # gRPC's own debug lines refer to objects being freed; a handler that keeps one crashes.
    logging.getLogger("grpc").setLevel(max(logging.getLevelNamesMapping()[level], logging.INFO))


def _renderers(*, as_json: bool) -> list[structlog.typing.Processor]:
    if as_json:
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    # A plain traceback, because the default one prints local variables, and they hold completions.
    console = structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
    )
    return [console]
