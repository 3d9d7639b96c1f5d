"""Rewards for the form of a completion, independent of its content.

A model learns a form in a few steps. After that, these rewards are the same for all completions,
and teach nothing more. Keep their sum below the reward of a correct answer, by `reward_weights`.
Otherwise a model may prefer the form to a correct answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from trainer_client.rewards.columns import apart_from_columns, texts_of

# It has one quantifier, so it takes linear time.
_SPACE = re.compile(r"\s*")
_THIN_WORDS = 5


@apart_from_columns
def think_answer_format_reward(
    prompts: Sequence[Any],
    completions: Sequence[Any],
    *,
    value: float = 1.0,
    thin_value: float = 0.5,
    think_words: int = _THIN_WORDS,
    think_opened: bool = False,
    **columns: Any,
) -> list[float | None]:
    """Rewards `<think>...</think><answer>...</answer>` with only white space around it.

    Each tag occurs once.

    Args:
        prompts: one for each completion.
        completions: texts or chats.
        value: reward of a thought and an answer.
        thin_value: reward of correct tags if the thought has fewer words than `think_words`, or
            the answer is empty.
        think_words: the fewest words of a thought.
        think_opened: whether the chat template writes `<think>` itself.
        **columns: not used.
    """
    texts = [f"<think>{text}" if think_opened else text for text in texts_of(completions)]
    return [_think_answer(text, value, thin_value, think_words) for text in texts]


def _think_answer(text: str, value: float, thin_value: float, think_words: int) -> float:
    parts = _between(text.strip(), ("<think>", "</think>", "<answer>", "</answer>"))
    if parts is None:
        return 0.0
    before, thought, middle, answer, after = parts
    if before or middle.strip() or after:
        return 0.0
    thin = len(thought.split()) < think_words or not answer.strip()
    return thin_value if thin else value


@apart_from_columns
def strict_format_reward(
    prompts: Sequence[Any], completions: Sequence[Any], *, value: float = 0.5, **columns: Any
) -> list[float | None]:
    r"""Rewards `<reasoning>` and `<answer>` blocks whose four tags are on lines of their own.

    Only one final line break may follow them. Each tag occurs once. The blocks may have many
    lines; the pattern of the tutorials has no DOTALL and refuses these.

    Args:
        prompts: one for each completion.
        completions: texts or chats.
        value: reward of the correct form.
        **columns: not used.
    """
    return [value if _is_strict(text) else 0.0 for text in texts_of(completions)]


def _is_strict(text: str) -> bool:
    parts = _between(text.removesuffix("\n"), _REASONING_TAGS)
    if parts is None:
        return False
    before, reasoning, middle, answer, after = parts
    framed = all(
        len(block) > 1 and block.startswith("\n") and block.endswith("\n")
        for block in (reasoning, answer)
    )
    return framed and not before and middle == "\n" and not after


_REASONING_TAGS = ("<reasoning>", "</reasoning>", "<answer>", "</answer>")


@apart_from_columns
def soft_format_reward(
    prompts: Sequence[Any], completions: Sequence[Any], *, value: float = 0.5, **columns: Any
) -> list[float | None]:
    """Rewards a `<reasoning>` block followed by an `<answer>` block, anywhere in the text.

    Blocks may have many lines, and text may precede them. The pattern of the tutorials allows
    neither, because it has no DOTALL and matches at the start only.

    Args:
        prompts: one for each completion.
        completions: texts or chats.
        value: reward of the correct form.
        **columns: not used.
    """
    return [value if _is_soft(text) else 0.0 for text in texts_of(completions)]


def _is_soft(text: str) -> bool:
    """Returns True if an answer follows the closing tag of a thought, and both were opened."""
    start = text.find("<reasoning>")
    last = text.rfind("</answer>")
    while start >= 0:
        start = text.find("</reasoning>", start + 1)
        if start >= 0:
            space = _SPACE.match(text, start + len("</reasoning>"))
            end = space.end() if space else start
            if text.startswith("<answer>", end) and last > end:
                return True
    return False


@apart_from_columns
def xmlcount_reward(
    prompts: Sequence[Any],
    completions: Sequence[Any],
    *,
    value: float = 0.125,
    trailing_penalty: float = 0.001,
    **columns: Any,
) -> list[float | None]:
    """Rewards each of the four tags that occurs once on a line of its own, `<reasoning>` first.

    Each character after the line of the answer's closing tag costs `trailing_penalty`. It is
    counted once, and only if that tag is there. The tutorials' code counts it twice, and counts
    the whole text if no line break follows the tag. There is no lower bound; `clipped` sets one.

    Args:
        prompts: one for each completion.
        completions: texts or chats.
        value: reward of each tag.
        trailing_penalty: penalty of each character.
        **columns: not used.
    """
    return [_count(text, value, trailing_penalty) for text in texts_of(completions)]


def _count(text: str, value: float, trailing_penalty: float) -> float:
    tags = ("<reasoning>\n", "\n</reasoning>\n", "\n<answer>\n", "\n</answer>")
    found = value * sum(text.count(tag) == 1 for tag in tags)
    _, closing, trailing = text.rpartition("\n</answer>")
    if not closing:
        return found
    return found - trailing_penalty * len(trailing.removeprefix("\n"))


def _between(text: str, tags: Sequence[str]) -> list[str] | None:
    """Splits a text at tags, each of which must occur once and in this order."""
    if any(text.count(tag) != 1 for tag in tags):
        return None
    parts = []
    for tag in tags:
        part, found, text = text.partition(tag)
        if not found:
            return None
        parts.append(part)
    return [*parts, text]
