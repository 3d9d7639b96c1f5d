r"""Extracts the text of a mathematical answer from a completion, and from a reference."""

from __future__ import annotations

import re

from trainer_client.rewards.answers import final_part, tagged_answer
from trainer_client.text import well_formed

ANSWER_CHARACTERS = 1000
_BOX = "\\boxed{"
# Two letters of a word are enough: a pattern for whole words would retry from each letter.
_WORDS = re.compile(r"[A-Za-z]{2}\s+[A-Za-z]{2}", re.ASCII)
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffd]")


def answer_text(completion: str) -> str:
    r"""Returns the text that holds the answer, for math-verify to read; "" if there is none.

    It is the last `\boxed{...}` of the last `<answer>`, or of the whole text if there is no such
    tag. Without a box it is the content of the tag, if that is no sentence. Otherwise it is the end
    of the text, whose last expression counts. A box of more than 1,000 characters is no answer.
    """
    answer = tagged_answer(completion)
    part = _clean(completion if answer is None else answer)
    content = boxed(part)
    if content is None and answer is not None and _is_bare(part):
        content = part
    if content is None:
        return part[-ANSWER_CHARACTERS:].strip()
    content = content.strip().removesuffix(".").strip()
    return f"{_BOX}{content}}}" if 0 < len(content) <= ANSWER_CHARACTERS else ""


def reference_text(reference: str) -> str:
    r"""Returns a reference as a box: the text after `####`, in a box, or between dollar signs."""
    part = _clean(final_part(reference))
    content = boxed(part)
    content = part if content is None else content
    if content.count("$") > 1:
        content = content.replace("$", " ")
    return f"{_BOX}{content.strip().removesuffix('.').strip()}}}"


def boxed(text: str) -> str | None:
    r"""Returns the content of the last `\boxed{...}` that is closed, or None if there is none."""
    closing: list[int] = []
    # Scans from the end, so that one pass over a model's text finds each closing brace.
    for index in range(len(text) - 1, -1, -1):
        if text[index] == "}":
            closing.append(index)
        elif text[index] == "{":
            end = closing.pop() if closing else None
            if end is not None and text.endswith(_BOX, 0, index + 1):
                return text[index + 1 : end]
    return None


def _is_bare(text: str) -> bool:
    return bool(text) and "$" not in text and "\\(" not in text and not _WORDS.search(text)


def _clean(text: str) -> str:
    return _UNPRINTABLE.sub(" ", well_formed(text)).strip()
