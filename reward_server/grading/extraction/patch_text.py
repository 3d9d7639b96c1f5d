"""Takes a patch out of a completion.

The patch is in the fenced blocks that have the tag `diff` or `patch`, or that look like a patch. If
there are no such blocks, `AUTO` takes the whole text, which may have a patch between other words,
and `MARKDOWN` finds nothing. `NONE` takes the text as it is.
"""

from __future__ import annotations

import re

from reward_server.domain import Extraction
from reward_server.grading.extraction import markdown
from reward_server.grading.extraction.extract import READ_CHARACTERS, Extracted

_TAGS = frozenset(("diff", "patch", "udiff"))
_PATCH = re.compile(r"^(?:diff --git |--- [^\n]*\n\+\+\+ )", re.MULTILINE)


def extract_patch(completion: str, extraction: Extraction) -> Extracted:
    """Returns the patch in a completion as its program; "" if there is none."""
    if extraction is Extraction.NONE or len(completion) > READ_CHARACTERS:
        return Extracted(source=completion, found=extraction is not Extraction.MARKDOWN)
    visible = markdown.visible_text(completion)
    answer = markdown.answer_text(visible)
    for part in (answer, visible):
        blocks = markdown.fenced_blocks(part) if part is not None else []
        patches = [one.text for one in blocks if one.tag in _TAGS or _PATCH.search(one.text)]
        if patches:
            ended = [text if text.endswith("\n") else f"{text}\n" for text in patches]
            return Extracted(source="".join(ended), has_code_block=True)
    if extraction is Extraction.MARKDOWN:
        return Extracted(source="", found=not completion.strip())
    return Extracted(source=visible if answer is None else answer)
