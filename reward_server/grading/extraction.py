"""Takes the program out of a completion.

Rules, in order:

1. `NONE` takes the text as it is; nothing of the following is done but the last step.
2. Reasoning is cut away, and the last `<answer>`, where there is one, is looked at first.
3. Among fenced blocks, those tagged with the language come first, then those without a tag that
   begin like code, then any. The *last block that defines what the tests call* is taken, else the
   last: models improve on drafts, and end with the whole. What it uses but only other blocks
   define (imports, functions, classes, constants) is put in front of it; nothing else of them is,
   so that an example of use never runs.
4. Text that begins like code and meets a bare fence before any other is what a prompt's open fence
   began; the code is what stands before that fence.
5. Without a fence, `AUTO` takes the text as it is, and `MARKDOWN` finds no code.
6. The code and the prompt become one program; see `continuation`.

Text above `READ_CHARACTERS` is taken as it is: no answer is that long, and it could be made to
cost. It is judged nevertheless, since its author is the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reward_server.domain import Extraction
from reward_server.grading import markdown, python_text
from reward_server.grading.continuation import (
    Dialect,
    Prompt,
    begins_as_code,
    continue_prompt,
    read_prompt,
)
from reward_server.grading.markdown import Block

READ_CHARACTERS = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The program in a completion.

    Args:
        source: what to run; "" where no code was found.
        prompt: the prompt's code, fit to be run by itself; "" for prose.
        has_code_block: whether the completion fenced its code.
        found: False where only fenced code counts and there is none.
    """

    source: str
    prompt: str = ""
    has_code_block: bool = False
    found: bool = True


def extract(
    completion: str,
    *,
    extraction: Extraction,
    dialect: Dialect,
    prompt: str = "",
    wanted: frozenset[str] = frozenset(),
) -> Extracted:
    """Makes the program that a completion stands for.

    Args:
        completion: raw model output.
        extraction: how code is taken out of it.
        dialect: what marks the language's code.
        prompt: code that the completion continues, or prose.
        wanted: names that the tests take from the program, where they are known.
    """
    text = _clean(completion)
    asked = read_prompt(prompt, dialect)
    if extraction is Extraction.NONE or len(text) > READ_CHARACTERS:
        found = extraction is not Extraction.MARKDOWN
        source = _joined(asked, text, wanted) if found else ""
        return Extracted(source=source, prompt=asked.executable, found=found)
    visible = markdown.visible_text(text)
    answer = markdown.answer_text(visible)
    for part in (answer, visible):
        code = None if part is None else _fenced_code(part, dialect, wanted | {asked.function})
        if code is not None:
            source = continue_prompt(asked, code, wanted)
            return Extracted(source=source, prompt=asked.executable, has_code_block=True)
    if extraction is Extraction.MARKDOWN:
        return Extracted(source="", prompt=asked.executable, found=False)
    source = continue_prompt(asked, visible if answer is None else answer, wanted)
    return Extracted(source=source, prompt=asked.executable)


def _clean(completion: str) -> str:
    # A byte order mark, foreign line ends and lone surrogates are the transport's, not the code's.
    text = completion.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return text.encode("utf-8", "replace").decode("utf-8")


def _joined(asked: Prompt, text: str, wanted: frozenset[str]) -> str:
    if len(text) > READ_CHARACTERS:
        return asked.code + text
    return continue_prompt(asked, text, wanted)


def _fenced_code(text: str, dialect: Dialect, wanted: frozenset[str]) -> str | None:
    blocks = markdown.fenced_blocks(text)
    if not blocks:
        return None
    lead = text[: blocks[0].start]
    if begins_as_code(lead, dialect):
        if python_text.ends_in_string(lead):
            return None
        if not blocks[0].tag:
            return lead
    return _chosen(blocks, dialect, wanted)


def _chosen(blocks: Sequence[Block], dialect: Dialect, wanted: frozenset[str]) -> str:
    tagged = [block for block in blocks if block.tag in dialect.fence_tags and block.text.strip()]
    bare = [block for block in blocks if not block.tag and begins_as_code(block.text, dialect)]
    defining = _defining(tagged, wanted) or _defining(bare, wanted)
    main = (defining or tagged or bare or blocks)[-1]
    family = sorted([*tagged, *bare], key=lambda block: block.start)
    others = [block.text for block in family if block is not main]
    return python_text.with_missing_names(main.text, others) if others else main.text


def _defining(blocks: Sequence[Block], wanted: frozenset[str]) -> list[Block]:
    return [block for block in blocks if python_text.defined_names(block.text) & wanted]
