"""Takes the program out of a completion.

Rules, in order:

1. `NONE` takes the text as it is, and only step 6 follows.
2. Reasoning is removed. If there is an `<answer>`, the last one is searched first.
3. Of the fenced blocks, those with the language's tag come first, then those without a tag that
   begin like code, then the others. The *last block that defines the function under test, with a
   body and not only its signature*, is taken; if there is none, the last block. Models improve on
   drafts and end with the whole program. Imports, functions, classes and constants that this block
   uses and only other blocks define are put in front of it. No other part of these blocks is taken,
   so that an example of use never runs.
4. If a text begins like code and its first fence has no language, the prompt had opened the block.
   The code is then the text before that fence.
5. Without a fence, `AUTO` takes the text as it is, and `MARKDOWN` finds no code.
6. The code and the prompt become one program; see `continuation` for Python and `other_languages`
   for other languages. In Python, a last statement that stops early is left out. Code that will be
   inserted into another program stays as it is.

Text longer than `READ_CHARACTERS` is taken as it is: no right answer is that long, and a model
could make reading it expensive. It is still judged, since the model wrote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reward_server.domain import Extraction
from reward_server.grading.extraction import continuation, markdown, other_languages, python_text
from reward_server.grading.extraction.dialect import Dialect, begins_as_code
from reward_server.grading.extraction.markdown import Block

READ_CHARACTERS = 1 << 20
_PYTHON = "python"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The program in a completion.

    Args:
        source: the program; "" if no code was found.
        prompt: the prompt's code, which can run without the answer; "" for prose.
        has_code_block: whether the completion has its code in a fenced block.
        found: False if only fenced code counts and there is none.
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
    is_text: bool = False,
) -> Extracted:
    """Makes a program of a completion.

    Args:
        completion: raw model output.
        extraction: how code is taken out of it.
        dialect: how the language's code looks.
        prompt: code that the completion continues, or prose.
        wanted: the names that the tests take from the program, if they are known.
        is_text: whether the code will be inserted into another program. Then it is not joined with
            the prompt, and its indentation is kept.
    """
    text = _clean(completion)
    asked = _Text(dialect) if is_text else _Task(prompt, dialect, wanted)
    if extraction is Extraction.NONE or len(text) > READ_CHARACTERS:
        found = extraction is not Extraction.MARKDOWN
        source = asked.joined(text) if found else ""
        return Extracted(source=source, prompt=asked.executable, found=found)
    visible = markdown.unquoted(markdown.visible_text(text))
    answer = markdown.answer_text(visible)
    for part in (answer, visible):
        code = None if part is None else _fenced_code(part, asked)
        if code is not None:
            source = asked.answered(code)
            return Extracted(source=source, prompt=asked.executable, has_code_block=True)
    if extraction is Extraction.MARKDOWN:
        return Extracted(source="", prompt=asked.executable, found=False)
    source = asked.answered(visible if answer is None else answer)
    return Extracted(source=source, prompt=asked.executable)


def _clean(completion: str) -> str:
    # A byte order mark, other line ends and lone surrogates come from the transport.
    text = completion.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return text.encode("utf-8", "replace").decode("utf-8")


class _Task:
    """A prompt in a language, and the names that the tests take from its answer."""

    def __init__(self, prompt: str, dialect: Dialect, wanted: frozenset[str]) -> None:
        self.dialect = dialect
        self.is_python = dialect.name == _PYTHON
        self._wanted = wanted
        if self.is_python:
            self._python = continuation.read_prompt(prompt, dialect)
            self.executable = self._python.executable
        else:
            self._foreign = other_languages.read_prompt(prompt, dialect)
            self.executable = ""

    def joined(self, text: str) -> str:
        """Makes a program of a completion that is code."""
        if len(text) > READ_CHARACTERS:
            return (self._python.code if self.is_python else self._foreign.code) + text
        return self.answered(text)

    def answered(self, code: str) -> str:
        """Makes a program of the code that answers the prompt."""
        if self.is_python:
            program = continuation.continue_prompt(self._python, code, self._wanted)
            return python_text.without_partial_end(program, self._needed)
        return other_languages.continue_prompt(self._foreign, code)

    def is_defined_by(self, code: str) -> bool:
        """Returns True if code defines the names that the tests call or the prompt asks for."""
        if self.is_python:
            return bool(python_text.defined_names(code) & self._asked)
        return any(
            other_languages.defines(code, name) for name in (self._foreign.function, *self._wanted)
        )

    def is_stub(self, code: str) -> bool:
        """Returns True if code has no body for the function that tests call or the prompt
        requests."""
        return self.is_python and python_text.is_stub(code, self._asked)

    @property
    def _needed(self) -> frozenset[str]:
        return self._wanted or self._asked - {""}

    @property
    def _asked(self) -> frozenset[str]:
        return self._wanted | {self._python.function}


class _Text(_Task):
    """A place in another program, for which the code of an answer is kept as it is."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__("", dialect, frozenset())

    def answered(self, code: str) -> str:
        """Returns the code."""
        return code


def _fenced_code(text: str, task: _Task) -> str | None:
    blocks = markdown.fenced_blocks(text)
    if not blocks:
        return None
    lead = text[: blocks[0].start]
    if begins_as_code(lead, task.dialect):
        if task.is_python and python_text.ends_in_string(lead):
            return None
        if not (blocks[0].has_language or blocks[0].tag in task.dialect.fence_tags):
            return lead
    return _chosen(blocks, task)


def _chosen(blocks: Sequence[Block], task: _Task) -> str:
    dialect = task.dialect
    tagged = [block for block in blocks if block.tag in dialect.fence_tags and block.text.strip()]
    bare = [block for block in blocks if not block.tag and begins_as_code(block.text, dialect)]
    main = (_defining(tagged, task) or _defining(bare, task) or tagged or bare or blocks)[-1]
    family = sorted([*tagged, *bare], key=lambda block: block.start)
    others = [block.text for block in family if block is not main]
    if others and task.is_python:
        return python_text.with_missing_names(main.text, others)
    return main.text


def _defining(blocks: Sequence[Block], task: _Task) -> list[Block]:
    found = [block for block in blocks if task.is_defined_by(block.text)]
    return [block for block in found if not task.is_stub(block.text)] or found
