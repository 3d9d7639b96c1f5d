"""Counters and gauges for Prometheus, and structured log lines.

They never contain a completion, a test, a program's output or a token.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import start_http_server

from reward_server.domain import Assessment

_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)

# The label of missing modules takes one of these names, or "other".
_WELL_KNOWN = frozenset(
    (
        *("aiohttp", "attr", "boto3", "bs4", "chess", "click", "cryptography", "Crypto", "cv2"),
        *("dateutil", "django", "faker", "fastapi", "flask", "folium", "gensim", "geopandas"),
        *("gmpy2", "hypothesis", "jax", "jinja2", "joblib", "keras", "librosa", "lxml"),
        *("matplotlib", "more_itertools", "mpmath", "natsort", "networkx", "nltk", "numba"),
        *("numpy", "openpyxl", "pandas", "parameterized", "PIL", "plotly", "polars", "psutil"),
        *("pyarrow", "pydantic", "pytest", "pytz", "regex", "requests", "rich", "scipy"),
        *("seaborn", "shapely", "skimage", "sklearn", "sortedcontainers", "spacy", "sqlalchemy"),
        *("statsmodels", "sympy", "tabulate", "tensorflow", "textblob", "torch", "torchvision"),
        *("tqdm", "transformers", "typing_extensions", "wordcloud", "xarray", "xgboost", "yaml"),
        *("z3", "lodash", "express", "chai", "mocha", "jest", "typescript"),
    )
)


class Telemetry:
    """The metrics of one server, in its own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._calls = Counter(
            "reward_server_calls",
            "RPCs ended, by method and status.",
            ["method", "code"],
            registry=self.registry,
        )
        self._call_seconds = Histogram(
            "reward_server_call_seconds",
            "Time from an RPC's request to its status.",
            ["method"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._verdicts = Counter(
            "reward_server_verdicts",
            "Completions judged, by verdict; answers shared between requests count each time.",
            ["verdict"],
            registry=self.registry,
        )
        self._missing_modules = Counter(
            "reward_server_missing_modules",
            "Completions that failed because the sandbox lacks a module, by well-known module.",
            ["module"],
            registry=self.registry,
        )
        self._queue_seconds = Histogram(
            "reward_server_queue_seconds",
            "Time that a judged completion spent waiting for slots.",
            buckets=_SECONDS,
            registry=self.registry,
        )

        self._strangers = Counter(
            "reward_server_strangers_refused",
            "Calls, connections or streams of callers without a credential that were refused.",
            ["what"],
            registry=self.registry,
        )

    def stranger_refused(self, what: str) -> None:
        """Counts a refused call, connection or stream of a caller without a credential."""
        self._strangers.labels(what).inc()

    def call_ended(self, method: str, code: str, seconds: float) -> None:
        """Counts an RPC that ended, and its duration."""
        self._calls.labels(method, code).inc()
        self._call_seconds.labels(method).observe(seconds)

    def judged(self, assessment: Assessment) -> None:
        """Counts a verdict."""
        self._verdicts.labels(assessment.verdict.name).inc()
        self._queue_seconds.observe(assessment.usage.queue_time_seconds)
        for label in set(map(_well_known, assessment.missing_modules)):
            self._missing_modules.labels(label).inc()

    def watch(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Exports a value that is read at each scrape."""
        Gauge(f"reward_server_{name}", meaning, registry=self.registry).set_function(read)

    def serve(self, port: int) -> Callable[[], None]:
        """Exports the metrics over HTTP on loopback, from a thread of its own.

        Returns:
            A function that stops the export.

        Raises:
            OSError: the port cannot be used.
        """
        server, thread = start_http_server(port, addr="127.0.0.1", registry=self.registry)

        def close() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return close


def _well_known(module: str) -> str:
    return module if module in _WELL_KNOWN else "other"


def configure_logging(level: str, *, as_json: bool) -> None:
    """Writes log lines to standard error, as text for people or as JSON for programs."""
    shared: list[structlog.typing.Processor] = [
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
