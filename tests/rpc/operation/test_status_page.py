"""The status page in a real browser: live figures, as text, in both schemes and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from reward_server.domain import Assessment, Integrity, Verdict
from reward_server.processes.metrics import MetricsOfProcesses
from reward_server.telemetry import Telemetry, serve_metrics
from tests.support.browser import Browser, chromium
from trainer_client.local_server import free_port

SCRIPT = "window.hacked = (window.hacked ?? 0) + 1"
HOSTILE = f'<img src=x onerror="{SCRIPT}"><script>{SCRIPT}</script>'


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Yields a browser that loads nothing from elsewhere."""
    with chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


class Shown:
    """A status page with figures that a test chooses."""

    def __init__(self) -> None:
        self.telemetry = Telemetry()
        self.waiting, self.is_full = 3.0, False
        self.closed = {"failed": 1, "died": 2, "troubled": 0, "cancelled": 0, "worn": 4}
        telemetry = self.telemetry
        telemetry.offers(languages=["python"], causes=["overloaded"])
        telemetry.state("build_info", "Build.", {"version": "1.2.3", "backend": HOSTILE})
        telemetry.watch("slots", "Slots.", lambda: 4)
        telemetry.watch("running", "Running.", lambda: 2)
        telemetry.watch("waiting", "Waiting.", lambda: self.waiting)
        telemetry.watch("admitted", "Admitted.", lambda: 5)
        telemetry.watch("queue_capacity", "Places.", lambda: 6)
        telemetry.watch_each(
            "obstacle", "Obstacles.", "obstacle", lambda: {"queue_full": float(self.is_full)}
        )
        telemetry.watch_each("sandboxes", "Now.", "state", lambda: {"idle": 1, "lent": 2})
        telemetry.watch_count("sandboxes_started", "Starts.", lambda: 9)
        telemetry.watch_counts("sandboxes_closed", "Closed.", "reason", lambda: self.closed)
        telemetry.watch_each("sessions", "Now.", "state", lambda: {"open": 3, "warm": 2})
        telemetry.watch("session_memory_bytes", "Taken.", lambda: 512 << 20)
        telemetry.watch("session_memory_capacity_bytes", "All.", lambda: 2048 << 20)
        telemetry.watch_counts("sessions_ended", "Ends.", "reason", lambda: {"lost": 1})
        telemetry.tenant_judged(HOSTILE)

    def judge(self, verdict: Verdict, *signals: str) -> None:
        self.telemetry.judged(
            Assessment(
                verdict=verdict,
                reward=1.0,
                integrity=Integrity.ISOLATED,
                signals=dict.fromkeys(signals, 1),
                message=HOSTILE,
            )
        )
        self.telemetry.call_ended("Score", "OK", 0.04)


def opened(browser: Browser, registry: CollectorRegistry) -> Iterator[None]:
    port = free_port()
    close = serve_metrics(port, registry)
    try:
        browser.console()
        browser.visit(f"http://127.0.0.1:{port}/")
        yield
        assert browser.console() == []
    finally:
        close()


@pytest.fixture
def shown(browser: Browser) -> Iterator[Shown]:
    """Yields a page that is open in the browser; it may have no error."""
    page = Shown()
    for _ in range(3):
        page.judge(Verdict.PASSED)
    page.judge(Verdict.FAILED, "early_exit", HOSTILE)
    for _ in opened(browser, page.telemetry.registry):
        browser.until("document.getElementById('state').textContent === 'Ready'")
        yield page
        browser.visit("about:blank")


def text(browser: Browser, selector: str) -> str:
    return " | ".join(browser.texts(selector))


def test_figures_are_shown(browser: Browser, shown: Shown) -> None:
    assert "2 of 4" in text(browser, "#tiles")
    assert "5 of 10" in text(browser, "#tiles")
    assert "PASSED" in text(browser, "#verdicts tr:first-child td")
    assert "75.0 %" in text(browser, "#verdicts tr:first-child td")
    assert "early_exit" in text(browser, "#signals td")
    assert "lost (failed or died) | 3" in text(browser, "#sandboxes td")
    assert "open | 3" in text(browser, "#sessions td")
    assert "512 MiB of 2,048 MiB" in text(browser, "#sessions td")
    assert "35 ms" in text(browser, "#latency td")  # the middle of the bucket from 20 to 50 ms


def test_figures_are_live(browser: Browser, shown: Shown) -> None:
    for _ in range(4):
        shown.judge(Verdict.TIME_LIMIT_EXCEEDED)
    shown.is_full = True
    browser.until("document.getElementById('state').textContent === 'Not ready: queue_full'")
    assert "TIME_LIMIT_EXCEEDED" in text(browser, "#verdicts td")
    browser.until("document.querySelector('#throughput polyline').getAttribute('points') !== ''")
    assert "–" not in text(browser, "#tiles .tile:first-child b")


def test_processes_are_shown_together(browser: Browser) -> None:
    """Two processes answer, and a third, which was started again twice, does not."""
    pages = [Shown(), Shown()]
    for page in pages:
        page.judge(Verdict.PASSED)
    texts = [generate_latest(page.telemetry.registry).decode() for page in pages]
    registry = CollectorRegistry()
    registry.register(
        MetricsOfProcesses(ask=lambda: dict(enumerate(texts)), starts=lambda: {0: 1, 1: 1, 2: 3})
    )
    for _ in opened(browser, registry):
        browser.until("document.getElementById('state').textContent === 'Ready'")
        assert "2 of 3" in text(browser, "#tiles .tile:last-child b")
        assert "2 started again" in text(browser, "#tiles .tile:last-child span")
        assert "4 of 8" in text(browser, "#tiles")  # slots in use
        assert "PASSED" in text(browser, "#verdicts td")
        browser.visit("about:blank")


def test_nothing_becomes_markup(browser: Browser, shown: Shown) -> None:
    assert HOSTILE in text(browser, "#build")
    assert HOSTILE in text(browser, "#tenants td")
    assert browser.run("return window.hacked ?? 0") == 0
    assert browser.run("return document.querySelectorAll('img, main script').length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_and_can_be_read(
    browser: Browser, shown: Shown, scheme: str, width: int, tmp_path: Path
) -> None:
    browser.resize(width, 900)
    browser.prefer(scheme)
    (tmp_path / "page.png").write_bytes(browser.picture())
    assert browser.run("return document.documentElement.scrollWidth") <= width
    ground, ink = browser.run(
        "const style = getComputedStyle(document.body);"
        "return [style.backgroundColor, style.color].map(text =>"
        " text.match(/\\d+/g).slice(0, 3).reduce((sum, one) => sum + Number(one), 0))"
    )
    assert (ground < ink) is (scheme == "dark")
    assert abs(ground - ink) > 400


def test_a_server_that_went_away_is_told(browser: Browser) -> None:
    registry = Shown().telemetry.registry
    port = free_port()
    close = serve_metrics(port, registry)
    browser.visit(f"http://127.0.0.1:{port}/")
    browser.until("document.getElementById('state').textContent === 'Ready'")
    close()
    browser.until("document.getElementById('state').className === 'bad'")
    assert text(browser, "#state") == "No answer from the server"
    browser.visit("about:blank")
    browser.console()
