"""Rules that decide from a run's logged numbers when to act; they need no trainer.

A rule receives the logs of a run in order, and returns a sentence if there is something to report.
A value that is absent or None is no evidence. Rules use neither time nor random numbers, so that
the same logs give the same results: every process of a run agrees, and a resumed run continues from
the end of its log.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from statistics import fmean
from typing import TypeGuard

from trainer_client.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class KLRule:
    """Moves a KL coefficient until the KL is at its target.

    Ziegler et al. 2019, arXiv 1909.08593, section 2.2: each step multiplies the coefficient by
    1 + error / horizon, where error = KL / target - 1, clipped to ±0.2.

    Args:
        target: KL to hold, in nats per token, as TRL logs it.
        horizon: a number of optimizer steps; 10 gives the paper's factor of 0.1. A coefficient
            needs at least 3.5 horizons to double.
        lowest: lower bound of the coefficient, above 0: without a coefficient TRL computes no KL.
        highest: upper bound.

    Raises:
        ConfigError: a number is out of range.
    """

    target: float
    horizon: float = 10.0
    lowest: float = 1e-4
    highest: float = 1.0

    def __post_init__(self) -> None:
        require(self.target > 0.0, "target", "above 0", self.target)
        require(self.horizon >= 1.0, "horizon", "at least 1", self.horizon)
        require(self.lowest > 0.0, "lowest", "above 0", self.lowest)
        require(self.highest >= self.lowest, "highest", "at least lowest", self.highest)

    def next(self, coefficient: float, kl: float | None, steps: int = 1) -> float:
        """Returns the coefficient after `steps` optimizer steps and a mean KL in nats per token."""
        if not is_number(kl):
            return coefficient
        error = min(max(kl / self.target - 1.0, -0.2), 0.2)
        growth = min(steps * math.log1p(error / self.horizon), 700.0)  # larger values overflow exp
        moved = coefficient * math.exp(growth)
        return min(max(moved, self.lowest), self.highest)


class CollapseRule:
    """Detects that the reward has fallen far below its best and stays there.

    It compares the mean of the last `window` rewards with the best such mean so far; both are
    measured from `floor`. It reports a collapse if the mean was below `share` of the best one for
    `patience` consecutive logged steps.

    Args:
        window: number of logged steps in a mean.
        share: fraction of the best mean, from 0 to 1.
        patience: number of consecutive logged steps.
        floor: reward of completions that earn nothing.
        least_best: minimum of the best mean above the floor; smaller values are noise.

    Raises:
        ConfigError: a number is out of range.
    """

    def __init__(
        self,
        *,
        window: int = 20,
        share: float = 0.5,
        patience: int = 20,
        floor: float = 0.0,
        least_best: float = 0.05,
    ) -> None:
        require(window >= 1, "window", "at least 1", window)
        require(0.0 < share < 1.0, "share", "between 0 and 1", share)
        require(patience >= 1, "patience", "at least 1", patience)
        require(least_best > 0.0, "least_best", "above 0", least_best)
        self._share, self._patience = share, patience
        self._floor, self._least_best = floor, least_best
        self._recent: deque[float] = deque(maxlen=window)
        self._best = -math.inf
        self._below = 0

    def see(self, reward: float | None) -> str | None:
        """Takes the mean reward of a logged step; returns the reason to stop, if there is one."""
        if not is_number(reward):
            return None
        self._recent.append(reward)
        if len(self._recent) < (self._recent.maxlen or 0):
            return None
        mean = fmean(self._recent)
        self._best = max(self._best, mean)
        self._below = self._below + 1 if self._is_low(mean) else 0
        if self._below < self._patience:
            return None
        self._below = 0  # a run that continues after a stop has the full patience again
        return (
            f"the reward collapsed: its mean over {len(self._recent)} logged steps is {mean:.3g}, "
            f"below {self._share:.0%} of its best, {self._best:.3g}, for {self._patience} of them"
        )

    def _is_low(self, mean: float) -> bool:
        height = self._best - self._floor
        return height >= self._least_best and mean - self._floor < self._share * height


def require(holds: bool, name: str, limit: str, value: float) -> None:
    """Refuses a number that is out of its range.

    Raises:
        ConfigError: the message has the number's name, limit and value.
    """
    if not holds:
        raise ConfigError(f"{name}: must be {limit}: {value}")


def is_number(value: object) -> TypeGuard[float]:
    """Returns True if a logged value is a finite number."""
    return isinstance(value, int | float) and math.isfinite(value)
