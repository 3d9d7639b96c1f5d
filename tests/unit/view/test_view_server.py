"""The live page is answered on loopback only, to those who have its address."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Pipe
from urllib.parse import urlsplit

import pytest

from tests.support.training_runs import Plan, write_run
from trainer_client import ConfigError
from trainer_client.view import served_view
from trainer_client.view.painting import work


@dataclass(frozen=True)
class Place:
    port: int
    token: str

    def get(self, path: str, host: str | None = None, method: str = "GET"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Host": f"127.0.0.1:{self.port}" if host is None else host}
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Serves two runs: one of two steps, and one that has not begun."""
    folder = tmp_path_factory.mktemp("runs")
    write_run(folder / "a", Plan(steps=2))
    with served_view([folder / "a", folder / "b"]) as url:
        address = urlsplit(url)
        assert address.hostname == "127.0.0.1"
        assert address.port is not None
        yield Place(address.port, address.path.strip("/"))


@pytest.mark.promise("Without its token the live page of a run shows nothing.", "Client")
def test_who_does_not_know_the_token_gets_nothing(place):
    assert len(place.token) >= 32
    for path in ("/", "/state", "//state", f"/{place.token[:-1]}/state", f"/x{place.token}/state"):
        answer, body = place.get(path)
        assert answer.status == 404
        assert b"mbpp" not in body
    answer, _ = place.get(f"/{place.token}/state")
    assert answer.status == 200
    answer, _ = place.get(f"/{place.token}")
    assert (answer.status, answer.headers["Location"]) == (308, f"/{place.token}/")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "",
        "0",
    ],
)
def test_a_name_that_resolves_to_loopback_is_refused(place, host):
    answer, body = place.get(f"/{place.token}/state", host)
    assert answer.status == 421
    assert b"heading" not in body


@pytest.mark.parametrize("host", ["localhost:9999", "[::1]:80", "127.0.0.1", "localhost"])
def test_a_forwarded_port_of_loopback_is_answered(place, host):
    answer, _ = place.get(f"/{place.token}/state", host)
    assert answer.status == 200


def test_answers_are_kept_from_other_sites_and_run_nothing(place):
    page, content = place.get(f"/{place.token}/")
    policy = page.headers["Content-Security-Policy"]
    assert "script-src 'sha256-" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    state, _ = place.get(f"/{place.token}/state")
    for answer in (page, state):
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in answer.headers
    assert "sandbox" in state.headers["Content-Security-Policy"]
    assert b"mbpp" not in content


def test_nothing_but_reading_is_possible(place):
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        answer, _ = place.get(f"/{place.token}/state", method=method)
        assert answer.status == 501


def test_the_state_has_each_run_and_what_a_missing_one_lacks(place):
    _, body = place.get(f"/{place.token}/state?runs=0.7.x.-1")
    state = json.loads(body)
    assert state["selection"] == [0]
    first, second = state["runs"]
    assert first["progress"]["state"] == "finished"
    assert second["problem"] == "no run yet: run.json is absent"
    assert {one["name"] for one in state["numbers"]} >= {"steps", "reward"}


def test_a_figure_that_was_not_drawn_is_not_found(place):
    answer, _ = place.get(f"/{place.token}/figure?name=../run.json")
    assert answer.status == 404


def test_wrong_arguments_are_told(tmp_path):
    (tmp_path / "file").write_text("")
    for runs, words in (
        ([], "name at least one"),
        ([tmp_path, tmp_path / "x" / ".."], "named twice"),
        ([tmp_path / "file"], "no folder"),
    ):
        with pytest.raises(ConfigError, match=words), served_view(runs):
            pass


def test_the_drawing_process_ends_with_the_one_that_started_it():
    ours, theirs = Pipe()
    ours.close()
    work(theirs, [], [])


def test_the_command_prints_the_address_and_ends_without_a_word_at_ctrl_c(tmp_path):
    command = [sys.executable, "-m", "trainer_client.trl", "view", tmp_path]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = urlsplit(process.stdout.readline().split()[0])
        assert address.port is not None
        page, _ = Place(address.port, "").get(address.path)
        assert page.status == 200
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, complaints) == (0, "")
