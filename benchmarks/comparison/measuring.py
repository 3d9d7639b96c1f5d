"""The whole comparison: starts, turns, memory, and attacks on graders.

Each round gives every peer one turn at each width, in an order that rotates, so that a change of
the machine's speed affects all alike. Figures are compared within a round.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from benchmarks.comparison.cases import Case, Pair, attacks
from benchmarks.comparison.peer import Outcome, Peer, UnavailableError
from benchmarks.comparison.turns import Numbered, Turn, ask, take_turn
from reward_server.audit.other_graders.results import GraderResult
from reward_server.errors import StartError

_MEMORY_TURN_SECONDS = 3.0
_SAMPLE_SECONDS = 0.25

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How much is measured.

    Args:
        pairs: a right and a wrong solution of each task.
        widths: numbers of submissions in flight.
        rounds: greatest number of rounds.
        minutes: time after which no round begins, and none that would not end in time.
        most: greatest number of submissions in a turn.
        turn_seconds: time of a turn after which no submission begins.
        starts: number of starts of each peer.
        attacked: number of tasks for the attacks.
    """

    pairs: Sequence[Pair]
    widths: Sequence[int]
    rounds: int
    minutes: float
    most: int
    turn_seconds: float
    starts: int
    attacked: int


@dataclass(slots=True, kw_only=True)
class Measured:
    """What was measured of a peer.

    Args:
        peer: the peer.
        starts: seconds from each start to the first verdict.
        idle_bytes: memory before the first turn.
        loaded_bytes: greatest memory in a turn with the greatest width.
        turns: its turns by width, one for each round that it took part in.
        cheats: the attacks that it rewarded.
        problem: why it was not measured, or not to the end; "" if it was.
    """

    peer: Peer
    starts: list[float] = field(default_factory=list)
    idle_bytes: int | None = None
    loaded_bytes: int | None = None
    turns: dict[int, list[Turn]] = field(default_factory=dict)
    cheats: GraderResult = field(default_factory=lambda: GraderResult(url=""))
    problem: str = ""

    @property
    def is_measured(self) -> bool:
        """True if there is a turn with verdicts."""
        return any(turn.verdicts for turns in self.turns.values() for turn in turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result.

    Args:
        plan: how much was measured.
        peers: what was measured, the server of this command first.
        rounds: number of rounds.
        seconds: time of everything.
        loads: the machine's load before and after.
    """

    plan: Plan
    peers: Sequence[Measured]
    rounds: int
    seconds: float
    loads: tuple[float, float]


async def compare(plan: Plan, own: Peer, others: Sequence[Peer], say: Say) -> Comparison:
    """Measures the server of this command and its peers.

    Args:
        plan: how much is measured.
        own: the server of this command.
        others: the peers.
        say: told what comes next.

    Raises:
        StartError: the server itself cannot be measured.
    """
    began, load = time.monotonic(), os.getloadavg()[0]
    found = [Measured(peer=peer) for peer in (own, *others)]
    try:
        # A process that gRPC has threads in complains of each further one that it starts.
        for one in reversed(found):
            say(f"start of {one.peer.about.name}")
            await _start(one, plan)
        _need(found[0])
        rounds = await _rounds(found, plan, began, say)
        for one in _standing(found):
            say(f"attacks on {one.peer.about.name}")
            await _load(one, plan)
            await _attack(one, plan)
    finally:
        for one in found:
            await one.peer.stop()
    seconds = time.monotonic() - began
    loads = (load, os.getloadavg()[0])
    return Comparison(plan=plan, peers=found, rounds=rounds, seconds=seconds, loads=loads)


async def sound(pairs: Sequence[Pair], peer: Peer, width: int) -> list[Pair]:
    """Returns the pairs of which an interpreter accepts the right solution, and no wrong one."""
    cases = [case for pair in pairs for case in (pair.right, pair.wrong)]
    try:
        await peer.start()
        turn = await take_turn(
            peer, iter(enumerate(cases)), width=width, most=len(cases), seconds=float("inf")
        )
    except UnavailableError as error:
        raise StartError(f"no interpreter for the tasks: {error}") from None
    finally:
        await peer.stop()
    wrongs = {id(reply.case) for reply in turn.replies if not reply.is_true}
    return [one for one in pairs if id(one.right) not in wrongs and id(one.wrong) not in wrongs]


def _standing(found: Sequence[Measured]) -> list[Measured]:
    return [one for one in found if not one.problem]


def _need(own: Measured) -> None:
    if own.problem:
        raise StartError(f"{own.peer.about.name} cannot be measured: {own.problem}")


async def _start(one: Measured, plan: Plan) -> None:
    """Starts a peer several times; it stays after the last. A problem is kept as a value."""
    trial = plan.pairs[0].right
    about = one.peer.about
    for number in range(1 if about.runs_already else plan.starts):
        if number:
            await one.peer.stop()
        began = time.monotonic()
        try:
            await one.peer.start()
        except UnavailableError as error:
            one.problem = str(error)
            return
        reply = await ask(one.peer, (-1 - number, trial))
        if not reply.is_true:
            told = reply.answer
            one.problem = f"a right solution came to {told.outcome}: {told.detail}".rstrip(": ")
            return
        if not about.runs_already:
            one.starts.append(time.monotonic() - began)
    one.idle_bytes = one.peer.memory_bytes()


async def _rounds(found: Sequence[Measured], plan: Plan, began: float, say: Say) -> int:
    turn, longest = 0, 0.0
    for number in range(plan.rounds):
        start = time.monotonic()
        if number and start - began + longest > 60 * plan.minutes:
            return number
        for width in plan.widths:
            standing = _standing(found)
            # All peers begin with the same case, and a round begins where another did not.
            first = turn * plan.most // 2
            for one in (*standing[turn % len(standing) :], *standing[: turn % len(standing)]):
                say(f"round {number + 1}, {width} in flight: {one.peer.about.name}")
                done = await take_turn(
                    one.peer,
                    _cases(plan.pairs, first),
                    width=width,
                    most=plan.most,
                    seconds=plan.turn_seconds,
                )
                one.turns.setdefault(width, []).append(done)
                one.problem = done.problem
                _need(found[0])
            turn += 1
        longest = max(longest, time.monotonic() - start)
    return plan.rounds


def _cases(pairs: Sequence[Pair], first: int) -> Iterator[Numbered]:
    """Yields an endless sequence of right and wrong solutions in turns, from one on."""
    cases = [case for pair in pairs for case in (pair.right, pair.wrong)]
    for number in itertools.count(first):
        yield number, cases[number % len(cases)]


async def _load(one: Measured, plan: Plan) -> None:
    """Samples the memory during a turn of its own, which no other figure includes."""
    samples: list[int] = []

    async def sample() -> None:
        while (read := one.peer.memory_bytes()) is not None:
            samples.append(read)
            await asyncio.sleep(_SAMPLE_SECONDS)

    sampler = asyncio.create_task(sample())
    seconds = min(_MEMORY_TURN_SECONDS, plan.turn_seconds)
    try:
        cases = _cases(plan.pairs, -plan.most)
        await take_turn(one.peer, cases, width=max(plan.widths), most=plan.most, seconds=seconds)
    finally:
        sampler.cancel()
        with suppress(asyncio.CancelledError):
            await sampler
    one.loaded_bytes = max(samples, default=None)


async def _attack(one: Measured, plan: Plan) -> None:
    cases: Sequence[Case] = attacks(plan.pairs, plan.attacked)
    turn = await take_turn(
        one.peer,
        iter(enumerate(cases)),
        width=max(1, len(os.sched_getaffinity(0))),
        most=len(cases),
        seconds=float("inf"),
    )
    one.cheats = GraderResult(url=one.peer.about.name, tasks=plan.attacked)
    for reply in turn.replies:
        if reply.answer.outcome is Outcome.FAILED:
            one.cheats.unanswered += 1
            one.cheats.problem = one.cheats.problem or reply.answer.detail
        else:
            one.cheats.count(reply.case.name, is_paid=reply.answer.outcome is Outcome.ACCEPTED)
