"""Statistics of a run's rewards and tallies."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean with the ends of its confidence interval.

    Args:
        mean: the estimate, from 0 to 1.
        low: lower end, from 0 to the mean.
        high: upper end, from the mean to 1.
    """

    mean: float
    low: float
    high: float


def zero_variance_share(groups: Iterable[Sequence[float | None]]) -> float | None:
    """Returns the share of groups whose rewards are all equal, and which teach nothing.

    It counts groups with at least two judged rewards, and is None if there is no such group. The
    denominator of TRL's `frac_reward_zero_std` includes the other groups too.

    Args:
        groups: rewards by group, shape (N, G); None for a completion that was not judged.
    """
    judged = [[reward for reward in group if reward is not None] for group in groups]
    comparable = [rewards for rewards in judged if len(rewards) > 1]
    if not comparable:
        return None
    # TRL compares the deviation with 1e-8; two different rewards of a policy differ by far more.
    equal = sum(max(rewards) - min(rewards) <= 1e-8 for rewards in comparable)
    return equal / len(comparable)


def reward_histogram(rewards: Sequence[float | None], edges: Sequence[float]) -> list[int]:
    """Counts a group's rewards by bin.

    Bins are closed below and open above; the last one is closed on both sides, as in numpy. A
    reward that is None or lies outside the edges is not counted.

    Args:
        rewards: rewards of one group, shape (G,).
        edges: increasing edges of the bins, shape (bins + 1,).

    Returns:
        Counts, shape (bins,).

    Raises:
        ValueError: the edges are fewer than two or do not increase.
    """
    if len(edges) < 2 or any(left >= right for left, right in pairwise(edges)):
        raise ValueError(f"edges: must be at least two and increase: {list(edges)}")
    counts = [0] * (len(edges) - 1)
    for reward in rewards:
        if reward is not None and edges[0] <= reward <= edges[-1]:
            counts[min(bisect_right(edges, reward), len(counts)) - 1] += 1
    return counts


def pass_at_k(samples: int, passed: int, k: int) -> float | None:
    """Returns an unbiased estimate of the chance that at least one of k samples of a task passes.

    Chen et al. 2021, arXiv 2107.03374, equation 1: 1 - C(n - c, k) / C(n, k), as the stable product
    of 1 - k / i for i from n - c + 1 to n.

    Args:
        samples: number of judged samples of the task, n.
        passed: number of those that passed, c.
        k: at least 1.

    Returns:
        The estimate from 0 to 1, or None if the task has fewer than k judged samples.

    Raises:
        ValueError: the numbers contradict each other.
    """
    if k < 1:
        raise ValueError(f"k: must be at least 1: {k}")
    _check_tally(samples, passed)
    if samples < k:
        return None
    if samples - passed < k:
        return 1.0
    return 1.0 - math.prod(1.0 - k / i for i in range(samples - passed + 1, samples + 1))


def _check_tally(samples: int, passed: int) -> None:
    if not 0 <= passed <= samples:
        raise ValueError(f"passed: must be 0 to samples, {samples}: {passed}")


def mean_pass_at_k(tallies: Iterable[tuple[int, int]], k: int) -> float | None:
    """Returns the mean of pass@k over tasks with equal weights.

    Tasks with fewer than k judged samples are left out. Returns None if none is left.

    Args:
        tallies: judged samples and passed ones of each task.
        k: at least 1.

    Raises:
        ValueError: the numbers of a task contradict each other.
    """
    estimates = [pass_at_k(samples, passed, k) for samples, passed in tallies]
    found = [estimate for estimate in estimates if estimate is not None]
    return math.fsum(found) / len(found) if found else None


def pass_at_1_interval(
    tallies: Iterable[tuple[int, int]], *, confidence: float = 0.95
) -> Interval | None:
    """Returns the mean pass@1 with a confidence interval; the tasks are taken as a random sample.

    This is Wilson's score interval (JASA 22, 1927, pages 209-212). It uses the effective sample
    size of a clustered sample: p * (1 - p) / variance of the mean, where a task is a cluster
    (Franco et al., Journal of Survey Statistics and Methodology 7, 2019, pages 334-364; for
    evaluations of models, arXiv 2411.00640). It stays within 0 and 1, and has a width even if every
    task passed.

    Args:
        tallies: judged samples and passed ones of each task; tasks without samples are left out.
        confidence: probability that such an interval holds the true mean, between 0 and 1.

    Returns:
        The interval, or None if fewer than two tasks have samples.

    Raises:
        ValueError: the confidence is out of range, or a task's numbers contradict each other.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence: must be between 0 and 1: {confidence}")
    judged = [(samples, passed) for samples, passed in tallies if samples]
    rates = [_pass_rate(samples, passed) for samples, passed in judged]
    if len(rates) < 2:
        return None
    mean = math.fsum(rates) / len(rates)
    size = _effective_size(rates, mean, sum(samples for samples, _ in judged))
    return _wilson(mean, size, NormalDist().inv_cdf(0.5 + confidence / 2))


def _pass_rate(samples: int, passed: int) -> float:
    """Returns pass@1 as a quotient, which is the same float for 3 of 8 and 6 of 16."""
    _check_tally(samples, passed)
    return passed / samples


def _effective_size(rates: Sequence[float], mean: float, samples: int) -> float:
    """Returns the number of independent samples with the same variance, at most `samples`."""
    count = len(rates)
    if max(rates) == min(rates):  # the samples do not show how much tasks differ
        return float(count)
    variance = math.fsum((rate - mean) ** 2 for rate in rates) / (count - 1) / count
    return min(mean * (1.0 - mean) / variance, float(samples))


def _wilson(mean: float, size: float, z: float) -> Interval:
    shrink = 1.0 + z * z / size
    center = (mean + z * z / (2.0 * size)) / shrink
    half = z / shrink * math.sqrt(mean * (1.0 - mean) / size + z * z / (4.0 * size * size))
    low, high = max(0.0, center - half), min(1.0, center + half)
    return Interval(mean=mean, low=min(low, mean), high=max(high, mean))
