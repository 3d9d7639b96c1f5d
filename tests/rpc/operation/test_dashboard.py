"""Every panel of the dashboard has data, from a real server, after real load."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.rpc.operation.prometheus import DEPLOY, Prometheus, prometheus
from trainer_client import RewardClient
from trainer_client.local_server import LocalServer, free_port

PANELS = json.loads((DEPLOY / "grafana" / "reward-server.json").read_text())["panels"]
EXPRESSIONS = [
    pytest.param(target["expr"], id=panel["title"])
    for panel in PANELS
    for target in panel["targets"]
]


@contextmanager
def loaded(target: str) -> Iterator[None]:
    """Sends right, wrong and endless completions, one of each after another, in the block."""
    over = threading.Event()

    def send() -> None:
        number = 0
        with RewardClient(target) as client:
            while not over.wait(0.05):
                number += 1
                tests = {"entry_point": "f", "asserts": [f"assert f({number}) == {number}"]}
                client.score(
                    {"completion": f"def f(x): {body}", "function": tests}
                    for body in ("return x", "return -x", "exit(0)")
                )

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.fixture(scope="module")
def fed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that scrapes a real server of two processes under load."""
    port = free_port()
    arguments = ["--metrics-port", str(port), "--set", "languages=python", "--processes", "2"]
    folder = tmp_path_factory.mktemp("dashboard")
    with (
        LocalServer(folder / "server.log", arguments) as server,
        prometheus(folder, [f"127.0.0.1:{port}"]) as running,
        loaded(server.target),
    ):
        yield running


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_panel_is_fed(fed: Prometheus, expression: str) -> None:
    query = expression.replace("$__rate_interval", "4s").replace("$instance", ".*")
    while not any(math.isfinite(value) for _, value in fed.query(query)):
        time.sleep(0.1)


def test_panels_do_not_overlap_and_have_numbers_of_their_own() -> None:
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in PANELS)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
