"""Rewards and penalties for the length of a completion and for repetition in it.

Tokens are those of the column `completion_ids`, which TRL passes; with tools they include the
tools' output.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Literal

from trainer_client.errors import TaskError
from trainer_client.rewards.columns import apart_from_columns, texts_of

Unit = Literal["tokens", "words", "characters"]
_UNITS = ("tokens", "words", "characters")


@apart_from_columns
def length_reward(
    prompts: Sequence[Any],
    completions: Sequence[Any],
    *,
    target: int = 256,
    tolerance: int = 0,
    unit: Unit = "tokens",
    **columns: Any,
) -> list[float | None]:
    """Rewards a length near a target: 1 within `tolerance` of it, falling linearly to 0.

    It is 0 for an empty completion, and for a completion of twice the target or more.

    Args:
        prompts: one for each completion.
        completions: texts or chats.
        target: the best length.
        tolerance: greatest difference without a cost, less than the target.
        unit: the unit of lengths.
        **columns: must include `completion_ids` if the unit is tokens.

    Raises:
        ValueError: the target or the tolerance is out of its range, or there is no such unit.
        TaskError: the unit is tokens and there is no `completion_ids`.

    Examples:
        >>> from trainer_client.rewards import length_reward
        >>> length_reward(["", ""], ["one two", "one two three four"], target=4, unit="words")
        [0.5, 1.0]
    """
    if not 0 <= tolerance < target:
        raise ValueError(f"tolerance must be from 0 to below target {target}, not {tolerance}")
    slope = target - tolerance
    units = _units("length_reward", completions, columns, unit)
    distances = [max(0, abs(len(one) - target) - tolerance) for one in units]
    return [max(0.0, 1.0 - distance / slope) for distance in distances]


@apart_from_columns
def overlong_penalty(
    prompts: Sequence[Any],
    completions: Sequence[Any],
    *,
    limit: int,
    cache: int,
    unit: Unit = "tokens",
    **columns: Any,
) -> list[float | None]:
    """Penalizes a completion near the greatest length: 0 to -1 over the last `cache` tokens.

    Source: soft overlong punishment, DAPO (arXiv 2503.14476), equation 13.

    Args:
        prompts: one for each completion.
        completions: texts or chats.
        limit: L_max, such as the trainer's `max_completion_length`.
        cache: L_cache, from 0 to `limit`; with 0, only completions above the limit get -1.
        unit: the unit of lengths.
        **columns: must include `completion_ids` if the unit is tokens.

    Raises:
        ValueError: `limit` or `cache` is out of its range, or there is no such unit.
        TaskError: the unit is tokens and there is no `completion_ids`.

    Examples:
        >>> from trainer_client.rewards import overlong_penalty, with_options
        >>> penalty = with_options(overlong_penalty, limit=10, cache=4, unit="words")
        >>> penalty([""] * 3, ["word " * 6, "word " * 8, "word " * 11])
        [0.0, -0.5, -1.0]
    """
    if not 0 <= cache <= limit or limit == 0:
        raise ValueError(f"cache must be from 0 to limit {limit}, which is above 0; not {cache}")
    free = limit - cache
    units = _units("overlong_penalty", completions, columns, unit)
    return [_overlong(len(one), free, limit, cache) for one in units]


def _overlong(length: int, free: int, limit: int, cache: int) -> float:
    if length <= free:
        return 0.0
    return (free - length) / cache if length <= limit else -1.0


@apart_from_columns
def repetition_penalty(
    prompts: Sequence[Any],
    completions: Sequence[Any],
    *,
    ngram: int = 3,
    penalty: float = -1.0,
    unit: Unit = "tokens",
    **columns: Any,
) -> list[float | None]:
    """Penalizes repeated n-grams: `penalty * (1 - unique n-grams / all n-grams)`.

    Source: the n-gram repetition penalty of 'Demystifying Long Chain-of-Thought Reasoning in LLMs'
    (arXiv 2502.03373), as a share of the whole completion. It is 0 with fewer than `ngram` units.

    Args:
        prompts: one for each completion.
        completions: texts or chats.
        ngram: n, at least 1.
        penalty: penalty of a completion of repetitions only; 0 or less.
        unit: the unit of n-grams.
        **columns: must include `completion_ids` if the unit is tokens.

    Raises:
        ValueError: `ngram` or `penalty` is out of its range, or there is no such unit.
        TaskError: the unit is tokens and there is no `completion_ids`.
    """
    if ngram < 1:
        raise ValueError(f"ngram must be at least 1, not {ngram}")
    if not -1e6 <= penalty <= 0.0:
        raise ValueError(f"penalty must be from -1000000 to 0, not {penalty}")
    units = _units("repetition_penalty", completions, columns, unit)
    return [penalty * _repeated_share(one, ngram) if len(one) >= ngram else 0.0 for one in units]


def _repeated_share(units: Sequence[Any], ngram: int) -> float:
    grams = list(zip(*(islice(units, start, None) for start in range(ngram)), strict=False))
    return 1.0 - len(set(grams)) / len(grams)


def _units(
    reward: str, completions: Sequence[Any], columns: dict[str, Any], unit: str
) -> list[Sequence[Any]]:
    """Splits each completion into units."""
    if unit not in _UNITS:
        raise ValueError(f"no unit {unit!r}; there are {', '.join(_UNITS)}")
    if unit == "tokens":
        return _tokens(reward, completions, columns.get("completion_ids"))
    texts = texts_of(completions)
    return [text.split() for text in texts] if unit == "words" else list(texts)


def _tokens(reward: str, completions: Sequence[Any], ids: Any) -> list[Sequence[Any]]:
    if ids is None:
        raise TaskError(reward, "completion_ids", "is absent; count words or characters instead")
    if len(ids) != len(completions):
        raise TaskError(reward, "completion_ids", f"{len(ids)} for {len(completions)} completions")
    return [list(one) for one in ids]
