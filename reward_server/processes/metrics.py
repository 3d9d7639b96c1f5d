"""The metrics of all processes, read from them at each scrape and labelled with their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

_LABEL = "process"


class MetricsOfProcesses(Collector):
    """Exports each process's samples, with its number as the label `process`.

    Args:
        ask: returns the metrics of the processes that answer, in Prometheus's format, by number.
        starts: returns the number of times that each process was started, by number.
    """

    def __init__(
        self, *, ask: Callable[[], Mapping[int, str]], starts: Callable[[], Mapping[int, int]]
    ) -> None:
        self._ask = ask
        self._starts = starts

    def describe(self) -> Iterable[Metric]:
        """Returns nothing: the names are known when the processes have answered."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Asks the processes."""
        answers = self._ask()
        up = GaugeMetricFamily(
            "reward_server_process_up", "Whether a process answers.", labels=[_LABEL]
        )
        starts = CounterMetricFamily(
            "reward_server_process_starts", "Starts of a process.", labels=[_LABEL]
        )
        for number, count in self._starts().items():
            up.add_metric([str(number)], float(number in answers))
            starts.add_metric([str(number)], count)
        return [up, starts, *labelled(answers)]


def labelled(texts: Mapping[int, str]) -> list[Metric]:
    """Returns the families of all texts, each sample labelled with its process."""
    families: dict[str, Metric] = {}
    for number, text in texts.items():
        for one in text_string_to_metric_families(text):
            family = families.setdefault(one.name, Metric(one.name, one.documentation, one.type))
            for sample in one.samples:
                # Labelled and not summed: a sum of ages, or of times of a start, means nothing.
                labels = {**sample.labels, _LABEL: str(number)}
                family.add_sample(sample.name, labels, sample.value)
    return list(families.values())
