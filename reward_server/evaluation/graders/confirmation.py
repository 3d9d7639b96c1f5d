"""Confirms a pass in which more than plain data crossed between judge and candidate.

The judge holds the tests, and the candidate runs the solution. A value *crosses* if it is sent from
one of these two processes to the other.

What this stops: a reward for a solution that uses a hole in the rules for what may cross
(`runner.judge.exports.callbacks`, `runner.judge.proxies.proxy`). If such a solution makes a judge
accept every answer, the judge also accepts wrong expected values. So perturbed copies of the tests
are run in the same isolated way, each by a new judge against a new candidate. Only this process
knows which of their assertions are wrong. Copies come in pairs: an assertion that is true in one
copy is wrong in the other, so that each assertion is wrong at least once. Some questions reveal to
an object what the tests look for (`answer in found`). One more copy leaves such questions out, and
all its assertions are true. There the object has to answer without this knowledge.

What it does not stop: an invented truth value. `assert s.is_empty()` is negated in a copy, but an
object that always gives the same answer gives it there too. The rules for what crosses have to
prevent that.

An assertion may reveal to an object what another assertion expects of it (`found.has(best)`). Such
an assertion is left out of one copy, in which everything else is true. If a test fails in this
copy, it is labelled SHARED, since its author may have wanted the assertion to change the object. A
test that passes without evaluating an assertion is labelled SHARED, too.

If an object contradicted itself in a pass (`runner.judge.consistency`), the tests are run once
more. In this run the judge repeats the first answer to each question. If the tests pass again, as
with clocks and random numbers, the contradiction decided nothing. Otherwise the label is SHARED.

Some changes that a solution makes to an argument are withheld: the tests do not see them
(`runner.values.changes`). After a pass with a withheld change, the tests are run once more, and see
all changes, as in an ordinary run. An honest solution passes both runs.

The label is SHARED in five more cases:

- Judge and candidate held more containers than can be synchronized (`runner.sharing.containers`).
- An answer arrived as an object of another class than it had (`runner.channel.encoding`).
- The solution, and not the task's signature, stated the types of the values of calls
  (`runner.candidate.leetcode_types`).
- The judge refused an operation that the solution may have allowed. A test that expects an
  exception accepts the judge's exception.
- The tests asked the solution nothing, so that the pass is no evidence about the solution.

If tests fail while changes are withheld, they are run once more, and see all changes. Tests may
need this: they pass the same object again, as in `[pop(x), pop(x)]`, or use an argument by another
name. If more tests pass in this run, copies that see all changes confirm it. The label stays if
every expected value is written in the assertions (`grading.python_tests.confirmation.constants`),
so that no change decided it. The label is SHARED if all other expected values come from changed
arguments. If the text combines such arguments with answers, the tests have failed.

If an assertion with a wrong expected value passed, the pass is refused at once, since an honest
solution cannot cause that. Any other deviation may be honest: a random value, a clock, a limit that
was nearly used up. So another copy is made and run, at most twice for a pass. A solution that
deviates three times would often fail the true tests, and is refused. If the run of the true tests
ended early, at a limit or by a crash, its copies may end in the same test. The tests that passed
before it count. If a judge finds a copy broken before it heard the candidate, the server is at
fault, and the pass counts.
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

BITS = 4  # a judge that was deceived guesses which copies are wrong with a chance of 2 ** -BITS
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
            perturbed: a copy, whose tests are all run even if some fail; None for the true tests.
            brings_changes: whether the tests see all changes of arguments.
            repeats_answers: whether an object's first answer to a question is repeated.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """Confirms the passes of one submission.

    Args:
        read: returns the copies of the tests, given the names of those that passed.
        execute: runs the tests again.
        policy: decides which tests count.
        draw: the source of the secret.
    """

    read: Callable[[frozenset[str]], Copies]
    execute: Execute
    policy: RewardPolicy
    draw: random.Random = random.SystemRandom()  # noqa: RUF009  # it holds no state

    async def confirmed(self, run: Run) -> list[Run]:
        """Returns the runs that confirm a run, and then the run itself, which may be refused."""
        signals = run.execution.signals
        if wire.WITHHELD_CHANGE in signals and conclude(self.policy, [run]).verdict in _FAILURES:
            return await self._with_changes(run)
        return await self._of_pass(run)

    async def _with_changes(self, run: Run) -> list[Run]:
        """Runs tests that failed while changes were withheld again, with all changes.

        Tests that pass there are confirmed with all changes. They keep their label only if the text
        shows that no change decided what was expected. If a change may have decided it, they do not
        count.
        """
        execution = await self.execute(brings_changes=True)
        seen = Run(execution=execution)
        if claimed_reward(self.policy, seen) <= claimed_reward(self.policy, run):
            return [_unblamed(execution), *await self._of_pass(run)]
        passed = _passed(seen, self.policy)
        copies = await asyncio.to_thread(self.read, passed)
        in_prompt = wire.MET_IN_PROMPT in execution.signals  # the copies do not read the prompt
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
        """Returns the run with its label, and before it the run with repeated answers, if any."""
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
        """Runs the tests without the assertions that reveal other expectations to the solution.

        An honest object may need such an assertion, if it changes the object.
        """
        tests = await asyncio.to_thread(copies.perturbed, copies.telling, self.draw)
        execution = await self.execute(tests, brings_changes=brings_changes)
        if copies.compare(execution.tests, copies.telling):
            run = _weaker(run, "told_expectation")
        return [_unblamed(execution), run]


def _passed(run: Run, policy: RewardPolicy) -> frozenset[str]:
    """Returns the names of the tests that passed, if they earn a reward."""
    if not claims_reward(policy, run):
        return frozenset()
    counted = counted_tests(policy, run.tests)
    return frozenset(test.name for test in counted if test.outcome is TestOutcome.PASSED)


def _hold(execution: Execution, passed: frozenset[str], run: Run) -> bool:
    """Returns True if the tests that passed before passed again."""
    held = {test.name for test in execution.tests if test.outcome is TestOutcome.PASSED}
    return _ends_as(execution, run) and passed <= held


def _ends_as(execution: Execution, run: Run) -> bool:
    """Returns True if an execution reached its end, or ended as the run of the true tests did.

    The tests that passed lie before the test in which that run ended, and are compared.
    """
    if execution.ending is Ending.COMPLETED:
        return True
    is_alike = execution.ending is run.execution.ending
    return is_alike and _latest(execution.tests) == _latest(run.tests)


def _latest(tests: Sequence[TestResult]) -> str:
    """Returns the name of the last test that began."""
    begun = [test.name for test in tests if test.outcome is not TestOutcome.NOT_RUN]
    return begun[-1] if begun else ""


def _pairs(places: Sequence[Place], draw: random.Random) -> Iterator[frozenset[Place]]:
    """Draws a random part of the places, followed by the other places; enough pairs for BITS."""
    for _ in range(-(-BITS // (2 * len(places))) if places else 0):
        half = _drawn(places, draw)
        yield half
        yield frozenset(places) - half


def _drawn(places: Sequence[Place], draw: random.Random) -> frozenset[Place]:
    return frozenset(place for place in places if draw.getrandbits(1))


def _unblamed(execution: Execution) -> Run:
    """Leaves the verdict to the true tests, unless the solution attacked the judge of a copy.

    No test of such a run counts. Refusals of the judge are dropped, since the copy caused them.
    """
    signals = {name: count for name, count in execution.signals.items() if name != wire.REFUSAL}
    execution = replace(execution, signals=signals)
    if execution.ending is not Ending.VIOLATION:
        execution = replace(execution, ending=Ending.COMPLETED, limits_hit=())
    return Run.of(execution, ())


def _weaker(run: Run, signal: str) -> Run:
    return replace(run.with_signals({signal: 1}), integrity=Integrity.SHARED)


def _refused(run: Run, found: Deviation) -> Run:
    """Fails the passed tests of a run."""
    signals = {"unconfirmed": 1} | ({"twin_passed": found.passed} if found.passed else {})
    return run.with_signals(signals).without_passes(TestOutcome.FAILED, _REFUSAL)
