"""Decides whether an argument of a call is a literal, or whether the tests hold it elsewhere too.

A call `f([3, 1])` puts a list onto the interpreter's stack and into two tuples. A sample call shows
how many references this makes; if there are more, the tests hold the list elsewhere. If a call is
made in another way (`f(*args)`), or the stack only borrows the references of names, the count
proves nothing. The same holds if C code makes the call (`reduce(f, rows)`), because it borrows
references. So the instructions must call the object by its name, or by an attribute of something of
the solution.

What this stops: nothing. It makes calls cheaper, since literals need no numbers.

What it does not find: a callee that a call or a subscript returns, or one before arguments with
jumps in them. Literals of such a call get numbers, which is allowed for any container.
"""

from __future__ import annotations

import dis
import functools
import re
import sys
from collections.abc import Sequence
from opcode import HAVE_ARGUMENT, opname
from types import CodeType, FrameType, ModuleType

from ...channel.cache import remembered
from ...channel.codec import Foreign
from ...sharing import same_containers

_INDIRECTLY = re.compile(r"\b(?:partial|partialmethod|methodcaller|key\s*=)")
_MOST_CODES = 256
_MOST_CALLS = 1024
_MOST_BYTES = 4096  # the most that are examined before a call
_SKIPPED = frozenset(("CACHE", "EXTENDED_ARG"))
_OF_A_CALL = frozenset(("PRECALL", "KW_NAMES"))
_ATTRIBUTES = frozenset(("LOAD_ATTR", "LOAD_METHOD"))
_ATTRIBUTE_SHIFT = int(sys.version_info >= (3, 12))
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_codes: dict[int, tuple[CodeType, bytes]] = {}


@remembered
def may_call_indirectly(source: str) -> bool:
    """Returns True if tests may let C code call the solution with arguments that the C code
    holds."""
    return _INDIRECTLY.search(source) is not None


def are_held(args: tuple[object, ...], frame: FrameType, called: object) -> bool:
    """Returns True if arguments must be the same objects on both sides.

    Args:
        args: the arguments of a call, as the called method has them.
        frame: the frame that makes the call.
        called: the object that is called.
    """
    if not _COUNTS_TELL or _operation_at(frame) != _PLAIN_CALL:
        return True
    return same_containers.must_be_shared(args, _OF_A_LITERAL) or not _is_called(called, frame)


def _is_called(called: object, frame: FrameType) -> bool:
    """Returns True if an instruction of the frame makes the call, and not C code."""
    chain = _callee(frame.f_code, frame.f_lasti)
    if not chain:
        return False
    value = _named(chain[0], frame)
    for attribute in chain[1:]:
        if isinstance(value, Foreign):
            return True  # an object of the solution is called in any case
        if isinstance(value, ModuleType):
            value = getattr(value, attribute, None)
        else:
            value = getattr(value, "__dict__", {}).get(attribute)
    return value is called


def _named(name: str, frame: FrameType) -> object:
    for names in (frame.f_locals, frame.f_globals):
        if name in names:
            return names[name]
    return None


@functools.lru_cache(maxsize=_MOST_CALLS)
def _callee(code: CodeType, position: int) -> tuple[str, ...]:
    """Returns the name and the attributes by which an instruction calls, or none if unknown."""
    instructions, chain = _instructions_of(code), list[str]()
    waiting = instructions[position + 1]  # arguments that lie above the callee on the stack
    begun = False
    for at in range(position - 2, max(position - _MOST_BYTES, 0), -2):
        name, argument = opname[instructions[at]], instructions[at + 1]
        if name in _SKIPPED or (name in _OF_A_CALL and not begun):
            continue
        begun = True
        if opname[instructions[at - 2]] == "EXTENDED_ARG":
            argument |= instructions[at - 1] << 8
        if waiting:
            if instructions[at] in _JUMPS:
                return ()
            waiting -= _effect(instructions[at], argument)
        elif name in _ATTRIBUTES:
            chain.append(_at(code.co_names, argument >> _ATTRIBUTE_SHIFT))
        elif name != "PUSH_NULL":
            root = _loaded(code, name, argument)
            return (root, *reversed(chain)) if root else ()
    return ()


def _effect(operation: int, argument: int) -> int:
    return dis.stack_effect(operation, argument if operation >= HAVE_ARGUMENT else None)


def _loaded(code: CodeType, operation: str, argument: int) -> str:
    """Returns the name that an instruction loads, or "" if it does something else."""
    if operation == "LOAD_GLOBAL":
        return _at(code.co_names, argument >> 1)
    if operation == "LOAD_NAME":
        return _at(code.co_names, argument)
    if operation.startswith("LOAD_FAST"):
        return _at(code.co_varnames, argument)
    if operation != "LOAD_DEREF":
        return ""
    cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    return _at((*code.co_varnames, *cells, *code.co_freevars), argument)


def _at(names: Sequence[str], index: int) -> str:
    return names[index] if index < len(names) else ""


def _operation_at(frame: FrameType) -> int:
    return _instructions_of(frame.f_code)[frame.f_lasti]


def _instructions_of(code: CodeType) -> bytes:
    known = _codes.get(id(code))
    if known is None:
        if len(_codes) >= _MOST_CODES:
            _codes.clear()
        known = _codes[id(code)] = (code, code.co_code)
    return known[1]


class _Sample:
    """An object that is called in the same way as proxies."""

    def __call__(self, *args: object) -> tuple[int, int]:
        return _operation_at(sys._getframe(1)), same_containers.references_to(args)


def _sampled() -> tuple[int, int, int]:
    sample, named = _Sample(), list[object]()
    operation, of_a_literal = sample([])
    return operation, of_a_literal, sample(named)[1]


_PLAIN_CALL, _OF_A_LITERAL, _OF_A_NAME = _sampled()
_COUNTS_TELL = _OF_A_NAME > _OF_A_LITERAL
_codes.clear()
