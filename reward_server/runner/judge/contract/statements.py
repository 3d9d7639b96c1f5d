"""Which calls of the solution are statements of their own, so that their answer is dropped.

A call that answers None and changes its argument is the in-place convention only as a statement.
What this stops: an answer that a library's function drops for nobody, as in
`found.extend(map(f, xs))`, which is one statement, too, but not a call of `f`.
"""

from __future__ import annotations

import builtins
import dis
import functools
from collections.abc import Mapping, Sequence
from types import CodeType, FrameType

ASKS = "_asks_solution"  # an attribute of the classes of what the tests call the solution by
_LOADS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_FAST_CHECK")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_CALLS = ("CALL", "CALL_FUNCTION_EX", "CALL_KW")
_SILENT = ("PUSH_NULL", "PRECALL", "KW_NAMES", "EXTENDED_ARG")


def is_statement_of(frame: FrameType) -> bool:
    """Returns True if a frame calls something of the solution by a name, and drops the answer."""
    names = _statements(frame.f_code).get(frame.f_lasti)
    return names is not None and _is_of_solution(frame, names)


@functools.lru_cache(maxsize=1024)
def _statements(code: CodeType) -> Mapping[int, Sequence[str]]:
    """Returns the dotted names that statements call, by the place of the call."""
    found: dict[int, Sequence[str]] = {}
    chains: dict[object, list[str]] = {}
    last, names = -1, None
    for one in dis.get_instructions(code):
        start = one.positions and (one.positions.lineno, one.positions.col_offset)
        if one.opname == "POP_TOP" and names is not None:
            found[last] = names
        if one.opname in _SILENT:
            continue
        names = None
        if one.opname in _LOADS:
            chains[start] = [str(one.argval)]
        elif one.opname in _ATTRIBUTES and start in chains:
            chains[start].append(str(one.argval))
        else:
            chain = chains.pop(start, None)
            last, names = one.offset, chain if one.opname in _CALLS else None
    return found


def _is_of_solution(frame: FrameType, names: Sequence[str]) -> bool:
    scopes = (frame.f_locals, frame.f_globals, vars(builtins))
    name, *attributes = names
    found = next((scope[name] for scope in scopes if name in scope), None)
    for attribute in attributes:
        if hasattr(type(found), ASKS):
            return True
        found = getattr(found, "__dict__", {}).get(attribute)
    return hasattr(type(found), ASKS)
