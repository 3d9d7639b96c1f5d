"""Extracts a response from the text that a trainer passes."""

from __future__ import annotations

import re

# Tokens that end a turn in known chat templates, such as <|im_end|>, </s> and <end_of_turn>.
_END = re.compile(
    r"(?:<\|[\w.-]{1,40}\|>|<｜[^<>｜]{1,40}｜>|</s>|<eos>|<pad>|<end_of_turn>|\[PAD\])\Z"
)
# Number of characters of the longest of them.
_LONGEST = 44


def without_end(text: str) -> str:
    """Removes the special tokens that end a response, and the white space around them."""
    kept = len(text)
    end = _before_space(text, kept)
    # Removes one token at a time, because one pattern for all of them takes quadratic time.
    while token := _END.search(text, max(0, end - _LONGEST), end):
        kept = end = _before_space(text, token.start())
    return text[:kept]


def _before_space(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end


def response_in(query: str, prompt: str) -> str | None:
    """Extracts the response from a query that begins with its prompt.

    Trainers may cut off the beginning of a long prompt in the query; such a prompt is found by its
    end. Returns None if the query does not begin with the prompt, because the start of the response
    is then unknown.
    """
    text, start = query.lstrip(), prompt.lstrip()
    for cut in range(len(start)):
        if text.startswith(start[cut:]):
            return without_end(text[len(start) - cut :])
    return None if start else without_end(query)
