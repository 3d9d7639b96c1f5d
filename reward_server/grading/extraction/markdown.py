"""Finds the answer in chat output: after the reasoning, in the answer tags, between the fences.

Every function passes over the text once, even if the text is hostile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# A tag beside a quotation mark is part of a string in a program.
_THINK_TAG = re.compile(r"(?<![\"'])<(/?)think(?:ing)?>(?![\"'])", re.IGNORECASE)
_ANSWER_TAG = re.compile(r"(?<![\"'])<(/?)answer>(?![\"'])", re.IGNORECASE)

# A fence as of CommonMark, indented at will, also after the mark of a list item; and a fence with a
# tag after words that are not a comment.
_FENCE = re.compile(
    r"^([ \t]*)((?:[-*+]|\d{1,3}[.)])[ \t]+)?(`{3,}|~{3,})[ \t]*([^\n]*)$"
    r"|^(?![ \t]*>)[^`#\n]+(`{3,})[ \t]*(\w[\w+#.-]*)[ \t]*$",
    re.MULTILINE,
)
_QUOTATION = re.compile(r"^ {0,3}>(?!>) ?", re.MULTILINE)
_TAG = re.compile(r"\{?\.?([\w+#.-]*)")
# A language, with or without attributes. Anything else after a fence is text.
_LANGUAGE = re.compile(r"\{?\.?\w[\w+#.-]*(?:\}|[ \t]*\{.*|[ \t]+[\w-]+=.*)?")
_STUCK_END = re.compile(r"[ \t]*(?:<[^<>\n]+>[ \t]*)*(?:\n|\Z)")
_CLOSING_INDENT, _TAB = 3, 4
_INDENT = re.compile(r"^[ \t]*+(?=\S)", re.MULTILINE)
_WRAPPERS = frozenset({"markdown", "md"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block.

    Args:
        tag: the first word after its fence, in lower case.
        has_language: whether that word has the form of a language, and does not begin a sentence.
        text: the text in the block.
        start: where its fence begins.
    """

    tag: str
    has_language: bool
    text: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fence:
    indent: int
    marks: str
    info: str
    is_behind: bool  # a mark of a list item, or words
    start: int
    end: int

    @property
    def tag(self) -> str:
        match = _TAG.match(self.info)
        return match.group(1).lower() if match else ""

    @property
    def has_language(self) -> bool:
        return _LANGUAGE.fullmatch(self.info) is not None

    @property
    def can_open(self) -> bool:
        # A tag that is opened and closed on one line is a word of a sentence.
        return "`" not in self.marks or "`" not in self.info


def visible_text(text: str) -> str:
    """Returns a completion without its reasoning.

    Removes `<think>...</think>`, everything before a lone `</think>` (chat templates often put the
    opening tag in the prompt) and everything after a `<think>` that is never closed.
    """
    shown: list[str] = []
    position, thinking = 0, False
    for tag in _THINK_TAG.finditer(text):
        closing = bool(tag.group(1))
        if closing and not thinking:
            shown.clear()
        elif not closing and not thinking:
            shown.append(text[position : tag.start()])
        thinking = not closing
        position = tag.end()
    if not thinking:
        shown.append(text[position:])
    return "".join(shown)


def answer_text(text: str) -> str | None:
    """Returns the text in the last `<answer>`, closed or not; None if there is none."""
    begin, end = None, len(text)
    for tag in _ANSWER_TAG.finditer(text):
        if not tag.group(1):
            begin, end = tag.end(), len(text)
        elif begin is not None and end == len(text):
            end = tag.start()
    return None if begin is None else text[begin:end]


def unquoted(text: str) -> str:
    """Returns a text without the marks of block quotations, if all its fences are in these."""
    if _FENCE.search(text):
        return text
    plain = _QUOTATION.sub("", text)
    return plain if _FENCE.search(plain) else text


def fenced_blocks(text: str) -> list[Block]:
    """Returns the fenced blocks in order, also those inside a block of Markdown.

    A block ends at its closing fence, even if text follows on that line. If it was not closed, it
    ends at the fence of another block with a language, or at the end of the text.
    """
    blocks: list[Block] = []
    for block in _outer_blocks(text):
        inner = _outer_blocks(block.text) if block.tag in _WRAPPERS else []
        blocks.extend(inner or [block])
    return blocks


def _outer_blocks(text: str) -> list[Block]:
    blocks: list[Block] = []
    opened: _Fence | None = None
    for match in _FENCE.finditer(text):
        fence = _read_fence(match)
        if opened is None:
            opened = fence if fence.can_open else None
        elif _is_level_with(opened, fence):
            body = text[opened.end : fence.start]
            if fence.has_language:
                blocks.append(_unclosed_block(opened, body))
                opened = fence
            else:
                # CommonMark takes a fence with text behind it for code; models close blocks by it.
                blocks.append(_block(opened, body))
                opened = None
    if opened is not None:
        blocks.append(_unclosed_block(opened, text[opened.end :]))
    return blocks


def _read_fence(match: re.Match[str]) -> _Fence:
    indent, bullet, marks, info, later, tag = match.groups()
    return _Fence(
        indent=len((indent or "").expandtabs(_TAB)) + len(bullet or ""),
        marks=marks or later,
        info=(info or tag or "").strip(),
        is_behind=bool(bullet or later),
        start=match.start(),
        end=match.end(),
    )


def _is_level_with(opened: _Fence, fence: _Fence) -> bool:
    # A more deeply indented fence is text, such as an example in a docstring.
    return (
        fence.marks.startswith(opened.marks)
        and not fence.is_behind
        and fence.indent <= opened.indent + _CLOSING_INDENT
    )


def _block(opened: _Fence, text: str) -> Block:
    body = text.removeprefix("\n")
    if opened.indent:
        shared = _within(_shared_indent(body), opened.indent)
        body = re.sub(rf"^{shared}", "", body, flags=re.MULTILINE) if shared else body
    return Block(tag=opened.tag, has_language=opened.has_language, text=body, start=opened.start)


def _shared_indent(body: str) -> str:
    """Returns the indentation with which every line begins that is not blank."""
    indents = [found[0] for found in _INDENT.finditer(body)]
    least, greatest = min(indents, default=""), max(indents, default="")
    pairs = enumerate(zip(least, greatest, strict=False))
    return least[: next((end for end, (one, other) in pairs if one != other), len(least))]


def _within(indent: str, columns: int) -> str:
    """Returns the part of an indentation that fits into some columns."""
    column = 0
    for end, sign in enumerate(indent):
        column += _TAB - column % _TAB if sign == "\t" else 1
        if column > columns:
            return indent[:end]
    return indent


def _unclosed_block(opened: _Fence, text: str) -> Block:
    """Makes a block whose closing fence may stand at the end of its last line of code."""
    position = text.find(opened.marks)
    while position >= 0:
        end = position + len(opened.marks)
        if _STUCK_END.match(text, end):
            return _block(opened, text[:position])
        position = text.find(opened.marks, end)
    return _block(opened, text)
