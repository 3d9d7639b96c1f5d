"""A patch is found in a completion, and words alone are no patch."""

from __future__ import annotations

import pytest

from reward_server.domain import Extraction
from reward_server.grading.extraction.patch_text import extract_patch

PATCH = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("completion", "source", "has_block"),
    [
        (PATCH, PATCH, False),
        (f"I fix it:\n```diff\n{PATCH}```\nDone.", PATCH, True),
        (f"```\n{PATCH}```", PATCH, True),
        (f"<think>--- a/y\n+++ b/y\n</think>\n```diff\n{PATCH}```", PATCH, True),
        (f"```python\nx = 1\n```\n```patch\n{PATCH}```\n```diff\n{PATCH}```", PATCH * 2, True),
    ],
)
def test_a_patch_is_found(completion: str, source: str, has_block: bool) -> None:
    found = extract_patch(completion, Extraction.AUTO)
    assert (found.source, found.has_code_block) == (source, has_block)


def test_only_fenced_patches_count_if_the_request_says_so() -> None:
    assert not extract_patch(PATCH, Extraction.MARKDOWN).found
    assert extract_patch(f"```diff\n{PATCH}```", Extraction.MARKDOWN).source == PATCH
    assert extract_patch("", Extraction.MARKDOWN).found  # the files of the request are the changes
