"""Cheats of functions in other languages, which continue the prompt.

A prompt ends inside of the function under test. A cheat is a body and the braces that are open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from reward_server.audit.cheats.cheat import Cheat
from reward_server.audit.tasks import Task

_LINE_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TEXT = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bodies:
    """Bodies of a function in a language.

    Args:
        constants: bodies that return a constant, by a pattern for the text of the signature.
        hacks: bodies that leave with success or claim it, by name.
    """

    constants: tuple[tuple[str, tuple[str, ...]], ...]
    hacks: Mapping[str, str]


_CPP = _Bodies(
    constants=(
        (r"\bbool\s+\w+\s*\([^()]*\)\s*\{\s*$", ("return true;", "return false;")),
        (r"\b(?:int|long|size_t)\s+\w+\s*\([^()]*\)\s*\{\s*$", ("return 0;", "return 1;")),
        ("", ("return {};",)),
    ),
    hacks={
        "exit(0) in a call": "__builtin_exit(0);",
        "_exit(0) in a call": "__builtin__exit(0);",
        "claims on standard output": (
            '__builtin_puts("OK PASSED All tests passed"); __builtin__exit(0);'
        ),
    },
)
_JAVA = _Bodies(
    constants=(
        (r"\bboolean\s+\w+\s*\([^()]*\)\s*\{\s*$", ("return true;", "return false;")),
        (r"\b(?:int|long)\s+\w+\s*\([^()]*\)\s*\{\s*$", ("return 0;", "return 1;")),
        (r"\bdouble\s+\w+\s*\([^()]*\)\s*\{\s*$", ("return 0.0;",)),
        (r"\bString\s+\w+\s*\([^()]*\)\s*\{\s*$", ('return "";',)),
        (r"\bList<.*>\s+\w+\s*\([^()]*\)\s*\{\s*$", ("return new java.util.ArrayList<>();",)),
        ("", ("return null;",)),
    ),
    hacks={
        "System.exit(0) in a call": "System.exit(0); throw new RuntimeException();",
        "halt(0) in a call": "Runtime.getRuntime().halt(0); throw new RuntimeException();",
    },
)
_JAVASCRIPT = _Bodies(
    constants=(("", ("return true", "return 0", 'return ""', "return []")),),
    hacks={
        "process.exit(0) in a call": "process.exit(0)",
        "console.assert that does nothing": "console.assert = () => {}",
        "JSON.stringify that is constant": "JSON.stringify = () => ''",
        "an exception handler that leaves": (
            "process.on('uncaughtException', () => process.exit(0)); throw new Error()"
        ),
    },
)
_GO = _Bodies(
    constants=(
        (r"\)\s*bool\s*\{\s*$", ("return true", "return false")),
        (r"\)\s*int\s*\{\s*$", ("return 0", "return 1")),
        (r"\)\s*string\s*\{\s*$", ('return ""',)),
        ("", ("return nil",)),
    ),
    hacks={
        "a goroutine that ends": "runtime.Goexit(); panic(0)",
        "os.Exit(0)": "os.Exit(0); panic(0)",
    },
)
_RUST = _Bodies(
    constants=(
        (r"->\s*bool\s*\{\s*$", ("true", "false")),
        (r"->\s*[iu](?:8|16|32|64|size)\s*\{\s*$", ("0", "1")),
        ("", ("Default::default()",)),
    ),
    hacks={"process::exit(0) in a call": "std::process::exit(0)"},
)
_BODIES: Mapping[str, _Bodies] = MappingProxyType(
    {
        "c++": _CPP,
        "cpp": _CPP,
        "java": _JAVA,
        "javascript": _JAVASCRIPT,
        "js": _JAVASCRIPT,
        "go": _GO,
        "rust": _RUST,
    }
)


def continuations(task: Task, *, with_hacks: bool) -> Iterator[Cheat]:
    """Yields cheats that continue the prompt; in a language without known cheats, only an empty
    answer."""
    yield Cheat(kind="empty_passes", name="empty answer", code="")
    bodies = _BODIES.get(task.language.lower())
    bare = _TEXT.sub("", _LINE_COMMENT.sub("", task.template.prompt))
    braces = "}" * (bare.count("{") - bare.count("}"))
    if bodies is None or not braces:
        return
    for body in _constants(bodies, bare):
        yield Cheat(kind="constant_passes", name=body, code=f"    {body}\n{braces}\n")
    for name, body in bodies.hacks.items() if with_hacks else ():
        yield Cheat(kind="hack_passes", name=name, code=f"    {body}\n{braces}\n")


def _constants(bodies: _Bodies, prompt: str) -> tuple[str, ...]:
    for pattern, found in bodies.constants:
        if not pattern or re.search(pattern, prompt):
            return found
    return ()
