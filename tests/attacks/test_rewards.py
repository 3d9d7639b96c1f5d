"""No attack gets a reward, and none is a dud: each beats a naive grader."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from reward_server.domain import Assessment, FunctionTests, Integrity, Placement, Verdict
from reward_server.errors import UnsupportedError
from reward_server.runner import wire
from tests.attacks.attack import Attack
from tests.attacks.corpus import ATTACKS
from tests.attacks.corpus.handed import CHANGED, OBJECT, PATH, PATH_CLASS
from tests.attacks.naive import Conclusion, conclude
from tests.support.common import Judge, is_refused, on_the_servers_loop
from tests.support.sampling import sampled

pytestmark = on_the_servers_loop

# What an object answers by itself, such as `in`, takes the label, and has a signal that says so.
SELF_TOLD = frozenset((wire.CAST, wire.REFUSAL))
# Problems whose tests share files with the solution, or hand over objects of classes of theirs.
SHARED_BY_TEXT = (PATH, PATH_CLASS, OBJECT, CHANGED)
LEFT = (Verdict.RUNTIME_ERROR, Verdict.SECURITY_VIOLATION)


async def _shown(attack: Attack) -> set[Conclusion]:
    tests, prompt = attack.problem.tests, attack.problem.prompt
    return {
        await asyncio.to_thread(
            conclude, grader, tests, attack.completion, prompt=prompt, plant=attack.plant
        )
        for grader in attack.beats
    }


async def _judged(attack: Attack, judge: Judge) -> Assessment:
    if attack.plant is not None:
        await judge(*attack.plant)
    tests, prompt = attack.problem.tests, attack.problem.prompt
    try:
        return await judge(attack.completion, tests, prompt=prompt)
    except UnsupportedError:
        # Their text takes the label. What stops the attack is shown in the judge all the same.
        assert isinstance(tests, FunctionTests)
        apart = replace(tests, placement=Placement.ISOLATED)
        return await judge(attack.completion, apart, prompt=prompt, integrity=Integrity.SHARED)


@pytest.mark.promise("Our collected attacks, which beat naive graders, earn nothing.", "Verdicts")
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_an_attack_that_beats_a_naive_grader_gets_no_reward(
    attack: Attack, judge: Judge
) -> None:
    assessment = await _judged(attack, judge)
    assert is_refused(assessment)
    told = SELF_TOLD & assessment.signals.keys() or attack.problem in SHARED_BY_TEXT
    assert assessment.integrity is Integrity.ISOLATED or told
    if attack.leaves:
        assert assessment.verdict in LEFT
        assert assessment.signals.get("early_exit")


# It is said of the attacks alone: a run takes some of them.
@pytest.mark.parametrize("attack", sampled(ATTACKS, 12), ids=lambda attack: attack.name)
async def test_an_attack_beats_a_naive_grader(attack: Attack) -> None:
    assert await _shown(attack) == {Conclusion.AWARDED}
