"""A real Prometheus for tests, which scrapes once and evaluates four times a second.

A server on a busy machine may take most of a second to answer it, and is not down then.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from tests.support.tools import require
from trainer_client.local_server import free_port

DEPLOY = Path(__file__).parents[3] / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
_START_SECONDS = 30
_MINUTES = re.compile(r"\b(\d+)m\b")
_CONFIGURATION = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 250ms}}
rule_files: [alerts.yml]
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

    def fired(self, instance: str, seconds: float = 3600.0) -> set[str]:
        """Returns the names of the alerts of an instance that have fired in the last seconds."""
        labels = f'{{alertstate="firing",instance="{instance}"}}'
        window = f"{max(1, round(seconds * 1000))}ms"
        found = self.query(f"count by (alertname) (count_over_time(ALERTS{labels}[{window}]))")
        return {metric["alertname"] for metric, _ in found}

    def is_ready(self) -> bool:
        """Returns True if it answers."""
        try:
            with _opener.open(f"{self._address}/-/ready", timeout=5):
                return True
        except OSError:
            return False


def prometheus(folder: Path, targets: Sequence[str]) -> AbstractContextManager[Prometheus]:
    """Runs Prometheus with the project's rules, in which a minute is a second."""
    return configured(folder, _CONFIGURATION.format(targets=json.dumps(list(targets))))


@contextmanager
def configured(folder: Path, text: str) -> Iterator[Prometheus]:
    """Runs Prometheus with the text of a configuration, and rules in which a minute is a second."""
    require("prometheus")
    (folder / "alerts.yml").write_text(_MINUTES.sub(r"\1s", ALERTS.read_text()))
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
        deadline = time.monotonic() + _START_SECONDS
        while not running.is_ready():
            assert process.poll() is None, "Prometheus ended at its start"
            assert time.monotonic() < deadline, "Prometheus did not start"
            time.sleep(0.05)
        yield running
    finally:
        process.terminate()
        process.wait(timeout=60)
