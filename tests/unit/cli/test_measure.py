"""What the benchmark measures is what it says."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count, islice
from pathlib import Path

import grpc
import pytest

from benchmarks.measure import report
from benchmarks.measure.bare import bare_interpreters
from benchmarks.measure.load import Client, Reply, client
from benchmarks.measure.phases import Pair, Pass, Round, Step
from benchmarks.measure.served import Used, served, tree_usage
from benchmarks.measure.tasks import batches, read_tasks, requests
from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import reward_service_pb2_grpc as pb_grpc
from reward_server.cli.calls import PUSHBACK
from reward_server.errors import StartError

BUSY_SECONDS = 0.15
BUSY = f"import time\nwhile time.process_time() < {BUSY_SECONDS}: pass\n"
ROW = {"prompt": "def f():\n", "canonical_solution": "    return 1\n", "entry_point": "f"}


# ---------------------------------------------------------------------------------- baseline


@pytest.mark.parametrize("program", ["assert False", "raise SystemExit(1)", "def f(:"])
async def test_a_reference_that_fails_bare_stops_the_comparison(program: str) -> None:
    async with bare_interpreters(["pass", program], 1) as bare:
        with pytest.raises(StartError, match="1 reference solutions fail"):
            await bare.one_pass()


# -------------------------------------------------------------------------------- CPU of a tree

TREE = f"""
import os, sys, time
if os.fork() == 0:
    {BUSY.replace(chr(10), chr(10) + "    ")}
    os._exit(0)
os.wait()
read, write = os.pipe()
if os.fork() == 0:
    {BUSY.replace(chr(10), chr(10) + "    ")}
    os.write(write, b"x")
    time.sleep(60)
os.read(read, 1)
print("done", flush=True)
time.sleep(60)
"""


def test_a_tree_s_usage_has_living_and_waited_for_descendants() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", TREE], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        used = tree_usage(process.pid)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert used.sandboxes >= 2 * BUSY_SECONDS - 0.03
    assert used.server < BUSY_SECONDS
    assert used.total == used.server + used.sandboxes


async def test_a_server_that_does_not_start_is_an_error() -> None:
    with pytest.raises(StartError):
        async with served(["--set=nonsense=1"]):
            pass


# --------------------------------------------------------------------------------------- load


class Service(pb_grpc.RewardServiceServicer):
    """Refuses whatever finds no place, and tells to come back soon."""

    def __init__(self, places: int, pushback: str) -> None:
        self.places = places
        self.pushback = pushback
        self.inside = 0
        self.peak = 0
        self.refused = 0

    async def Score(self, request, context):  # type: ignore[no-untyped-def]  # noqa: N802
        if self.inside >= self.places:
            self.refused += 1
            trailers = ((PUSHBACK, self.pushback),)
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "full", trailers)
        self.inside += 1
        self.peak = max(self.peak, self.inside)
        await asyncio.sleep(0.005)
        self.inside -= 1
        return pb.ScoreResponse(verdict=pb.VERDICT_PASSED)


@asynccontextmanager
async def loaded(service: Service) -> AsyncIterator[Client]:
    server = grpc.aio.server()
    pb_grpc.add_RewardServiceServicer_to_server(service, server)  # type: ignore[no-untyped-call]  # generated
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with client(f"127.0.0.1:{port}") as caller:
            yield caller
    finally:
        await server.stop(None)


def blanks() -> Iterator[bytes]:
    return (pb.ScoreRequest(id=str(number)).SerializeToString() for number in count())


async def test_a_crowd_that_is_refused_comes_back_when_told() -> None:
    patient, hasty = Service(places=2, pushback="60000"), Service(places=2, pushback="1")
    for service, times in ((patient, (0.3,)), (hasty, (0.3, 3.0, 30.0))):
        for seconds in times:  # the longer ones for a machine that is held up
            async with loaded(service) as caller:
                await caller.crowd(blanks(), 10, ramp=0.0, seconds=seconds)
            if service.refused > 8:
                break
    assert patient.refused <= 8 < hasty.refused


async def test_a_crowd_s_ramp_does_not_count() -> None:
    service = Service(places=10, pushback="1")
    replies: list[Reply] = []
    async with loaded(service) as caller:
        while not replies:  # a machine that is held up answers nothing in so short a time
            begin = asyncio.get_running_loop().time()
            replies = await caller.crowd(blanks(), 4, ramp=0.2, seconds=0.2)
    ended = [reply.ended for reply in replies]
    assert begin + 0.2 <= min(ended)
    assert max(ended) - min(ended) < 0.2


# ------------------------------------------------------------------------------------- tasks


def test_no_two_requests_are_identical(tmp_path: Path) -> None:
    data = tmp_path / "HumanEval.jsonl"
    data.write_text(json.dumps({**ROW, "test": "def check(c): pass"}) + "\n")
    (task,) = read_tasks(data)
    exec(task.program, {})
    sent = list(islice(requests([task]), 50))
    assert len({pb.ScoreRequest.FromString(body).completion for body in sent}) == 50
    sent_together = [
        request.completion
        for first in (-6, -3)
        for body in batches([task] * 3, first, 2)
        for request in pb.ScoreBatchRequest.FromString(body).requests
    ]
    assert (
        len({*sent_together} - {pb.ScoreRequest.FromString(body).completion for body in sent}) == 6
    )


@pytest.mark.parametrize("text", ["", "\n", "{}", "[]", "not JSON", json.dumps(ROW), "\x00"])
def test_a_file_that_is_no_humaneval_is_refused_by_name(tmp_path: Path, text: str) -> None:
    data = tmp_path / "other.jsonl"
    data.write_text(text)
    with pytest.raises(StartError, match=r"other\.jsonl"):
        read_tasks(data)


# ------------------------------------------------------------------------------------ report


def reply(seconds: float, verdict: str = "PASSED", status: str = "") -> Reply:
    return Reply(began=1.0, ended=1.0 + seconds, verdict=verdict, status=status)


def test_the_ratio_is_of_the_whole_process_tree_to_the_bare_fork() -> None:
    def one(server: float, sandboxes: float) -> Pass:
        used = Used(server=server, sandboxes=sandboxes)
        return Pass(used=used, client_cpu=9.0, wall=2.0, replies=[reply(0.1), reply(0.3)])

    rounds = [
        Round(bare_cpu=bare, preloaded_cpu=bare / 2, single=one(1.0, 5.0), batched=one(0.5, 4.0))
        for bare in (2.0, 4.0)
    ]
    found = report.throughput(rounds, tasks=2, slots=2)
    assert found["forks"] == {"bare": 1.5, "preloaded": 0.75}
    single, batched = found["single"], found["batched"]
    assert (single["cpu_ratio"], batched["cpu_ratio"]) == (2.0, 1.5)
    assert single["cpu_ratio_by_round"] == [3.0, 1.5]
    assert single["cpu_ratio_to_preloaded"] == 4.0
    assert single["executions_per_second"] == 1.0
    assert single["cpu_seconds_per_verdict"]["served"] == 3.0
    assert batched["cpu_seconds_per_verdict"]["server_process"] == 0.25
    assert batched["cpu_seconds_per_verdict"]["client"] == 4.5
    assert single["latency_seconds"]["max"] == pytest.approx(0.3)


def test_added_latency_is_the_median_of_the_differences() -> None:
    pairs = [
        Pair(in_process=1.0, served=1.5),
        Pair(in_process=9.0, served=9.1),
        Pair(in_process=2.0, served=2.4),
    ]
    assert report.latency(pairs)["added_seconds_p50"] == pytest.approx(0.4)


def test_overload_counts_verdicts_and_not_refusals() -> None:
    refusal = reply(0.0, verdict="", status="RESOURCE_EXHAUSTED")
    late = reply(1.0, verdict="TIME_LIMIT_EXCEEDED")
    steps = [
        Step(load=1, in_flight=10, seconds=2.0, replies=[reply(0.1)] * 10),
        Step(load=20, in_flight=200, seconds=2.0, replies=[*[reply(0.1)] * 8, late, refusal]),
    ]
    found = report.overload(steps, places=10, capacity=8)
    assert [step["executions_per_second"] for step in found["steps"]] == [5.0, 4.5]
    assert found["least_share_of_peak"] == 0.9
    assert found["steps"][1]["refusals_per_second"] == 0.5
    assert found["honest_solutions_timed_out"] == 1
    assert found["honest_solutions_not_passed"] == 1


def test_an_overload_in_which_nothing_was_judged_has_shares_of_zero() -> None:
    refusal = reply(0.0, verdict="", status="RESOURCE_EXHAUSTED")
    step = Step(load=1, in_flight=10, seconds=2.0, replies=[refusal])
    found = report.overload([step], places=10, capacity=8)
    assert found["steps"][0]["share_of_peak"] == found["least_share_of_peak"] == 0.0


def test_percentiles_are_measured_values() -> None:
    found = report.percentiles([float(number) for number in range(101)])
    assert found == {"p50": 50.0, "p90": 90.0, "p99": 99.0, "max": 100.0}
    assert report.percentiles([7.0]) == dict.fromkeys(("p50", "p90", "p99", "max"), 7.0)
