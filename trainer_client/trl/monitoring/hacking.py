"""Detects from a run's logs that the model learns to exploit the tests instead of solving tasks.

It reports two things:

divergence  the held-out pass rate has fallen below its best while the training reward has risen
signals     a kind of signal of reward hacking is more frequent than at its lowest

Noise must not raise alarms. A change counts only if it exceeds both a minimum and a number of
standard errors. The standard error of the pass rate is that of as many coin flips as there were
samples. The standard errors of the reward and of the signals are computed from their own spread
from step to step.

A run of m windows compares each window with the best one before it. These are up to m * m
comparisons, of which some exceed any fixed number of standard errors by chance. So z standard
errors become the root of z * z + 4 * ln(m). The chance of a false alarm in the whole run is then
about that of a single comparison (Bonferroni's correction, with the tail of the normal
distribution).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from trainer_client.run_folder import HELD_OUT
from trainer_client.trl.monitoring.rules import is_number, require

PASS_RATE = f"{HELD_OUT}/pass@1"
SIGNAL = "/signal/"


class HackingRule:
    """Detects divergence and signals in the logs of a run; see the module's docstring.

    After a report it discards the earlier values, so that only a further change is reported again.

    Args:
        held_out_samples: number of judged completions in one evaluation of the held-out split.
        evaluations: number of successive evaluations over which a pass rate is averaged.
        least_fall: minimum fall of the pass rate, from 0 to 1.
        least_rise: minimum rise of the reward, in its own units.
        window: number of logged steps over which signals are averaged.
        least_signals: minimum rise of a signal, in signals per completion.
        certainty: standard errors that a change between two windows must exceed, z.
        reward_key: name under which the training reward is logged.

    Raises:
        ConfigError: a number is out of range.
    """

    def __init__(
        self,
        *,
        held_out_samples: int,
        evaluations: int = 2,
        least_fall: float = 0.05,
        least_rise: float = 0.02,
        window: int = 10,
        least_signals: float = 0.05,
        certainty: float = 3.0,
        reward_key: str = "reward",
    ) -> None:
        require(held_out_samples >= 1, "held_out_samples", "at least 1", held_out_samples)
        require(window >= 2, "window", "at least 2", window)
        require(least_signals > 0.0, "least_signals", "above 0", least_signals)
        self._divergence = _Divergence(
            held_out_samples, evaluations, least_fall, least_rise, certainty
        )
        self._window, self._least_signals = window, least_signals
        self._certainty, self._reward_key = certainty, reward_key
        self._judged_steps = 0
        self._signals: dict[str, _Series] = {}

    def see(self, step: int, logs: Mapping[str, Any]) -> list[str]:
        """Takes the logs of a step; returns a sentence for each finding."""
        reward, held_out = logs.get(self._reward_key), logs.get(PASS_RATE)
        found = []
        if is_number(reward):
            self._divergence.add_reward(step, reward)
            found += self._see_signals(logs)
        if is_number(held_out):
            self._divergence.add_evaluation(step, held_out)
        if is_number(reward) or is_number(held_out):
            found += self._divergence.found()
        return found

    def _see_signals(self, logs: Mapping[str, Any]) -> list[str]:
        """Takes the signals of a step with judged completions; an absent signal did not occur."""
        for key in logs:
            if SIGNAL in key and key not in self._signals:
                self._signals[key] = _Series(self._window, zeros=self._judged_steps)
        self._judged_steps += 1
        return [
            sentence
            for key in sorted(self._signals)
            if (sentence := self._see_signal(key, logs.get(key)))
        ]

    def _see_signal(self, key: str, value: Any) -> str | None:
        series = self._signals[key]
        series.add(value if is_number(value) else 0.0)
        if series.rise < max(self._least_signals, series.noise(self._certainty)):
            return None
        self._signals[key] = _Series(self._window)
        return (
            f"{key} rose from {series.lowest:.3g} to {series.last:.3g} per completion, means over "
            f"{self._window} logged steps: look at the completions that gave it"
        )


class _Series:
    """The mean of the last window of a series, and the lowest of windows that do not overlap it."""

    def __init__(self, window: int, zeros: int = 0) -> None:
        self._window, self._count = window, zeros
        self._values = deque([0.0] * min(zeros, 2 * window), maxlen=2 * window)
        self._squares = 0.0
        self.lowest = 0.0 if zeros >= window else math.inf
        self.last = 0.0

    @property
    def rise(self) -> float:
        """The last mean minus the lowest, or -inf if there is none."""
        return self.last - self.lowest

    def add(self, value: float) -> None:
        """Takes the next value."""
        if self._values:
            self._squares += (value - self._values[-1]) ** 2
        self._values.append(value)
        self._count += 1
        self.last = fmean(self._recent())
        if len(self._values) == 2 * self._window:
            self.lowest = min(self.lowest, fmean(list(self._values)[: self._window]))

    def noise(self, certainty: float) -> float:
        """Returns the rise that chance can explain.

        Successive differences measure the spread independently of the trend (von Neumann 1941). The
        spread of the last window is used if it is larger, for example when a signal occurs for the
        first time.
        """
        spread = self._squares / (2.0 * max(1, self._count - 1))
        spread = max(spread, _variance(self._recent()))
        return _errors(certainty, self._count) * math.sqrt(2.0 * spread / self._window)

    def _recent(self) -> list[float]:
        return list(self._values)[-self._window :]


class _Divergence:
    """Held-out evaluations, and the training rewards that were logged between them."""

    def __init__(
        self, samples: int, evaluations: int, fall: float, rise: float, certainty: float
    ) -> None:
        require(evaluations >= 1, "evaluations", "at least 1", evaluations)
        require(0.0 < fall <= 1.0, "least_fall", "above 0 and at most 1", fall)
        require(rise > 0.0, "least_rise", "above 0", rise)
        require(certainty > 0.0, "certainty", "above 0", certainty)
        self._samples, self._count = samples, evaluations
        self._fall, self._rise, self._certainty = fall, rise, certainty
        self._evaluations: dict[int, float] = {}
        self._rewards: list[tuple[int, float]] = []
        self._is_open = False

    def add_reward(self, step: int, reward: float) -> None:
        self._rewards.append((step, reward))

    def add_evaluation(self, step: int, pass_rate: float) -> None:
        self._evaluations[step] = pass_rate
        self._is_open = True

    def found(self) -> list[str]:
        """Compares the last evaluations with the best that came before them."""
        last = len(self._evaluations) - self._count
        if last < self._count or not self._is_open:
            return []
        # An evaluation is incomplete until the reward of its step is known.
        self._is_open = not self._rewards or self._rewards[-1][0] < max(self._evaluations)
        means = self._means()
        best = max(range(last - self._count + 1), key=means.__getitem__)
        before, after = self._rewards_of(best), self._rewards_of(last)
        if not self._has_fallen(means[best], means[last], last) or not self._has_risen(
            before, after
        ):
            return []
        self._forget_before(last)
        return [_sentence(means[best], means[last], before, after)]

    def _means(self) -> list[float]:
        rates = list(self._evaluations.values())
        starts = range(len(rates) - self._count + 1)
        return [fmean(rates[start : start + self._count]) for start in starts]

    def _has_fallen(self, best: float, now: float, windows: int) -> bool:
        number = self._samples * self._count
        # Two additional passes and two failures keep the spread above 0 at the ends.
        chance = ((best + now) / 2.0 * number + 2.0) / (number + 4.0)
        error = math.sqrt(2.0 * chance * (1.0 - chance) / number)
        return best - now >= max(self._fall, _errors(self._certainty, windows) * error)

    def _has_risen(self, before: Sequence[float], after: Sequence[float]) -> bool:
        if min(len(before), len(after)) < 2:
            return False
        error = math.sqrt(_variance(before) / len(before) + _variance(after) / len(after))
        return fmean(after) - fmean(before) >= max(self._rise, self._certainty * error)

    def _rewards_of(self, first: int) -> list[float]:
        """Returns the rewards from the evaluation before a window to the window's end."""
        steps = list(self._evaluations)
        after = steps[first - 1] if first else -1
        to = steps[first + self._count - 1]
        return [reward for step, reward in self._rewards if after < step <= to]

    def _forget_before(self, first: int) -> None:
        steps = list(self._evaluations)
        self._evaluations = {step: self._evaluations[step] for step in steps[first:]}
        self._rewards = [pair for pair in self._rewards if pair[0] > steps[first - 1]]


def _errors(certainty: float, windows: int) -> float:
    """Returns the number of standard errors to require if all windows are compared."""
    return math.sqrt(certainty**2 + 4.0 * math.log(max(1, windows)))


def _variance(values: Sequence[float]) -> float:
    mean = fmean(values)
    return math.fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)


def _sentence(best: float, now: float, before: Sequence[float], after: Sequence[float]) -> str:
    return (
        f"held-out pass@1 fell from {best:.3g} to {now:.3g} while the training reward rose from "
        f"{fmean(before):.3g} to {fmean(after):.3g}: "
        "the model may be learning to please the tests instead of solving the tasks"
    )
