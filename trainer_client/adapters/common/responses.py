"""Takes a response out of the text that a trainer has of it."""

from __future__ import annotations

import re

# What ends a turn in the templates of known models: <|im_end|>, </s>, <end_of_turn> and so on.
_END = re.compile(
    r"(?:<\|[\w.-]{1,40}\|>|<｜[^<>｜]{1,40}｜>|</s>|<eos>|<pad>|<end_of_turn>|\[PAD\])\Z"
)
# Characters of the longest of them.
_LONGEST = 44


def without_end(text: str) -> str:
    """Leaves out the special tokens that end a response, and the white space around them."""
    kept = len(text)
    end = _before_space(text, kept)
    # One token at a time, from the end: a pattern for all of them takes quadratic time.
    while token := _END.search(text, max(0, end - _LONGEST), end):
        kept = end = _before_space(text, token.start())
    return text[:kept]


def _before_space(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end


def response_in(query: str, prompt: str) -> str | None:
    """Takes the response out of a query that begins with its prompt.

    A prompt that was cut on the left, as too long ones are, is found by its end. Returns None
    where the query does not begin with the prompt, since then nobody knows where the response does.
    """
    text, start = query.lstrip(), prompt.lstrip()
    for cut in range(len(start)):
        if text.startswith(start[cut:]):
            return without_end(text[len(start) - cut :])
    return None if start else without_end(query)
