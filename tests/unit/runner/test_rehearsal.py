from __future__ import annotations

import sys

import pytest

from reward_server.runner import rehearsal, streams
from reward_server.runner.service import Service


@pytest.fixture(autouse=True)
def own_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "open_streams", lambda: None)


def test_the_sample_passes_and_leaves_nothing_behind() -> None:
    before = dict(sys.modules), sys.stdout, sys.stderr, sys.getrecursionlimit()
    rehearsal.rehearse()
    assert (dict(sys.modules), sys.stdout, sys.stderr, sys.getrecursionlimit()) == before


def test_a_broken_runner_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Service, "_returned", lambda *_: b'["return",0,null,0]')
    with pytest.raises(RuntimeError, match="rehearsal failed"):
        rehearsal.rehearse()
