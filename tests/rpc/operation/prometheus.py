"""Prometheus for tests: one that runs, and the rules of one on what a test's own scrapes found."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.support.tools import require
from trainer_client.local_server import free_port

DEPLOY = Path(__file__).parents[3] / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
_SCRAPE_SECONDS = 30
_CONFIGURATION = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
scrape_configs:
  - job_name: reward-server
    static_configs: [{{targets: {targets}}}]
"""
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Prometheus:
    """A running Prometheus.

    Args:
        address: where its API is.
    """

    def __init__(self, address: str) -> None:
        self._address = address

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """Evaluates an expression; returns labels and value of each series."""
        query = urllib.parse.urlencode({"query": expression})
        with _opener.open(f"{self._address}/api/v1/query?{query}", timeout=60) as answer:
            found: list[Any] = json.load(answer)["data"]["result"]
        return [(one["metric"], float(one["value"][1])) for one in found]

    def is_ready(self) -> bool:
        """Returns True if it answers."""
        try:
            with _opener.open(f"{self._address}/-/ready", timeout=5):
                return True
        except OSError:
            return False


def prometheus(folder: Path, targets: Sequence[str]) -> AbstractContextManager[Prometheus]:
    """Runs Prometheus, which scrapes once a second."""
    return configured(folder, _CONFIGURATION.format(targets=json.dumps(list(targets))))


@contextmanager
def configured(folder: Path, text: str) -> Iterator[Prometheus]:
    """Runs Prometheus with the text of a configuration, and the project's rules."""
    require("prometheus")
    (folder / "alerts.yml").write_text(ALERTS.read_text())
    configuration = folder / "prometheus.yml"
    configuration.write_text(text)
    port = free_port()
    process = subprocess.Popen(
        [
            "prometheus",
            f"--config.file={configuration}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    running = Prometheus(f"http://127.0.0.1:{port}")
    try:
        while not running.is_ready():
            assert process.poll() is None, "Prometheus ended at its start"
            time.sleep(0.05)
        yield running
    finally:
        process.terminate()
        process.wait(timeout=60)


class Scrapes:
    """What scrapes of an instance found; to the rules each comes half a minute after the last.

    So no alert depends on how long a test takes.

    Args:
        instance: the address of its metrics.
        without: the start of names that are left out.
    """

    def __init__(self, instance: str, without: str = "none") -> None:
        self._instance, self._without = instance, without
        self._found: list[dict[str, float]] = []

    def scrape(self) -> dict[str, float]:
        """Scrapes once; returns what was found. An instance that does not answer is down."""
        self._found.append(found := {_series("up", {}, self._instance): 0.0})
        with suppress(OSError), _opener.open(f"http://{self._instance}/metrics") as answer:
            families = text_string_to_metric_families(answer.read().decode())
            found[_series("up", {}, self._instance)] = 1.0
            for sample in (one for family in families for one in family.samples):
                if not sample.name.startswith(self._without):
                    found[_series(sample.name, sample.labels, self._instance)] = sample.value
        return found

    def complaint(self, expected: set[str], folder: Path) -> str:
        """Tries the project's alerts on all that was found; returns "" if just these fire."""
        names = dict.fromkeys(name for found in self._found for name in found)
        seconds = _SCRAPE_SECONDS * len(self._found)
        fired = f'group by (alertname) (count_over_time(ALERTS{{alertstate="firing"}}[{seconds}s]))'
        test = {
            "interval": f"{_SCRAPE_SECONDS}s",
            "input_series": [
                {"series": name, "values": " ".join(str(f.get(name, "_")) for f in self._found)}
                for name in names
            ],
            "promql_expr_test": [
                {
                    "expr": fired,
                    "eval_time": f"{seconds}s",
                    "exp_samples": [
                        {"labels": f'{{alertname="{name}"}}', "value": 1} for name in expected
                    ],
                }
            ],
        }
        file = folder / "test.yml"
        file.write_text(yaml.safe_dump({"rule_files": [str(ALERTS)], "tests": [test]}))
        done = subprocess.run(
            ["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False
        )
        return "" if done.returncode == 0 else done.stdout + done.stderr


def _series(name: str, labels: Mapping[str, str], instance: str) -> str:
    labels = {**labels, "instance": instance, "job": "reward-server"}
    return f"{name}{{{','.join(f'{key}={json.dumps(value)}' for key, value in labels.items())}}}"
