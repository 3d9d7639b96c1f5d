"""Counts and measures what a server does, for Prometheus.

Each label takes one of a bounded set of values: names that requests and programs can choose are
counted under "other" unless they are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeAlias, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from reward_server.domain import Assessment, Ending, Execution, LimitKind, Verdict

_MOST_TENANT_LABELS, _OTHER_TENANTS = 256, "(other)"
_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
_LAG_SECONDS = (0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_OTHER = "other"
LOST, CANCELLED = "LOST", "CANCELLED"

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

# Signals that no honest program causes by accident, except rarely.
HACK_SIGNALS = (
    *("early_exit", "forbidden_syscall", "forged_skip", "forged_word", "invented_test"),
    *("judge_tampered", "missing_test", "tampering", "twin_passed", "unproven"),
)
# Signals of how a verdict came about, and of trouble.
_OTHER_SIGNALS = (
    *(
        "forged_report",
        "incomplete",
        "interactor_failed",
        "judge_lost",
        "judge_stuck",
        "killed",
        "leftover",
    ),
    *("cast_down", "lowered_arguments", "lowered_change", "lowered_events", "lowered_handles"),
    *("lowered_later_change", "lowered_narrow", "lowered_objects", "lowered_signature"),
    *("no_data", "twin_failed", "twin_missing", "uncounted_changes", "unsendable"),
)
_SIGNALS = frozenset((*HACK_SIGNALS, *_OTHER_SIGNALS))

_Values: TypeAlias = "Callable[[], Mapping[str, float]]"
_M = TypeVar("_M", bound=MetricWrapperBase)


class Telemetry:
    """The metrics of one server, in its own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._calls = self._series(
            Counter, "calls", "RPCs ended, by method and status.", "method", "code"
        )
        self._call_seconds = self._series(
            Histogram,
            "call_duration_seconds",
            "Time from an RPC's request to its status.",
            "method",
            buckets=_SECONDS,
        )
        self._refusals = self._series(
            Counter,
            "refusals",
            "Calls, and requests of batches, that were not answered, by cause.",
            "cause",
        )
        self._verdicts = self._series(
            Counter,
            "verdicts",
            "Completions judged, by verdict; answers shared between requests count each time.",
            "verdict",
        )
        self._shared = Counter(
            "reward_server_shared_answers",
            "Completions judged with the answer of an identical one.",
            registry=self.registry,
        )
        self._hack_signals = self._series(
            Counter,
            "hack_signals",
            "Completions judged that show a kind of evidence of reward hacking.",
            "signal",
        )
        self._other_signals = self._series(
            Counter,
            "other_signals",
            "Completions judged with another signal, which is no evidence of reward hacking.",
            "signal",
        )
        self._missing_modules = self._series(
            Counter,
            "missing_modules",
            "Completions that failed because the sandbox lacks a module, by well-known module.",
            "module",
        )
        self._queue_seconds = Histogram(
            "reward_server_queue_duration_seconds",
            "Time that a judged completion spent waiting for slots.",
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._executions = self._series(
            Counter,
            "executions",
            "Executions ended, by language and ending; LOST and CANCELLED ones have no result.",
            "language",
            "ending",
        )
        self._execution_seconds = self._series(
            Histogram,
            "execution_duration_seconds",
            "Time that an execution held a slot.",
            "language",
            buckets=_SECONDS,
        )
        self._execution_cpu_seconds = self._series(
            Counter,
            "execution_cpu_seconds",
            "CPU time of programs, without that of judges and of the server.",
            "language",
        )
        self._limits_hit = self._series(
            Counter, "limits_hit", "Executions that hit a limit, by limit.", "limit"
        )
        self._audit_lines = self._series(
            Counter,
            "audit_lines",
            "Lines of the audit log, by whether they were written or lost.",
            "outcome",
        )
        self._tenant_names = set[str]()
        self._tenant_verdicts = self._series(
            Counter,
            "tenant_verdicts",
            "Completions judged, by tenant; answers shared between requests count each time.",
            "tenant",
        )
        self._tenant_slot_seconds = self._series(
            Counter,
            "tenant_slot_seconds",
            "Time for which executions held slots, by tenant.",
            "tenant",
        )
        self._tenant_refusals = self._series(
            Counter,
            "tenant_refusals",
            "Requests refused because a quota was reached, by tenant and quota.",
            "tenant",
            "quota",
        )
        self._tenant_requests = self._series(
            Gauge,
            "tenant_requests_in_flight",
            "Requests received and not answered, by tenant.",
            "tenant",
        )
        self._strangers = self._series(
            Counter,
            "strangers_refused",
            "Calls, connections or streams of callers without a credential that were refused.",
            "what",
        )
        self._loop_lag = Histogram(
            "reward_server_event_loop_lag_seconds",
            "Delay of a periodic task of the event loop.",
            buckets=_LAG_SECONDS,
            registry=self.registry,
        )
        self._begin_at_zero()

    def _series(
        self, kind: type[_M], name: str, meaning: str, *labels: str, **options: Any
    ) -> Callable[..., _M]:
        """Makes a metric, and returns a lookup of its series by their label values.

        A series is looked up in the library once, since that takes as long as counting does. Label
        values are bounded, and so is what is kept.
        """
        full = f"reward_server_{name}"
        return cache(kind(full, meaning, labels, registry=self.registry, **options).labels)

    def _begin_at_zero(self) -> None:
        """Exports zeros, because a rate does not count the first value of a series."""
        for verdict in Verdict:
            self._verdicts(verdict.name)
        for signal in (*HACK_SIGNALS, _OTHER):
            self._hack_signals(signal)
        for limit in LimitKind:
            self._limits_hit(limit.name)
        for what in ("calls", "connections", "streams"):
            self._strangers(what)

    def offers(self, *, languages: Iterable[str], causes: Iterable[str]) -> None:
        """Exports zeros for languages and causes of refusals, so that their first count is a
        rise."""
        for language in languages:
            self._execution_seconds(language)
            self._execution_cpu_seconds(language)
            for ending in (*(one.name for one in Ending), LOST, CANCELLED):
                self._executions(language, ending)
        for cause in causes:
            self._refusals(cause)

    def stranger_refused(self, what: str) -> None:
        """Counts a refused call, connection or stream of a caller without a credential."""
        self._strangers(what).inc()

    def call_ended(self, method: str, code: str, seconds: float) -> None:
        """Counts an RPC that ended, and its duration."""
        self._calls(method, code).inc()
        self._call_seconds(method).observe(seconds)

    def refused(self, cause: str) -> None:
        """Counts a call, or a request of a batch, that was not answered."""
        self._refusals(cause).inc()

    def judged(self, assessment: Assessment) -> None:
        """Counts a verdict."""
        self._verdicts(assessment.verdict.name).inc()
        self._queue_seconds.observe(assessment.usage.queue_time_seconds)
        if assessment.deduplicated:
            self._shared.inc()
        for signal in assessment.signals:
            if signal in HACK_SIGNALS:
                self._hack_signals(signal).inc()
            else:
                self._other_signals(signal if signal in _SIGNALS else _OTHER).inc()
        for label in set(map(_well_known, assessment.missing_modules)):
            self._missing_modules(label).inc()

    def execution_ended(self, language: str, execution: Execution, seconds: float) -> None:
        """Counts an execution that gave a result, and the time that it held a slot."""
        self._executions(language, execution.ending.name).inc()
        self._execution_seconds(language).observe(seconds)
        self._execution_cpu_seconds(language).inc(execution.usage.cpu_time_seconds)
        for limit in execution.limits_hit:
            self._limits_hit(limit.name).inc()

    def execution_failed(self, language: str, ending: str) -> None:
        """Counts an execution without a result: LOST by the server, or CANCELLED."""
        self._executions(language, ending).inc()

    def loop_lagged(self, seconds: float) -> None:
        """Measures a delay of the event loop."""
        self._loop_lag.observe(seconds)

    def state(self, name: str, meaning: str, facts: Mapping[str, str]) -> None:
        """Exports facts that do not change, as labels of the value 1."""
        gauge = Gauge(f"reward_server_{name}", meaning, list(facts), registry=self.registry)
        gauge.labels(**facts).set(1)

    def audited(self, outcome: str) -> None:
        """Counts a line of the audit log."""
        self._audit_lines(outcome).inc()

    def tenant_judged(self, tenant: str) -> None:
        """Counts a verdict for a tenant."""
        self._tenant_verdicts(self._tenant(tenant)).inc()

    def tenant_used(self, tenant: str, seconds: float) -> None:
        """Counts the time for which a tenant's execution held a slot."""
        self._tenant_slot_seconds(self._tenant(tenant)).inc(max(seconds, 0.0))

    def tenant_refused(self, tenant: str, quota: str) -> None:
        """Counts a request of a tenant that was refused for a quota."""
        self._tenant_refusals(self._tenant(tenant), quota).inc()

    def tenant_requests_changed(self, tenant: str, change: int) -> None:
        """Counts requests of a tenant that are in flight, or are no longer."""
        self._tenant_requests(self._tenant(tenant)).inc(change)

    def _tenant(self, name: str) -> str:
        """Returns a tenant's label; after many names all others share one."""
        if name in self._tenant_names:
            return name
        if len(self._tenant_names) >= _MOST_TENANT_LABELS:
            return _OTHER_TENANTS
        self._tenant_names.add(name)
        return name

    def watch(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Exports a value that is read at each scrape."""
        Gauge(f"reward_server_{name}", meaning, registry=self.registry).set_function(read)

    def watch_each(self, name: str, meaning: str, label: str, read: _Values) -> None:
        """Exports values by a label; they are read at each scrape."""
        self.registry.register(_Watched(GaugeMetricFamily, name, meaning, [label], read))

    def watch_count(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Exports a count that only grows; it is read at each scrape."""
        self.registry.register(
            _Watched(CounterMetricFamily, name, meaning, [], lambda: {"": read()})
        )

    def watch_counts(self, name: str, meaning: str, label: str, read: _Values) -> None:
        """Exports counts that only grow, by a label; they are read at each scrape."""
        self.registry.register(_Watched(CounterMetricFamily, name, meaning, [label], read))


class _Watched(Collector):
    """Values by at most one label, which something else keeps."""

    def __init__(
        self,
        family: type[CounterMetricFamily | GaugeMetricFamily],
        name: str,
        meaning: str,
        labels: list[str],
        read: _Values,
    ) -> None:
        self._family = family
        self._name = f"reward_server_{name}"
        self._meaning = meaning
        self._labels = labels
        self._read = read

    def describe(self) -> Iterable[Metric]:
        return [self._empty()]

    def collect(self) -> Iterable[Metric]:
        family = self._empty()
        for value, number in self._read().items():
            family.add_metric([value] if self._labels else [], number)
        return [family]

    def _empty(self) -> CounterMetricFamily | GaugeMetricFamily:
        return self._family(self._name, self._meaning, labels=self._labels)


def _well_known(module: str) -> str:
    return module if module in _WELL_KNOWN else _OTHER
