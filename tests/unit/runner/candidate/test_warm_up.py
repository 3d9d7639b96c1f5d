"""The sample of ours that warms up the processes which others are forked from."""

from __future__ import annotations

import builtins
import socket
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

import reward_server.runner
from reward_server.runner.candidate import streams
from reward_server.runner.candidate import warm_up as candidate_warm_up
from reward_server.runner.candidate.answers import Answers
from reward_server.runner.judge import warm_up as judge_warm_up


@pytest.fixture(autouse=True)
def own_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "open_streams", lambda: None)


def rehearse() -> None:
    ours, theirs = socket.socketpair()
    candidate = threading.Thread(target=candidate_warm_up.run, args=(ours,))
    candidate.start()
    try:
        judge_warm_up.run(theirs.detach())
    finally:
        candidate.join()


def state() -> tuple[object, ...]:
    limit = sys.getrecursionlimit()
    return dict(sys.modules), sys.stdout, sys.stderr, limit, builtins.input


def rehearse_and_compare() -> None:
    streams.open_streams = lambda: None
    before = state()
    rehearse()
    assert state() == before


def test_the_sample_passes_and_leaves_nothing_behind() -> None:
    """In a process of its own: the judge looks through all modules, of which other tests have
    imported more than a server does."""
    script = f"from {__name__} import rehearse_and_compare; rehearse_and_compare()"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_broken_runner_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Answers, "_answer", lambda *_: b'["return",0,[],[],false]')
    with pytest.raises(RuntimeError, match="warm-up failed"):
        rehearse()


@pytest.mark.parametrize("close", [socket.socket.close, lambda end: end.sendall(b"\0" * 9)])
def test_a_judge_that_is_gone_or_mad_holds_nobody_up(
    close: Callable[[socket.socket], object],
) -> None:
    ours, theirs = socket.socketpair()
    close(theirs)
    theirs.close()
    candidate_warm_up.run(ours)


def test_what_candidates_are_copies_of_holds_nothing_that_a_judge_is_made_of() -> None:
    listing = "import sys; import reward_server.runner.__main__; print(*sys.modules)"
    modules = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True
    ).stdout.split()
    package = reward_server.runner.__name__
    assert f"{package}.candidate.process" in modules
    assert not [name for name in modules if name.startswith(f"{package}.judge")]
