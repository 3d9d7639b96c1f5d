"""Reward functions composed of others, for rewards that are noisy or unbounded."""

from __future__ import annotations

import asyncio
import functools
import inspect
import math
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

Reward = Callable[..., Any]
Rewards = list[float | None]
How = Literal["mean", "min", "median"]

_HOW: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean,
    "min": min,
    "median": statistics.median,
}


def ensemble(
    rewards: Sequence[Reward],
    *,
    how: How = "mean",
    name: str = "",
    may_abstain: Collection[Reward] = (),
) -> Reward:
    """Makes one reward of several, completion by completion.

    A None or NaN of a member is never read as 0: if a member has no reward for a completion, the
    ensemble has none. A member in `may_abstain` is an exception: it is left out for a completion
    that it does not judge. If all members are left out, there is no reward.

    Args:
        rewards: reward functions, with or without `async`; all receive the trainer's arguments.
            Those with `async` run concurrently; the others run one after another in a thread.
        how: mean, minimum or median.
        name: `__name__`, under which TRL logs; by default composed of the members' names.
        may_abstain: members that need not judge every completion.

    Returns:
        A function, with `async` if a member has it.

    Raises:
        ValueError: there are no members, no such `how`, or `may_abstain` holds a non-member.

    Examples:
        >>> from trainer_client.rewards import ensemble, exact_answer_reward, int_reward
        >>> reward = ensemble([exact_answer_reward, int_reward], how="min")
        >>> completions = ["<answer>42</answer>", "<answer>41</answer>"]
        >>> reward(["6 * 7?"] * 2, completions, answer=["42", "42"])
        [0.5, 0.0]
    """
    if not rewards:
        raise ValueError("rewards: an ensemble needs a member")
    if how not in _HOW:
        raise ValueError(f"no way {how!r} to make one reward; there are {', '.join(_HOW)}")
    if any(one not in rewards for one in may_abstain):
        raise ValueError("may_abstain: not a member of rewards")
    name = name or "_".join([how, *map(name_of, rewards)])
    optional = [one in may_abstain for one in rewards]

    def combine(columns: Sequence[Rewards]) -> Rewards:
        return [_one(row, optional, _HOW[how]) for row in zip(*columns, strict=True)]

    return _made_of(list(rewards), combine, name)


def clipped(
    reward: Reward, low: float = -math.inf, high: float = math.inf, *, name: str = ""
) -> Reward:
    """Limits a reward to a range; None stays None, and NaN becomes None.

    Args:
        reward: a reward function; the result has `async` if this has it.
        low: the least reward.
        high: the greatest reward.
        name: `__name__`; by default `clipped_` and the reward's name.

    Raises:
        ValueError: the bounds are not in order.

    Examples:
        >>> from trainer_client.rewards import clipped, repetition_penalty
        >>> reward = clipped(repetition_penalty, low=-0.25)
        >>> reward([""], ["no"], completion_ids=[[7, 7, 7, 7, 7, 7]])
        [-0.25]
    """
    if not low <= high:
        raise ValueError(f"low {low} must not be above high {high}")

    def clip(columns: Sequence[Rewards]) -> Rewards:
        return [None if one is None else min(max(one, low), high) for one in columns[0]]

    return _made_of([reward], clip, name or f"clipped_{name_of(reward)}")


def with_options(reward: Reward, *, name: str = "", **options: Any) -> Reward:
    """Returns a reward function with other options and, for TRL's log, another name.

    It differs from `functools.partial` in three ways. The result is a function, and only TRL 1.9
    and newer call partials. It has its own `__name__`, while two partials of one function log
    under the same name. A column of a data set with an option's name does not replace the option.

    Args:
        reward: a reward function; the result has `async` if this has it.
        name: `__name__`; by default the reward's name.
        **options: keyword arguments of the reward.

    Raises:
        ValueError: the reward function has no such option.

    Examples:
        >>> from trainer_client.rewards import numeric_tolerance_reward, with_options
        >>> within_a_tenth = with_options(numeric_tolerance_reward, name="within_a_tenth", atol=0.1)
        >>> within_a_tenth(["What is pi?"] * 2, ["It is 3.14.", "It is 3."], answer=[3.14159] * 2)
        [1.0, 0.0]
    """
    known = inspect.signature(reward).parameters
    for option in options:
        if option not in known:
            raise ValueError(f"{name_of(reward)} has no option {option}")
    return _made_of([reward], lambda columns: columns[0], name, options)


def name_of(reward: Reward) -> str:
    """Returns the name under which TRL logs a reward function."""
    inner = reward.func if isinstance(reward, functools.partial) else reward
    return str(getattr(inner, "__name__", type(inner).__name__))


def is_async(reward: Reward) -> bool:
    """Returns True if a reward function, a partial of one or a callable object is to be awaited."""
    if isinstance(reward, functools.partial):
        return is_async(reward.func)
    call = getattr(reward, "__call__", None)  # noqa: B004  # its nature is asked for
    return inspect.iscoroutinefunction(reward) or inspect.iscoroutinefunction(call)


def _made_of(
    rewards: list[Reward],
    combine: Callable[[Sequence[Rewards]], Rewards],
    name: str,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> Reward:
    """Returns the function, which TRL can recognize as `async` if a member is.

    All members get the options, which override columns.
    """

    def plain(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> Rewards:
        given = {"prompts": prompts, "completions": completions, **columns, **options}
        found = _each(rewards, given)
        return combine(_checked(rewards, found, len(completions)))

    async def awaited(
        prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> Rewards:
        given = {"prompts": prompts, "completions": completions, **columns, **options}
        found = await _all(rewards, given)
        return combine(_checked(rewards, found, len(completions)))

    made: Any = awaited if any(map(is_async, rewards)) else plain
    made.__name__ = made.__qualname__ = name or name_of(rewards[0])
    return made  # type: ignore[no-any-return]  # a function, which has a settable name


async def _all(rewards: list[Reward], given: Mapping[str, Any]) -> list[Any]:
    """Calls all members; a failure of one cancels those that still run."""
    waiting = [asyncio.ensure_future(one(**given)) for one in rewards if is_async(one)]
    plain = [one for one in rewards if not is_async(one)]
    others = asyncio.ensure_future(asyncio.to_thread(_each, plain, given))
    try:
        *awaited, called = await asyncio.gather(*waiting, others)
    except BaseException:
        for task in (*waiting, others):
            task.cancel()
        raise
    sources = {True: iter(awaited), False: iter(called)}
    return [next(sources[is_async(one)]) for one in rewards]


def _each(rewards: list[Reward], given: Mapping[str, Any]) -> list[Any]:
    return [one(**given) for one in rewards]


def _checked(rewards: Sequence[Reward], found: Sequence[Any], count: int) -> list[Rewards]:
    """Converts the members' results, also arrays and tensors, to lists, and checks them."""
    for reward, values in zip(rewards, found, strict=True):
        if len(values) != count:
            problem = f"gave {len(values)} rewards for {count} completions"
            raise ValueError(f"{name_of(reward)} {problem}")
    return [[None if _is_none(one) else float(one) for one in values] for values in found]


def _one(
    row: Sequence[float | None],
    optional: Sequence[bool],
    combine: Callable[[Sequence[float]], float],
) -> float | None:
    if any(one is None and not may for one, may in zip(row, optional, strict=True)):
        return None
    judged = [one for one in row if one is not None]
    return combine(judged) if judged else None


def _is_none(value: Any) -> bool:
    return value is None or math.isnan(value)
