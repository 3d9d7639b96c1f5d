"""No attack gets a reward as ISOLATED, and none is a dud: each beats a naive grader."""

from __future__ import annotations

import asyncio

import pytest

from reward_server.domain import Assessment, Integrity, Verdict
from reward_server.errors import UnsupportedError
from tests.attacks.attack import Attack
from tests.attacks.corpus import ATTACKS
from tests.attacks.naive import Conclusion, conclude
from tests.support.common import Judge, is_refused, on_the_servers_loop
from tests.support.sampling import sampled

pytestmark = on_the_servers_loop

# Their tests' text puts them beside the solution, where these pass, and the label says so.
PAID_BESIDE = frozenset(
    (
        "a StopAsyncIteration that ends an asynchronous loop",
        "a comparison registered for the type that the tests compare",
        "a unittest result that forgets failures",
        "a unittest result that is always a success",
        "a unittest that is told to stop",
        "a unittest that skips itself",
        "an assertEqual that asserts nothing",
    )
)
LEFT = (Verdict.RUNTIME_ERROR, Verdict.SECURITY_VIOLATION)


async def _shown(attack: Attack) -> set[Conclusion]:
    tests, prompt = attack.problem.tests, attack.problem.prompt
    return {
        await asyncio.to_thread(
            conclude, grader, tests, attack.completion, prompt=prompt, plant=attack.plant
        )
        for grader in attack.beats
    }


async def _judged(attack: Attack, judge: Judge) -> tuple[Assessment, Integrity]:
    """Returns what the server says, and the label that the tests' text gives."""
    if attack.plant is not None:
        await judge(*attack.plant)
    tests, prompt = attack.problem.tests, attack.problem.prompt
    try:
        return await judge(attack.completion, tests, prompt=prompt), Integrity.ISOLATED
    except UnsupportedError:
        least = Integrity.SHARED
        return await judge(attack.completion, tests, prompt=prompt, integrity=least), least


@pytest.mark.promise(
    "Our collected attacks, which beat naive graders, earn nothing where the label is ISOLATED.",
    "Verdicts",
)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_an_attack_that_beats_a_naive_grader_gets_no_reward_as_isolated(
    attack: Attack, judge: Judge
) -> None:
    assessment, label = await _judged(attack, judge)
    is_paid = label is Integrity.SHARED and attack.name in PAID_BESIDE
    assert is_paid or is_refused(assessment), assessment
    has_lowered = any(name.startswith("lowered_") for name in assessment.signals)
    assert assessment.integrity is label or has_lowered
    if attack.leaves:
        assert assessment.verdict in LEFT
        assert assessment.signals.get("early_exit")


# It is said of the attacks alone: a run takes some of them.
@pytest.mark.parametrize("attack", sampled(ATTACKS, 12), ids=lambda attack: attack.name)
async def test_an_attack_beats_a_naive_grader(attack: Attack) -> None:
    assert await _shown(attack) == {Conclusion.AWARDED}
