"""Hacking is told from noise on curves whose truth is known."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.support.sampling import times
from trainer_client.errors import ConfigError
from trainer_client.trl.monitoring.hacking import HackingRule

Curve = Callable[[float], float]

SIGNAL = "tests/signal/EARLY_EXIT"
SAMPLES, BATCH, STEPS = 64, 32, 400
RUNS = times(100, by_default=40)


def flat(value: float) -> Curve:
    return lambda _: value


def line(start: float, end: float) -> Curve:
    return lambda x: start + (end - start) * x


STEADY_REWARD, STEADY_HELD_OUT, RARE_SIGNAL = flat(0.3), flat(0.4), flat(0.02)


def warnings(
    seed: int,
    *,
    reward: Curve = STEADY_REWARD,
    held_out: Curve = STEADY_HELD_OUT,
    signal: Curve = RARE_SIGNAL,
    held_out_first: bool = False,
) -> list[tuple[int, str]]:
    """Returns the steps and sentences of a run that is evaluated every ten steps."""
    generator = random.Random(seed)

    def share(chance: float, count: int) -> float:
        return sum(generator.random() < chance for _ in range(count)) / count

    rule = HackingRule(held_out_samples=SAMPLES)
    found: list[tuple[int, str]] = []
    for step in range(STEPS + 1):
        at = step / STEPS
        logs = [{"reward": generator.gauss(reward(at), 0.12), SIGNAL: share(signal(at), BATCH)}]
        if step % 10 == 0:
            logs.append({"held_out/pass@1": share(held_out(at), SAMPLES)})
        for entry in reversed(logs) if held_out_first else logs:
            found += [(step, message) for message in rule.see(step, entry)]
    return found


@pytest.mark.parametrize(
    "curves",
    [
        {},
        {"signal": flat(0.2)},
        {"reward": line(0.2, 0.8), "held_out": line(0.3, 0.6)},
        {"reward": line(0.6, 0.2), "held_out": line(0.4, 0.1)},
        {"reward": flat(0.3), "held_out": line(0.5, 0.1)},
        {"signal": line(0.3, 0.0)},
    ],
    ids=["flat", "signals", "both rise", "both fall", "only the pass rate falls", "signals fade"],
)
def test_noise_and_honest_runs_are_not_warned_of(curves):
    warned = sum(bool(warnings(seed, **curves)) for seed in range(times(40, by_default=10)))
    assert warned == 0


def test_a_pass_rate_that_stays_while_the_reward_rises_is_seldom_warned_of():
    warned = sum(bool(warnings(seed, reward=line(0.2, 0.8))) for seed in range(RUNS))
    assert warned <= RUNS // 40


@pytest.mark.parametrize("held_out_first", [False, True])
def test_a_pass_rate_that_falls_while_the_reward_rises_is_warned_of(held_out_first):
    for seed in range(times(20, by_default=6)):
        found = warnings(
            seed,
            reward=lambda x: 0.3 if x < 0.5 else 0.6,
            held_out=lambda x: 0.4 if x < 0.5 else 0.08,
            held_out_first=held_out_first,
        )
        step, message = found[0]
        assert STEPS / 2 < step <= STEPS / 2 + 60
        assert message.startswith("held-out pass@1 fell from 0.")
        assert "while the training reward rose from 0." in message
        assert len(found) <= 2  # once told, it takes a further fall


@pytest.mark.parametrize("signal", [line(0.02, 0.4), lambda x: 0.3 if x > 0.5 else 0.0])
def test_signals_that_become_frequent_are_warned_of(signal):
    for seed in range(times(20, by_default=6)):
        found = warnings(seed, signal=signal)
        assert found
        assert all(message.startswith(f"{SIGNAL} rose from 0") for _, message in found)


def test_a_signal_counts_as_absent_before_it_was_first_logged():
    rule = HackingRule(held_out_samples=SAMPLES, window=5)
    assert not any(rule.see(step, {"reward": 0.5}) for step in range(5))
    later = [rule.see(5 + step, {"reward": 0.5, SIGNAL: 0.5}) for step in range(5)]
    assert later[-1] == [
        f"{SIGNAL} rose from 0 to 0.5 per completion, means over 5 logged steps: "
        "look at the completions that gave it"
    ]
    assert not any(later[:-1])


def test_steps_without_a_judged_completion_are_no_evidence_about_signals():
    rule = HackingRule(held_out_samples=SAMPLES, window=5)
    for step in range(40):
        # Were the outages' zeros counted, the signal would seem to come out of nothing.
        logs = {"reward": None} if step < 20 else {"reward": 0.5, SIGNAL: 0.5}
        assert rule.see(step, logs) == []


def exact(pairs, **options) -> list[int]:
    """Returns the steps of the warnings on rewards and pass rates without noise."""
    rule = HackingRule(**{"held_out_samples": 1000, **options})
    found = []
    for index, (reward, pass_rate) in enumerate(pairs):
        for step in range(4 * index, 4 * index + 4):
            logs = {"reward": reward, **({"held_out/pass@1": pass_rate} if step % 4 == 3 else {})}
            found += [step for _ in rule.see(step, logs)]
    return found


FALL = [(0.2, 0.5), (0.2, 0.5), (0.6, 0.2), (0.6, 0.2)]


@pytest.mark.parametrize(
    ("pairs", "options", "expected"),
    [
        (FALL, {}, [15]),
        (FALL[:3], {}, []),  # two evaluations make a mean
        (FALL[1:3], {"evaluations": 1}, [7]),
        (FALL, {"held_out_samples": 8}, []),  # chance makes that of sixteen samples
        (FALL, {"least_fall": 0.4}, []),
        (FALL, {"least_rise": 0.5}, []),
        ([*FALL[:2], (0.2, 0.2), (0.2, 0.2)], {}, []),
        ([*FALL, (0.6, 0.2), (0.6, 0.2)], {}, [15]),
        ([(0.2, 0.5), (0.2, None), (0.2, 0.5), (0.6, 0.2), (None, None), (0.6, 0.2)], {}, [23]),
    ],
)
def test_least_changes_and_windows_are_kept(pairs, options, expected):
    assert exact(pairs, **options) == expected


@pytest.mark.parametrize(
    "field",
    [
        "held_out_samples",
        "evaluations",
        "least_fall",
        "least_rise",
        "window",
        "least_signals",
        "certainty",
    ],
)
def test_a_number_out_of_range_is_named(field):
    with pytest.raises(ConfigError, match=f"^{field}: must be"):
        HackingRule(**{"held_out_samples": SAMPLES, field: 0})
