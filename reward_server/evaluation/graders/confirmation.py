"""Has a pass confirmed in which more than plain data crossed between judge and candidate.

What this stops: a hole in the rules for what crosses (`runner.judge.exports.callbacks`,
`runner.judge.proxies.proxy`) that becomes a reward. A judge that was made to say yes says yes to
wrong expectations too. The perturbed copies are run in the same isolated way, each by a fresh judge
against a fresh candidate; which assertions are wrong in them is this process's secret. They come in
pairs: what is true in the one is wrong in the other, so that each assertion is wrong once at least.
A question that tells an object what the tests look for (`answer in found`) is left out in one copy
more, in which all else is true: what the object says there it has not been told.

What it does not: tell a true from an invented truth value. `assert s.is_empty()` is turned round,
and who answers by himself answers so again; the rules for what crosses have to see to that.

An assertion may tell an object what another one expects of it (`found.has(best)`). It is left out
of one copy, in which all else is true. What fails there is labelled SHARED, since the object may
have been meant to change. So is a test that passes without evaluating an assertion.

A pass in which an object contradicted itself (`runner.judge.consistency`) is run once more, so that
its first answer to a question stands for all. If the tests hold there too, as with clocks and dice,
no contradiction decided. Else the label is SHARED: the judge took the solution's word, and no value
stands behind it. So is the label of one in which both sides held more containers than are kept in
step (`runner.sharing.containers`).

A pass in which tests did not see what the solution did to an argument (`runner.values.changes`) is
run once more, so that they see all of it. Ordinary runs end as that one does, and what an honest
solution passes, it passes in both.

So is a pass with answers that arrived as another class than they were of
(`runner.channel.encoding`), one of calls in which the solution and not the task's signature said
what values are (`runner.candidate.leetcode_types`), and one in which the judge refused what the
solution may have allowed: a test that expects an exception is satisfied by the judge's own. One in
which the solution was asked nothing is of no solution, and has the same label.

Tests that fail while changes are withheld are run so once, too: state that is handed over again,
`[pop(x), pop(x)]`, an argument that a test looks at by another way. If that brings more, it is
confirmed by copies that see all changes. The label stays if all that is expected is written in the
assertions (`grading.confirmation.constants`), so that no change decided it. It is SHARED if what is
not is of changed arguments alone; where the text brings them and answers together, the failure
stands.

A pass is refused for good if an assertion held whose expected value was replaced, since an honest
solution can't do that. Any other deviation may be honest (a value drawn at random, a clock, a limit
that was nearly used up), so the copy is drawn and run again, twice at most for a pass. A solution
that deviates three times fails its own tests often, and is refused. A run of the true tests that
ended early, at a limit or by a crash, may have copies that end in the same test, so that what
passed before it counts. Copies that the judge finds
broken before it heard the candidate are our fault, and the pass stands.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from reward_server.domain import (
    Ending,
    Execution,
    Integrity,
    RewardPolicy,
    TestOutcome,
    TestResult,
    Tests,
    Verdict,
)
from reward_server.grading.python_tests.confirmation import Copies, Deviation
from reward_server.grading.python_tests.confirmation.outcomes import Place
from reward_server.grading.reward import counted_tests
from reward_server.grading.verdict import Run, claimed_reward, claims_reward, conclude
from reward_server.runner import wire

BITS = 4  # a judge that is not sound guesses which copies are wrong with a chance of 2 ** -BITS
_REPETITIONS = 2
_DOUBTS = frozenset(
    (
        *(wire.CONTRADICTION, wire.OUT_OF_STEP, wire.CAST, wire.REFUSAL, wire.UNTOLD),
        wire.UNASKED,
    )
)
_LOOKED_FOR = _DOUBTS | {wire.WITHHELD_CHANGE}
_FAILURES = frozenset((Verdict.FAILED, Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT_EXCEEDED))
_REFUSAL = "the pass was not confirmed by further runs of the tests"


class Execute(Protocol):
    """Runs tests against the solution once more."""

    async def __call__(
        self,
        perturbed: Tests | None = None,
        *,
        brings_changes: bool = False,
        repeats_answers: bool = False,
    ) -> Execution:
        """Runs them.

        Args:
            perturbed: copies, of which all are run even if some fail; None for the true tests.
            brings_changes: whether they see all changes of arguments.
            repeats_answers: whether each object gives a question one answer.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """How the passes of one submission are confirmed.

    Args:
        read: returns the copies of the tests, given the names of those that passed.
        execute: runs the tests again.
        policy: tells which tests count.
        draw: where the secret comes from.
    """

    read: Callable[[frozenset[str]], Copies]
    execute: Execute
    policy: RewardPolicy
    draw: random.Random = random.SystemRandom()  # noqa: RUF009  # it holds no state

    async def confirmed(self, run: Run) -> list[Run]:
        """Returns the run and those that confirm it; the run comes last, maybe refused."""
        signals = run.execution.signals
        if wire.WITHHELD_CHANGE in signals and conclude(self.policy, [run]).verdict in _FAILURES:
            return await self._with_changes(run)
        return await self._of_pass(run)

    async def _with_changes(self, run: Run) -> list[Run]:
        """Runs tests again that failed while changes were withheld, so that they see them.

        What passes there is confirmed with all changes. It keeps its label only if the text shows
        that no change decided what was expected, and counts for nothing if a change may have.
        """
        execution = await self.execute(brings_changes=True)
        seen = Run(execution=execution)
        if claimed_reward(self.policy, seen) <= claimed_reward(self.policy, run):
            return [_unblamed(execution), *await self._of_pass(run)]
        passed = _passed(seen, self.policy)
        copies = await asyncio.to_thread(self.read, passed)
        in_prompt = wire.MET_IN_PROMPT in execution.signals  # whose text the copies do not read
        is_certain = not in_prompt and await asyncio.to_thread(copies.expects_constants)
        is_met = wire.MET_CHANGE in execution.signals and not is_certain
        if is_met and (
            in_prompt or not await asyncio.to_thread(copies.expects_constants, or_arguments=True)
        ):
            return [_unblamed(execution), *await self._of_pass(run)]
        before, seen = await self._repeated(seen, passed)
        if not (is_certain and copies.places):
            seen = replace(seen, integrity=Integrity.SHARED)
        first = _unblamed(run.execution)
        return [first, *before, *await self._compared(seen, copies, brings_changes=True)]

    async def _of_pass(self, run: Run) -> list[Run]:
        signals = run.execution.signals
        is_plain = not run.execution.crossed and _LOOKED_FOR.isdisjoint(signals)
        passed = frozenset[str]() if is_plain else _passed(run, self.policy)
        if not passed:
            return [run]
        repeated, run = await self._repeated(run, passed)
        if wire.WITHHELD_CHANGE not in signals:
            return [*repeated, *await self._perturbed(run, passed)]
        execution = await self.execute(brings_changes=True)
        seen = _unblamed(execution)
        if not _hold(execution, passed, run):
            return [*repeated, seen, _refused(run, Deviation(other=1))]
        return [*repeated, seen, *await self._perturbed(run, passed)]

    async def _repeated(self, run: Run, passed: frozenset[str]) -> tuple[list[Run], Run]:
        """Returns the run, labelled, behind one in which questions have one answer each."""
        doubts = _DOUBTS & run.execution.signals.keys()
        runs = list[Run]()
        if doubts == {wire.CONTRADICTION}:
            execution = await self.execute(repeats_answers=True)
            runs = [_unblamed(execution)]
            if _hold(execution, passed, run) and _DOUBTS.isdisjoint(execution.signals):
                doubts = frozenset()
        return runs, replace(run, integrity=Integrity.SHARED) if doubts else run

    async def _perturbed(self, run: Run, passed: frozenset[str]) -> list[Run]:
        if not run.execution.crossed:
            return [run]
        copies = await asyncio.to_thread(self.read, passed)
        return await self._compared(run, copies)

    async def _compared(
        self, run: Run, copies: Copies, *, brings_changes: bool = False
    ) -> list[Run]:
        runs, repetitions, silent = list[Run](), _REPETITIONS, False
        waiting = list(_pairs(copies.places, self.draw))
        if frozenset() < copies.untold < frozenset(copies.places):
            waiting.append(copies.untold)
        while waiting:
            wrong = waiting.pop()
            tests = await asyncio.to_thread(copies.perturbed, wrong, self.draw)
            execution = await self.execute(tests, brings_changes=brings_changes)
            runs.append(_unblamed(execution))
            if execution.ending is Ending.INVALID_TASK:
                return [*runs, run.with_signals({"unconfirmable": 1})]
            found = copies.compare(execution.tests, wrong)
            silent |= bool(found.silent)
            if not _ends_as(execution, run):
                found += Deviation(other=1)
            if not found:
                continue
            if found.passed or not repetitions:
                return [*runs, _refused(run, found)]
            repetitions -= 1
            waiting.append(wrong)
        if silent:
            run = _weaker(run, "vacuous")
        if not copies.telling:
            return [*runs, run]
        return [*runs, *await self._untold(run, copies, brings_changes=brings_changes)]

    async def _untold(self, run: Run, copies: Copies, *, brings_changes: bool) -> list[Run]:
        """Runs the tests without what tells the solution of other expectations.

        What is left out may as well have been what an honest object is to do.
        """
        tests = await asyncio.to_thread(copies.perturbed, copies.telling, self.draw)
        execution = await self.execute(tests, brings_changes=brings_changes)
        if copies.compare(execution.tests, copies.telling):
            run = _weaker(run, "told_expectation")
        return [_unblamed(execution), run]


def _passed(run: Run, policy: RewardPolicy) -> frozenset[str]:
    """Returns the names of the tests that passed, if they bring a reward."""
    if not claims_reward(policy, run):
        return frozenset()
    counted = counted_tests(policy, run.tests)
    return frozenset(test.name for test in counted if test.outcome is TestOutcome.PASSED)


def _hold(execution: Execution, passed: frozenset[str], run: Run) -> bool:
    """Returns True if tests that passed before passed again."""
    held = {test.name for test in execution.tests if test.outcome is TestOutcome.PASSED}
    return _ends_as(execution, run) and passed <= held


def _ends_as(execution: Execution, run: Run) -> bool:
    """Returns True if an execution came to its end, or no further than the run of the true tests.

    What passed lies before the test in which that one ended, and is compared in any case.
    """
    if execution.ending is Ending.COMPLETED:
        return True
    is_alike = execution.ending is run.execution.ending
    return is_alike and _latest(execution.tests) == _latest(run.tests)


def _latest(tests: Sequence[TestResult]) -> str:
    """Returns the name of the last test that was begun."""
    begun = [test.name for test in tests if test.outcome is not TestOutcome.NOT_RUN]
    return begun[-1] if begun else ""


def _pairs(places: Sequence[Place], draw: random.Random) -> Iterator[frozenset[Place]]:
    """Draws halves of what can be made wrong, each followed by its other half."""
    for _ in range(-(-BITS // (2 * len(places))) if places else 0):
        half = _drawn(places, draw)
        yield half
        yield frozenset(places) - half


def _drawn(places: Sequence[Place], draw: random.Random) -> frozenset[Place]:
    return frozenset(place for place in places if draw.getrandbits(1))


def _unblamed(execution: Execution) -> Run:
    """Leaves the verdict to the true tests, unless the solution attacked the judge of a copy.

    No test of such a run counts. What a judge refuses there is what the copy made wrong.
    """
    signals = {name: count for name, count in execution.signals.items() if name != wire.REFUSAL}
    execution = replace(execution, signals=signals)
    if execution.ending is not Ending.VIOLATION:
        execution = replace(execution, ending=Ending.COMPLETED, limits_hit=())
    return Run.of(execution, ())


def _weaker(run: Run, signal: str) -> Run:
    return replace(run.with_signals({signal: 1}), integrity=Integrity.SHARED)


def _refused(run: Run, found: Deviation) -> Run:
    """Takes back what a run claimed."""
    signals = {"unconfirmed": 1} | ({"twin_passed": found.passed} if found.passed else {})
    return run.with_signals(signals).without_passes(TestOutcome.FAILED, _REFUSAL)
