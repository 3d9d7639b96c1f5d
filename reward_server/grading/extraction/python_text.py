"""Reads Python source as text, without parsing it.

The server never gives completions to the interpreter's parser, since hostile text can make it take
exponential time or all memory. Instead a scan for strings, brackets and first columns finds the
text that extraction needs, in linear time. A mistake of this scan only affects the completion's own
reward.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_TOKEN = re.compile(
    r"#[^\n]*"
    r"|\"\"\"|'''"
    r"|\"(?:[^\"\\\n]|\\[^\n])*+\"?"
    r"|'(?:[^'\\\n]|\\[^\n])*+'?"
    r"|[()\[\]{}]"
    r"|\n\f*+(?=[^\s#])"
)
_CLOSING = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in ('"""', "'''")}
_DEFINITION = re.compile(
    r"^\f*+(?:([ \t]*)(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)"
    r"|([ \t]*)(\w+)[ \t]*(?::[^=\n]+)?=(?!=))",
    re.MULTILINE,
)
_HEAD = re.compile(r"(?:@[^\n]*\n\s*)*+(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)")
_CONSTANT = re.compile(r"([A-Z_][A-Z0-9_]*)[ \t]*(?::[^=\n]+)?=(?!=)")
_FROM_IMPORT = re.compile(r"from[ \t]+[\w.]+[ \t]+import\b")
_IMPORT = re.compile(r"import\b")
_TARGET = re.compile(r"(\w+)[ \t]*(?::[^=\n]+)?=(?!=)")
_DOCSTRING = re.compile(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'')
_EMPTY = re.compile(  # a line without an effect
    r"(?:(?:@|#|raise NotImplementedError\b).*"
    r"|(?:(?:(?:async[ \t]+)?def|class)\b.*:[ \t]*+)?(?:\.\.\.|pass)?+(?:[ \t]*+#.*)?)"
)
_NAME = re.compile(r"[^\W\d]\w*")
# The indentation of lines; a form feed sets the column back to the first.
_SOLID_LINE = re.compile(r"^\f*+(?P<indent>[ \t]*+)(?=[^\s])", re.MULTILINE)
_CODE_LINE = re.compile(r"^\f*+(?P<indent>[ \t]*+)(?=[^\s#])", re.MULTILINE)
_RETURN = re.compile(r"^[ \t]*(?:return|yield)\b", re.MULTILINE)
_STARTED = re.compile(r"@|(?:async\b[ \t]*)?(?:def|class)\b|async\Z")
_COMPOUND = re.compile(
    r"[ \t]*(?:@|(?:async|def|class|if|elif|else|for|while|with|try|except|finally|match)\b)"
)
_APOSTROPHE = re.compile(r"[^\W\drRbBuUfF]'")  # of a word
_OPEN_END = re.compile(
    r"[-+/%@&|^<>=:\\~]\Z|(?<!import )\*\Z|(?<![\d.])\.\Z"
    r"|\b(?:and|or|not|in|is|lambda|import|from|await|del|global|as)\Z"
)
_BRANCH = re.compile(r"(?:elif|else|except|finally)\b")
_FUTURE = re.compile(r"^from[ \t]+__future__[ \t]+import[ \t][^\n]*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A statement of the top level, with the text up to the next one.

    `binds` are the names that it binds. `movable` is True if it can be put elsewhere, because it
    only binds names: imports, definitions and constants.
    """

    text: str
    binds: frozenset[str]
    movable: bool


def chunks(source: str) -> list[Chunk]:
    """Splits source that starts in the first column into its top-level statements."""
    starts, _ = _scan(source)
    begin = len(source) - len(source.lstrip("\f"))
    edges = [begin, *_without_branches(source, starts), len(source)]
    pieces = [source[begin:end] for begin, end in pairwise(edges)]
    return [_chunk(piece) for piece in _with_decorators(pieces)]


def ends_in_string(source: str) -> bool:
    """Returns True if the text stops inside a triple-quoted string."""
    return _scan(source)[1]


def returns_at_top_level(source: str) -> bool:
    """Returns True if there is a `return` outside every definition, so that the code is a body."""
    return any(
        not _HEAD.match(chunk.text) and _RETURN.search(chunk.text) for chunk in chunks(source)
    )


def indentation(source: str) -> int:
    """Returns the indentation of the first line of code, or else of the first comment."""
    return len(_first_indent(source).expandtabs(8))


def _first_indent(source: str) -> str:
    found = _CODE_LINE.search(source) or _SOLID_LINE.search(source)
    return found["indent"] if found else ""


def defined_names(source: str) -> frozenset[str]:
    """Returns the functions, classes and variables defined at the level of the first line."""
    level = indentation(source)
    found = set()
    for match in _DEFINITION.finditer(source):
        indent, name = (match[1], match[2]) if match[2] else (match[3], match[4])
        if len(indent.expandtabs(8)) == level:
            found.add(name)
    return frozenset(found)


def is_stub(source: str, names: frozenset[str]) -> bool:
    """Returns True if no definition of these names has a body with an effect."""
    definitions = (one.text for one in chunks(dedent(source)) if not names.isdisjoint(one.binds))
    lines = (line for text in definitions for line in _DOCSTRING.sub("", text).splitlines())
    return all(_EMPTY.fullmatch(line.strip()) for line in lines)


def names_in(source: str) -> set[str]:
    """Returns every word that could be a name."""
    return set(_NAME.findall(source))


def called_names(source: str) -> set[str]:
    """Returns every name that is followed by an opening parenthesis."""
    return set(re.findall(r"\b([^\W\d]\w*)\(", source))


def dedent(source: str) -> str:
    """Removes the indentation of the first line of code from every line that has it.

    Lines that are indented by other characters keep their columns behind it, as Python counts
    them; lines with less indentation begin in the first column.
    """
    first = _first_indent(source)
    if not first:
        return source
    level = len(first.expandtabs(8))

    def moved(line: re.Match[str]) -> str:
        indent = line["indent"]
        if indent.startswith(first):
            return indent[len(first) :]
        return " " * max(0, len(indent.expandtabs(8)) - level)

    return _SOLID_LINE.sub(moved, source)


def indent(source: str, columns: int) -> str:
    """Puts spaces in front of every line that is not blank."""
    return re.sub(r"^(?=[^\n]*\S)", " " * columns, source, flags=re.MULTILINE)


def without_partial_end(source: str, wanted: frozenset[str]) -> str:
    """Removes a last statement of the top level that stops early, behind whole definitions.

    So ends the text of a model that went on to another function until its tokens were used up.

    Args:
        source: the program.
        wanted: names that the tests take from it. They must be defined before that statement; if
            none is known, only a definition is removed.
    """
    if not (_may_be_partial(source) and _may_be_partial(source[_last_start(source) :])):
        return source
    *whole, last = chunks(source)
    defined = frozenset[str]().union(*(one.binds for one in whole if _HEAD.match(one.text)))
    is_missed = not wanted <= defined if wanted else not _STARTED.match(last.text)
    if not defined or is_missed or not _is_partial(last.text):
        return source
    return source[: len(source) - len(last.text)]


def _last_start(source: str) -> int:
    """Returns where the last line begins that is not indented."""
    end = len(source)
    while (end := source.rfind("\n", 0, end)) >= 0:
        if source[end + 1 : end + 2].strip() not in ("", "#"):
            return end + 1
    return 0


def _may_be_partial(text: str) -> bool:
    """Returns False if the last statement of a text is certainly whole; it costs little."""
    pairs = (("(", ")"), ("[", "]"), ("{", "}"))
    is_uneven = any(text.count(opening) != text.count(closing) for opening, closing in pairs)
    return is_uneven or text.count('"') % 2 + text.count("'") % 2 > 0 or _stops_early(text)


def _is_partial(text: str) -> bool:
    last = text.rfind("\n", 0, len(text.rstrip())) + 1
    depth, position, is_inside = 0, 0, False
    while token := _TOKEN.search(text, position):
        sign, position = token.group(), token.end()
        if sign in _CLOSING:
            closed = _string_end(text, position, sign)
            if closed is None:
                return True
            position = closed
        elif sign[0] in "\"'":
            if len(sign) == 1 or sign[-1] != sign[0]:
                return _APOSTROPHE.match(text, token.start() - 1) is None
        else:
            depth += (sign in "([{") - (sign in ")]}")
        if token.start() < last:
            is_inside = depth > 0 or position > last
    return depth > 0 or (not is_inside and _stops_early(text))


def _stops_early(text: str) -> bool:
    """Returns True if a last line is a head without a body, or ends where an operand is missing."""
    last = text.rstrip().rpartition("\n")[2]
    is_head = _COMPOUND.match(last) is not None and ":" not in last
    return is_head or (_OPEN_END.search(last) is not None and "#" not in last)


def with_missing_names(main: str, others: Sequence[str]) -> str:
    """Puts in front of `main` the statements of other blocks that define names that it uses.

    Answers often spread imports, constants and helpers over blocks. Only these statements are
    taken, so that examples of use never run. A statement that defines a name of `main` is not
    taken.
    """
    offers = [chunk for other in others for chunk in chunks(dedent(other)) if chunk.movable]
    by_name = {name: index for index, chunk in enumerate(offers) for name in chunk.binds}
    own = {name for chunk in chunks(main) for name in chunk.binds}
    taken: set[int] = set()
    wanted = names_in(main) - own | {"*"}
    while wanted:
        fresh = {by_name[name] for name in wanted if name in by_name} - taken
        taken |= fresh
        wanted = {name for index in fresh for name in names_in(offers[index].text)} - own
    if not taken:
        return main
    return in_front([offers[index].text for index in sorted(taken)], main)


def in_front(pieces: Iterable[str], main: str) -> str:
    """Joins source texts, with `from __future__` lines moved to the top, where they must be."""
    text = "".join(piece if piece.endswith("\n") else piece + "\n" for piece in pieces) + main
    future = "".join(line.rstrip("\n") + "\n" for line in _FUTURE.findall(text))
    return future + _FUTURE.sub("", text) if future else text


def _scan(source: str) -> tuple[list[int], bool]:
    """Finds where the top-level statements after the first start, and whether a string is open."""
    starts: list[int] = []
    depth, position = 0, 0
    while token := _TOKEN.search(source, position):
        text, position = token.group(), token.end()
        if text in _CLOSING:
            closed = _string_end(source, position, text)
            if closed is None:
                return starts, True
            position = closed
        elif text in ("(", "[", "{"):
            depth += 1
        elif text in (")", "]", "}"):
            depth = max(0, depth - 1)
        elif text[0] == "\n" and not depth:
            starts.append(position)
    return starts, False


def _string_end(source: str, position: int, quote: str) -> int | None:
    for mark in _CLOSING[quote].finditer(source, position):
        if mark.group() == quote:
            return mark.end()
    return None


def _without_branches(source: str, starts: Iterable[int]) -> list[int]:
    return [start for start in starts if not _BRANCH.match(source, start)]


def _with_decorators(pieces: Sequence[str]) -> list[str]:
    whole: list[str] = []
    decorators = ""
    for piece in pieces:
        if piece.startswith("@"):
            decorators += piece
            continue
        whole.append(decorators + piece)
        decorators = ""
    return [*whole, decorators] if decorators else whole


def _chunk(text: str) -> Chunk:
    if head := _HEAD.match(text):
        return Chunk(text=text, binds=frozenset({head[1]}), movable=True)
    if head := _FROM_IMPORT.match(text):
        return Chunk(text=text, binds=_imported(text[head.end() :]), movable=True)
    if head := _IMPORT.match(text):
        return Chunk(text=text, binds=_imported(text[head.end() :]), movable=True)
    if head := _CONSTANT.match(text):
        return Chunk(text=text, binds=frozenset({head[1]}), movable=True)
    target = _TARGET.match(text)
    return Chunk(text=text, binds=frozenset(target.groups() if target else ()), movable=False)


def _imported(clause: str) -> frozenset[str]:
    """Returns the names that an import binds, on its first line or in its parentheses."""
    clause = re.sub(r"#[^\n]*", "", clause).strip()
    listed = clause[1:].partition(")")[0] if clause.startswith("(") else clause.partition("\n")[0]
    names = set()
    for part in listed.split(","):
        words = part.split()
        if words:
            names.add(words[-1].partition(".")[0] if len(words) == 1 else words[-1])
    return frozenset(names)
