"""Checkers that use testlib, run by a real server, which passes the paths in testlib's order."""

from __future__ import annotations

from pathlib import Path

import pytest

from codereward.v1 import reward_service_pb2 as pb
from tests.support.tools import needs
from trainer_client import RewardClient, Verdict, tasks
from trainer_client.local_server import LocalServer

pytestmark = [
    needs("g++"),
]
HEADER = (Path(__file__).parent / "testlib.h").read_text()
# Two numbers whose sum is that of the answer, which no number of the input may equal.
PAIR = """
int main(int argc, char **argv) {
    registerTestlibCmd(argc, argv);
    int given = inf.readInt(), sum = ans.readInt() + ans.readInt();
    if (sum != given) quitf(_fail, "input and answer disagree");
    int first = ouf.readInt(), second = ouf.readInt();
    if (first == 404) std::abort();
    if (first == 7) quitf(_pc(20), "20 of 100 points");
    if (first + second != sum) quitf(_wa, "expected %d, found %d", sum, first + second);
    quitf(_ok, "right");
}
"""
BROKEN = {
    "it says that the task is wrong": PAIR.replace("sum != given", "sum == given"),
    "it reads more of the answer than there is": PAIR.replace("inf.readInt()", "ans.readInt()"),
    "it crashes": PAIR.replace("int given", "std::abort(); int given"),
    "it does not compile": PAIR.replace("int given", "int given = missing, unused"),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    log = tmp_path_factory.mktemp("server") / "server.log"
    settings = ["--set", "languages=python,c++", "--set", "workers=1"]
    with LocalServer(log, settings) as server, RewardClient(server.target) as connected:
        yield connected


def request(output: str, checker: str = PAIR) -> pb.ScoreRequest:
    made = pb.ScoreRequest(language="python", completion=f"print({output!r})")
    made.stdio.cases.add(stdin=b"5\n", expected_stdout=b"1 4\n")
    made.stdio.checker.CopyFrom(tasks.testlib_checker(HEADER + checker))
    return made


@pytest.mark.parametrize(
    ("output", "passes"),
    [
        ("1 4", True),
        ("6 -1\n\n", True),
        ("1 5", False),
        ("one four", False),
        ("1", False),
        ("", False),
        ("1 4 0", False),
    ],
)
def test_the_status_of_a_checker_decides(client, output: str, passes: bool) -> None:
    [said] = client.score([request(output)])
    assert said.verdict is (Verdict.PASSED if passes else Verdict.FAILED), said
    assert said.reward == float(passes)


@pytest.mark.parametrize("output", ["404 0", "7 -2"])
def test_other_statuses_for_the_solution_alone_are_a_failure(client, output: str) -> None:
    [said] = client.score([request(output)])
    assert (said.verdict, said.reward) == (Verdict.FAILED, 0.0), said


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_checker_is_no_fault_of_the_solution(client, kind: str) -> None:
    [said] = client.score([request("1 4", BROKEN[kind])])
    assert said.verdict is Verdict.INVALID_TASK, said
    assert said.reward is None
