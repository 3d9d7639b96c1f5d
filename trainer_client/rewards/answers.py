r"""Rewards for a correct answer, by comparison of text or numbers.

Answers and references are read as in the usual evaluations of GSM8K and MATH:

    #### 42         in a reference, only the text after the last `####` counts
    1,234           commas that separate thousands are removed
    $5, \$5, 50%    leading signs of money and trailing per cent signs are removed: 50% is 50
    -$5, $-5        both are -5, as is -5 with the minus sign U+2212
    42.             a full stop at the end is removed
    42.0            equals 42, if both are plain numerals

`math_reward` compares mathematical expressions, which this module does not.
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from trainer_client.errors import TaskError
from trainer_client.rewards.columns import (
    apart_from_columns,
    demand_references,
    references_of,
    rows_of,
    texts_of,
)

# Quantifiers are bounded or cannot match what precedes them, so matching takes linear time.
_NUMERAL = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})", re.ASCII)
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))", re.ASCII)
_NUMBER = re.compile(
    r"(?<![\w.])[+-]?(?:[0-9]{1,400}(?:\.[0-9]{1,400})?|\.[0-9]{1,400})"
    r"(?:[eE][+-]?[0-9]{1,4}|/[0-9]{1,400})?(?![0-9])",
    re.ASCII,
)
# A signed amount of money at a place where _NUMBER accepts a sign, and so not in 5-$3.
_SIGNED_MONEY = re.compile(r"(?<![\w.])([+-])\\?[$€£¥]\s*", re.ASCII)
_logger = logging.getLogger(__name__)
_MINUS = "\u2212"
_MONEY = ("\\$", "$", "€", "£", "¥")


@apart_from_columns
def correctness_reward(
    prompts: Sequence[Any], completions: Sequence[Any], *, value: float = 2.0, **columns: Any
) -> list[float | None]:
    """Rewards an `<answer>` that equals the reference, by the rules in this module's docstring.

    The last `<answer>` counts, up to its closing tag if it has one. Without a tag there is no
    answer. (The code of well-known tutorials takes the whole text in that case.)

    Args:
        prompts: one for each completion.
        completions: texts or chats.
        value: reward of a correct answer.
        **columns: one of them is `answer`, `reference` or `references`; see `references_of`.

    Returns:
        None if the row has no reference. None, with a log line, if the reference is neither text
        nor a number.

    Raises:
        TaskError: the data set has no such column.

    Examples:
        >>> from trainer_client.rewards import correctness_reward
        >>> completions = ["<answer>$1,234</answer>", "1234, or so"]
        >>> correctness_reward(["How much?"] * 2, completions, answer=["#### 1234"] * 2)
        [2.0, 0.0]
    """

    def is_right(text: str, reference: str) -> bool:
        answer = tagged_answer(text)
        return answer is not None and same(answer, reference)

    return _judge("correctness_reward", prompts, completions, columns, is_right, value)


@apart_from_columns
def int_reward(
    prompts: Sequence[Any], completions: Sequence[Any], *, value: float = 0.5, **columns: Any
) -> list[float | None]:
    """Rewards an `<answer>` that is a whole number, correct or not.

    A sign and separators of thousands are allowed, and digits are 0 to 9. `str.isdigit` in the
    tutorials refuses -3 and accepts ².

    Args:
        prompts: one for each completion.
        completions: texts or chats.
        value: reward of a whole number.
        **columns: not used.
    """
    answers = [tagged_answer(text) for text in texts_of(completions)]
    return [value if answer is not None and _is_whole(answer) else 0.0 for answer in answers]


@apart_from_columns
def exact_answer_reward(
    prompts: Sequence[Any], completions: Sequence[Any], *, value: float = 1.0, **columns: Any
) -> list[float | None]:
    """Rewards an answer that equals the reference in every character except space around it.

    The answer is the last `<answer>`, or the whole text if there is none. In a reference, only the
    text after the last `####` counts; nothing else is removed.

    Args:
        prompts: one for each completion.
        completions: texts or chats.
        value: reward of a correct answer.
        **columns: see `correctness_reward`, also for results and errors.
    """

    def is_right(text: str, reference: str) -> bool:
        answer = tagged_answer(text)
        return (text.strip() if answer is None else answer) == final_part(reference)

    return _judge("exact_answer_reward", prompts, completions, columns, is_right, value)


@apart_from_columns
def numeric_tolerance_reward(
    prompts: Sequence[Any],
    completions: Sequence[Any],
    *,
    atol: float = 0.5,
    rtol: float = 0.0,
    value: float = 1.0,
    **columns: Any,
) -> list[float | None]:
    """Rewards a number within `atol + rtol * |reference|` of the reference.

    The number is the last one of the last `<answer>`, or of the whole text if there is none. It
    may be written as 1,234.5, 1e3, 3/4, -$5 or 50%, which is 50. It must be finite.

    Args:
        prompts: one for each completion.
        completions: texts or chats.
        atol: greatest absolute difference.
        rtol: greatest difference relative to the reference.
        value: reward of a number within the tolerances.
        **columns: see `correctness_reward`.

    Returns:
        See `correctness_reward`; also None if a reference holds no number.

    Raises:
        ValueError: a tolerance is negative or not finite.
        TaskError: the data set has no reference column.
    """
    for name, tolerance in (("atol", atol), ("rtol", rtol)):
        if not (math.isfinite(tolerance) and tolerance >= 0.0):
            raise ValueError(f"{name} must be finite and not negative, not {tolerance}")

    def is_right(text: str, reference: str) -> bool:
        right = last_number(final_part(reference))
        if right is None:
            raise TaskError("numeric_tolerance_reward", "answer", f"no number: {reference[:80]!r}")
        answer = tagged_answer(text)
        number = last_number(text if answer is None else answer)
        return number is not None and abs(number - right) <= atol + rtol * abs(right)

    return _judge("numeric_tolerance_reward", prompts, completions, columns, is_right, value)


def _judge(
    reward: str,
    prompts: Sequence[Any],
    completions: Sequence[Any],
    columns: dict[str, Any],
    is_right: Callable[[str, str], bool],
    value: float,
) -> list[float | None]:
    """Returns `value` or 0 for each completion, or None if its row has no usable reference."""
    demand_references(reward, columns)

    def judge(row: dict[str, Any], text: str) -> float | None:
        try:
            references = [one for one in references_of(reward, row) or () if final_part(one)]
            if not references:
                return None
            return value if any(is_right(text, one) for one in references) else 0.0
        except TaskError as error:
            # One bad row must not end a run that has trained for hours.
            _logger.warning("not judged: %s", error)
            return None

    rows = rows_of(prompts, columns)
    return [judge(*one) for one in zip(rows, texts_of(completions), strict=True)]


def tagged_answer(text: str) -> str | None:
    """Returns the content of the last `<answer>` without space around it; None if there is none."""
    _, opening, rest = text.rpartition("<answer>")
    return rest.partition("</answer>")[0].strip() if opening else None


def final_part(reference: str) -> str:
    """Returns the text after the last `####` of a reference, or all of it."""
    return reference.rpartition("####")[2].strip()


def same(answer: str, reference: str) -> bool:
    """Returns True if an answer equals the reference, by the rules in this module's docstring."""
    left, right = _plain(answer), _plain(final_part(reference))
    if left == right:
        return bool(left)
    numerals = _NUMERAL.fullmatch(left) and _NUMERAL.fullmatch(right)
    return bool(numerals) and Decimal(left) == Decimal(right)


def last_number(text: str) -> float | None:
    """Returns the last number of a text, or None if there is no finite one."""
    numerals = _NUMBER.findall(_without_money(_THOUSANDS.sub("", _with_hyphens(text))))
    return _value(numerals[-1]) if numerals else None


def _value(numeral: str) -> float | None:
    above, _, below = numeral.partition("/")
    divisor = float(below or 1)
    number = float(above) / divisor if divisor else math.inf
    return number if math.isfinite(number) else None


def _plain(text: str) -> str:
    text = _with_hyphens(text).strip().removesuffix(".").strip()
    text = text.removesuffix("%").removesuffix("\\").strip()
    sign = text[:1] if text[:1] in ("-", "+") else ""
    text = text[len(sign) :]
    for money in _MONEY:
        text = text.removeprefix(money)
    return sign + _THOUSANDS.sub("", text.strip())


def _with_hyphens(text: str) -> str:
    """Replaces minus signs by hyphens, which `float` accepts."""
    return text.replace(_MINUS, "-")


def _without_money(text: str) -> str:
    text = _SIGNED_MONEY.sub(r"\1", text)
    for money in _MONEY:
        text = text.replace(money, " ")
    return text


def _is_whole(answer: str) -> bool:
    numeral = _THOUSANDS.sub("", _with_hyphens(answer))
    return re.fullmatch(r"[+-]?[0-9]+", numeral, re.ASCII) is not None
