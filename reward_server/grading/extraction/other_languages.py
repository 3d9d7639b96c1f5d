"""Joins prompts and answers in languages other than Python, which it reads as text.

There is no parser: names are found by the text around them. If a prompt and an answer overlap, they
are joined in the way that most compilers accept. A program that was joined wrongly does not
compile, so it never passes.

An answer continues where the prompt stops, or repeats the prompt's function. In the second case the
text before that function in the prompt (imports, helpers, the class around it) is put in front of
the answer. It is left out if the answer has it, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reward_server.grading.extraction import markdown
from reward_server.grading.extraction.dialect import Dialect, begins_as_code
from reward_server.recent import Recent

# Of a prompt and the four parts of it; completions of a group share their prompt.
_KEPT_BYTES, _BYTES_OF_CHARACTER = 32 << 20, 16
_CALLED = re.compile(r"([^\W\d]\w*[?!]?)\s*(?:<[^<>()]*>)?\s*\(")
_BOUND = re.compile(r"([^\W\d]\w*)\s*(?::[^=]*)?=")
_IMPORT = re.compile(
    r"\s*(?:#\s*include|import|using|use|require|open|package|extern crate)\b[^{]*$"
)
_GROUP = re.compile(r"^import\s*\(([^()]*)\)", re.MULTILINE)
_OWNER = r"(?:class|object|struct|module|impl)"
_CLASS = re.compile(rf"^[^\S\n]*+(?:(?!{_OWNER}\b)[\w@]++[^\S\n]++)*+{_OWNER}\s++\w", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# Each character is read once: a group of its own matches comments and strings without an end.
_SHORT = r"'(?:\\.|[^'\\\n])'|//[^\n]*"
_TEXT = r'"(?:\\.|[^"\\\n])*+(?:"|(?P<text>))'
_QUOTED = (
    re.compile(rf"{_TEXT}|{_SHORT}|/\*.*?(?:\*/|(?P<comment>\Z))", re.DOTALL),
    re.compile(rf"{_TEXT}|{_SHORT}|(?P<comment>(?!))", re.DOTALL),
)
_UNTITLED = re.compile(_SHORT, re.DOTALL)
_GAP = r"(?<=[\w>\]])(?P<gap>[\s&*]++)"
_TYPED = r"\s*+(?:<[^<>()]*+>\s*+)?[(=:<]"
_CALLING = re.compile(r"\b(?:return|new|throw|await|yield|in|case|else|do|not|and|or)\Z")
_LONGEST_CALLING = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The code of a prompt; "" for prose.

    Args:
        code: the code that a completion continues.
        function: the name of the function in which it stops.
        before: the text before that function's first line.
        signature: that line.
    """

    code: str = ""
    function: str = ""
    before: str = ""
    signature: str = ""


_kept = Recent[Prompt](_KEPT_BYTES)


def read_prompt(prompt: str, dialect: Dialect) -> Prompt:
    """Returns the code of a prompt: all of it, or its last fenced block of the language."""
    size_bytes = _BYTES_OF_CHARACTER * len(prompt)
    return _kept.find((prompt, dialect), size_bytes, lambda: _read_prompt(prompt, dialect))


def _read_prompt(prompt: str, dialect: Dialect) -> Prompt:
    text = prompt.replace("\r\n", "\n").removeprefix("\ufeff")
    if _is_code(text, dialect):
        return _read_code(text)
    for block in reversed(markdown.fenced_blocks(text)):
        if block.tag in dialect.fence_tags or (not block.tag and _is_code(block.text, dialect)):
            return _read_code(block.text)
    return Prompt()


def continue_prompt(prompt: Prompt, code: str) -> str:
    """Makes a program of a prompt and the code that answers it."""
    if not prompt.code:
        return code
    opened = _depth(prompt.code)
    # Code that closes the prompt's braces continues it, even if it has a variable of this name.
    goes_on = opened > 0 and _depth(code) == -opened
    if goes_on or not defines(code, prompt.function):
        return _closed(prompt.code + code, opened)
    owner = _CLASS.search(prompt.before)
    if owner is not None and _depth(prompt.before) and not _CLASS.search(code):
        return _closed(_without_comment(prompt.before) + code, _depth(prompt.before))
    helpers = [name for name in _defined(prompt.before) if defines(code, name)]
    if owner is not None or helpers:
        return _imports(prompt.before, code) + code
    return _imports(prompt.before, code) + _helpers(prompt.before) + code


def defines(code: str, name: str) -> bool:
    """Returns True if code seems to define a name; the code is not parsed."""
    if not name:
        return False
    word = re.escape(name)
    stated = rf"^\(define\s++\(?{word}\b|^{word}\s*+::"
    if re.search(stated, code, re.MULTILINE):
        return True
    last = None  # only the first match on each line counts
    for found in re.finditer(rf"{_GAP}{word}{_TYPED}", code):
        if _declares(found["gap"]):
            is_first = last is None or code.find("\n", last, found.start()) >= 0
            if is_first and not _is_call(code, found):
                return True
            last = found.start()
    return False


def _declares(gap: str) -> bool:
    """Returns True if the gap between two words allows a type and a name, as in `int *f`."""
    marks = gap.split()
    if len(marks) == 1:
        return marks[0] != gap
    return not marks or (len(marks) == 2 and not gap[-1].isspace())


def _is_call(code: str, found: re.Match[str]) -> bool:
    before = code[max(found.start() - _LONGEST_CALLING, 0) : found.start()]
    plain = found["gap"].isspace() and found[0].endswith("(") and "<" not in found[0]
    return plain and _CALLING.search(before) is not None


def _is_code(text: str, dialect: Dialect) -> bool:
    """Returns True if the first or the last line of a prompt that is not blank is code."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return False
    return begins_as_code(text, dialect) or dialect.code_line.match(lines[-1]) is not None


def _read_code(text: str) -> Prompt:
    lines = text.rstrip().split("\n")
    for index in reversed(range(len(lines))):
        named = _CALLED.search(lines[index]) or _BOUND.search(lines[index])
        if named:
            before = "".join(f"{line}\n" for line in lines[:index])
            return Prompt(code=text, function=named[1], before=before, signature=lines[index])
    return Prompt(code=text)


def _depth(text: str) -> int:
    """Returns how many braces are open at the end of a text."""
    bare = _bare(text)
    return bare.count("{") - bare.count("}")


def _bare(text: str, *, with_comments: bool = True) -> str:
    """Removes comments and strings; those without an end are left."""

    def kept(found: re.Match[str]) -> str:
        if found["comment"] is not None:
            return _bare(found[0][2:], with_comments=False)
        return "" if found["text"] is None else _UNTITLED.sub("", found[0][1:])

    return _QUOTED[not with_comments].sub(kept, text)


def _closed(text: str, most: int) -> str:
    """Adds the closing braces that a prompt and its answer lack."""
    missing = _depth(text)
    return text + "\n}" * missing if 0 < missing <= most else text


def _defined(text: str) -> list[str]:
    bare = _bare(text)
    return [name for name in _CALLED.findall(bare) if defines(bare, name)]


def _imports(before: str, code: str) -> str:
    """Returns the lines of a prompt that import something that the code does not import."""
    present = {"".join(line.split()) for line in _on_a_line(code).split("\n")}
    bare = _on_a_line(_COMMENT.sub("", before))
    lines = (line for line in bare.split("\n") if _IMPORT.match(line))
    return "".join(f"{line}\n" for line in lines if "".join(line.split()) not in present)


def _on_a_line(text: str) -> str:
    """Puts each group of imports, as in Go, on one line."""

    def joined(group: re.Match[str]) -> str:
        specs = (line.split("//")[0].strip() for line in group[1].split("\n"))
        return f"import ({'; '.join(filter(None, specs))})"

    return _GROUP.sub(joined, text)


def _helpers(before: str) -> str:
    bare = _on_a_line(_COMMENT.sub("", before))
    text = "\n".join(line for line in bare.split("\n") if not _IMPORT.match(line))
    return text if text.strip() else ""


def _without_comment(before: str) -> str:
    """Removes the comment that describes the function from the end of a text."""
    return re.sub(r"/\*(?:(?!\*/).)*\*/\s*$", "", before, flags=re.DOTALL)
