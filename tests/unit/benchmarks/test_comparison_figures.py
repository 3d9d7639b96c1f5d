"""What a comparison computes and shows, without any peer."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from benchmarks.comparison.cases import Case, Pair, read_pairs
from benchmarks.comparison.choice import chosen
from benchmarks.comparison.figures import figures, spread
from benchmarks.comparison.measuring import Comparison, Measured, Plan
from benchmarks.comparison.page import page
from benchmarks.comparison.peer import About, Answer, Outcome
from benchmarks.comparison.printing import print_comparison
from benchmarks.comparison.turns import Reply, Turn
from reward_server.audit.other_graders.results import GraderResult
from reward_server.errors import SettingsError, StartError

HOSTILE = "<script>alert(1)</script>&[bold]"
OWN, OTHER = (2.0, 4.0, 6.0), (1.0, 1.0, 3.0)


class Peer:
    """A peer that is only described."""

    def __init__(self, name: str) -> None:
        self.about = About(name=name, isolation=HOSTILE, version=name, counted=HOSTILE)

    async def start(self) -> None: ...

    async def judge(self, case: Case, number: int) -> Answer:
        raise NotImplementedError

    async def stop(self) -> None: ...

    def cpu_seconds(self) -> float | None:
        return None

    def memory_bytes(self) -> int | None:
        return None


@pytest.fixture(scope="module")
def pair(data_folder: Path) -> Pair:
    return read_pairs(data_folder / "HumanEval.jsonl", 1)[0]


def turn(case: Case, seconds: float, cpu: float | None, outcome: Outcome) -> Turn:
    answer = Answer(outcome=outcome, detail=HOSTILE)
    reply = Reply(case=case, answer=answer, seconds=seconds)
    return Turn(width=1, seconds=seconds, cpu_seconds=cpu, replies=[reply])


def described(pair: Pair) -> dict[str, Any]:
    """Describes rounds in which this server took some seconds, and its peer took others."""
    own = Measured(peer=Peer("own"), starts=[1.0], idle_bytes=1 << 20, loaded_bytes=3 << 20)
    own.turns[1] = [turn(pair.right, one, 2 * one, Outcome.ACCEPTED) for one in OWN]
    other = Measured(peer=Peer(HOSTILE), starts=[3.0, 2.0, 1.0])
    other.turns[1] = [turn(pair.wrong, one, None, Outcome.ACCEPTED) for one in OTHER[:2]]
    other.turns[1].append(turn(pair.wrong, 3.0, None, Outcome.TIMED_OUT))
    other.cheats = GraderResult(url="", cheats={HOSTILE: (1, 1), "other": (0, 1)})
    lost = Measured(peer=Peer("lost"), problem=HOSTILE)
    plan = Plan(
        pairs=[pair],
        widths=(1,),
        rounds=3,
        minutes=1.0,
        most=1,
        turn_seconds=1.0,
        starts=3,
        attacked=1,
    )
    compared = Comparison(
        plan=plan, peers=[own, other, lost], rounds=3, seconds=9.0, loads=(100.0, 1.0)
    )
    return figures(compared)


def test_ratios_are_those_of_the_same_round(pair: Pair) -> None:
    own, other, _ = described(pair)["peers"]
    # Rates of 1/2, 1/4 and 1/6 against 1, 1 and none, since the last turn had no verdict.
    assert own["widths"][0]["verdicts_per_second"]["median"] == pytest.approx(1 / 4)
    ratio = other["widths"][0]["own_rate_divided_by_its"]
    assert (ratio["min"], ratio["max"]) == (1 / 4, 1 / 2)
    assert own["widths"][0]["cpu_seconds_per_verdict"] == {"median": 8.0, "min": 4.0, "max": 12.0}


def test_what_is_not_known_is_no_figure(pair: Pair) -> None:
    _, other, lost = described(pair)["peers"]
    assert other["widths"][0]["cpu_seconds_per_verdict"] is None
    assert other["widths"][0]["its_cpu_divided_by_own"] is None
    assert other["memory_bytes"] == {"idle": None, "loaded": None}
    assert set(lost) == {"name", "version", "isolation", "problem"}
    assert spread([None]) is None


def test_untrue_verdicts_and_missing_ones_are_told_apart(pair: Pair) -> None:
    _, other, _ = described(pair)["peers"]
    assert (other["untrue_verdicts"], other["without_verdict"]) == (2, 1)
    assert other["solutions"]["wrong"]["timed_out"] == 1
    assert (other["attacks"]["passed"], other["attacks"]["tried"]) == (1, 2)


def test_a_turn_says_what_came_instead_of_verdicts(pair: Pair) -> None:
    assert turn(pair.right, 1.0, None, Outcome.REJECTED).problem == ""
    assert turn(pair.right, 1.0, None, Outcome.FAILED).problem == f"failed: {HOSTILE}"


def test_texts_of_peers_never_become_markup(pair: Pair) -> None:
    text = page(described(pair)).decode()
    elements: list[tuple[str, list[str]]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, given: elements.append((tag, [name for name, _ in given]))  # type: ignore[method-assign]
    parser.feed(text)
    assert "svg" in {tag for tag, _ in elements}
    assert "script" not in {tag for tag, _ in elements}
    assert not {"src", "href", "style", "onload"} & {
        name for _, names in elements for name in names
    }
    assert "&lt;script&gt;" in text
    assert "default-src 'none'" in text
    console = Console(record=True, width=200)
    print_comparison(console, described(pair))
    assert HOSTILE in console.export_text()


def test_a_busy_machine_is_named_in_table_and_page(pair: Pair) -> None:
    found = described(pair)
    console = Console(record=True, width=200)
    print_comparison(console, found)
    assert "Do not quote these figures" in console.export_text()
    assert b"Do not quote these figures" in page(found)
    found["machine"]["is_busy"] = False
    assert b"Do not quote these figures" not in page(found)


def test_submissions_of_a_case_all_differ_and_solve_the_same(pair: Pair) -> None:
    first, second = (pair.right.request(number) for number in (1, 2))
    assert first.completion != second.completion
    assert first.function == second.function
    assert pair.right.submission(1).program != pair.right.submission(2).program


def test_tasks_are_spread_over_the_file(data_folder: Path) -> None:
    pairs = read_pairs(data_folder / "HumanEval.jsonl", 4)
    numbers = [int(pair.right.task.id.removeprefix("row ")) for pair in pairs]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] > 100


def test_a_file_for_the_audit_is_read_too(tmp_path: Path) -> None:
    data = tmp_path / "tasks.jsonl"
    data.write_text(
        '{"id": "t", "completion": "def f(x):\\n    return x + 1\\n",'
        ' "function": {"entry_point": "f", "asserts": ["assert f(1) == 2"]}}\n'
    )
    [pair] = read_pairs(data, 9)
    assert "assert f(1) == 2" in pair.right.submission(0).tests
    assert pair.wrong.solution != pair.right.solution


@pytest.mark.parametrize(
    "text", ["", "{}\n", "no JSON\n", '{"completion": "x", "language": "rust"}\n']
)
def test_a_file_without_a_task_that_peers_can_judge_is_refused(tmp_path: Path, text: str) -> None:
    data = tmp_path / "tasks.jsonl"
    data.write_text(text)
    with pytest.raises(StartError, match=r"tasks\.jsonl"):
        read_pairs(data, 9)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("qemu", "must be here, one of subprocess"),
        ("reward-server=localhost", "must be reward-server=HOST:PORT"),
        ("piston=ftp://127.0.0.1", "must be an address that begins with http"),
        ("grader=http://127.0.0.1:1/grade", "needs the field"),
    ],
)
def test_a_peer_that_cannot_be_is_named_with_the_reason(name: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        chosen([name], "", "", 1)


def test_here_stands_for_all_commands_once() -> None:
    names = [peer.about.name for peer in chosen(["subprocess", "here", "here"], "", "", 1)]
    assert len(names) == len(set(names)) == 6
