"""The measurements. Two that are compared take turns, so that a change of the machine's speed
affects both."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.measure.bare import Bare
from benchmarks.measure.load import Client, Reply
from benchmarks.measure.served import Served, Used
from benchmarks.measure.tasks import Task
from benchmarks.measure.tasks import batches as tasks_in_batches
from codereward.v1 import reward_service_pb2 as pb
from reward_server.app import App
from reward_server.domain import Verdict
from reward_server.errors import StartError
from reward_server.rpc import convert

IN_FLIGHT_PER_SLOT = 2
BATCH = 32
BATCHES_IN_FLIGHT = 2
LOADS = (1, 2, 5, 10, 20)
RAMP_SECONDS = 1.0

Advance = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """What the server did for one pass over the tasks, in seconds for all of them.

    Args:
        used: CPU time of the server and its sandboxes.
        client_cpu: CPU time of this process, which sent the requests.
        wall: wall time.
        replies: the server's replies.
    """

    used: Used
    client_cpu: float
    wall: float
    replies: Sequence[Reply]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One pass over the tasks by each of those that are compared.

    Args:
        bare_cpu: CPU time of a bare interpreter's forks, which import the modules that they need.
        preloaded_cpu: the same with the modules loaded that a sandbox preloads.
        single: the server's pass, with a call for each request.
        batched: the server's pass, with calls of `BATCH` requests, as a trainer sends them.
    """

    bare_cpu: float
    preloaded_cpu: float
    single: Pass
    batched: Pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The seconds of one task, judged in-process and over gRPC on an idle server."""

    in_process: float
    served: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The result of one number of callers at once; `load` is this number, divided by the server's
    places."""

    load: int
    in_flight: int
    seconds: float
    replies: Sequence[Reply]


async def rounds(
    count: int,
    tasks: Sequence[Task],
    requests: Iterator[bytes],
    bare: Bare,
    preloaded: Bare,
    server: Served,
    client: Client,
    advance: Advance,
) -> list[Round]:
    """Judges every task in bare interpreters and then by the server, `count` times.

    A warm-up pass of both comes first.
    """
    done: list[Round] = []
    for number in range(count + 1):
        batches = tasks_in_batches(tasks, -len(tasks) * (number + 1), BATCH)
        width = IN_FLIGHT_PER_SLOT * server.slots
        done.append(
            Round(
                bare_cpu=await bare.one_pass(),
                preloaded_cpu=await preloaded.one_pass(),
                single=await _one_pass(server, client.saturate(requests, len(tasks), width)),
                batched=await _one_pass(
                    server, client.saturate_with_batches(batches, BATCHES_IN_FLIGHT)
                ),
            )
        )
        advance()
    return done[1:]


async def _one_pass(server: Served, sending: Awaitable[list[Reply]]) -> Pass:
    used, own, begin = server.used(), time.process_time(), time.perf_counter()
    replies = await sending
    return Pass(
        used=server.used().since(used),
        client_cpu=time.process_time() - own,
        wall=time.perf_counter() - begin,
        replies=replies,
    )


async def pairs(tasks: Sequence[Task], app: App, client: Client, advance: Advance) -> list[Pair]:
    """Judges each task once in-process and once by another server, in turns.

    Raises:
        StartError: a reference solution did not pass.
    """
    done: list[Pair] = []
    for number, task in enumerate(tasks):
        request = task.request(-number)
        if number % 2:
            in_process, served = await _in_process(request, app), await _served(request, client)
        else:
            served, in_process = await _served(request, client), await _in_process(request, app)
        done.append(Pair(in_process=in_process, served=served))
        advance()
    return done


async def _in_process(request: pb.ScoreRequest, app: App) -> float:
    submission = convert.submission(request, app.bounds)
    begin = time.perf_counter()
    assessment = await app.evaluation.score(submission)
    seconds = time.perf_counter() - begin
    if assessment.verdict is not Verdict.PASSED:
        raise StartError(f"a reference solution came to {assessment.verdict.name}")
    return seconds


async def _served(request: pb.ScoreRequest, client: Client) -> float:
    reply = await client.score(request.SerializeToString())
    if reply.verdict != "PASSED":
        raise StartError(f"a reference solution came to {reply.verdict or reply.status}")
    return reply.seconds


async def steps(
    requests: Iterator[bytes], places: int, client: Client, seconds: float, advance: Advance
) -> list[Step]:
    """Sends requests of crowds to a server with a number of places: growing, then shrinking."""
    half = seconds / 2
    ramp = min(RAMP_SECONDS, half)
    replies: dict[int, list[Reply]] = {load: [] for load in LOADS}
    for load in (*LOADS, *reversed(LOADS)):
        replies[load] += await client.crowd(requests, load * places, ramp=ramp, seconds=half)
        advance()
    return [
        Step(load=load, in_flight=load * places, seconds=seconds, replies=replies[load])
        for load in LOADS
    ]
