"""Splits test programs into the tests' program and the solution's, which talk over pipes.

What this stops: a solution that reads the expected values, redefines comparisons, or returns
objects that are equal to everything. The tests' program is made of trusted text only: instead of
the solution it has stubs, which send calls and read answers. The solution's program is the solution
and a loop that answers calls. Neither program contains text of the other.

What it does not: judge values that are not data. Tests that pass functions, or look at the
solution's own classes, cannot be split. The text of prompt and tests decides which ones can.

Both programs read descriptor 3 and write descriptor 4. A *frame* is a big-endian u32, the length of
its payload, and the payload, which begins with its kind. Numbers are big-endian; `str` is a u32,
the length in bytes, and UTF-8 in which lone surrogates are kept (WTF-8).

From the tests' program:
    C   u32 id, str function, arguments: a call; ids count up from 1, one at a time. In Rust the
        u32 number of the thread that calls stands in front of the arguments
    F   str message: the last answer is malformed; the program's last frame
    S   str message: an argument cannot cross; the program's last frame. It is sent only for values
        that the tests themselves made. An answer may have led to a value that is too large or too
        deep, or to a method of an object; that is the solution's failure
From the solution's program:
    R   u32 id, results: the answer
    E   u32 id, an exception: the call raised one
    X   str message: the solution does not compile; instead of an answer

The relay of the frames reads kinds and ids only. A value is a tag and its content, such as
    n null, t true, f false, u undefined
    w i32, i i64, I str of decimal digits, d f64, c i64 (a character), s str

Values are nested, and each is a copy:
    l u32 count and values (a sequence), e the same (a set), p the same (a pair or tuple)
    m u32 count, and as many keys and values in turn; b u32 length and bytes
    o value (an option that has one; an empty one is n)
    r str type, u32 count, and as many str field and value in turn (a record)
Arguments are a u32 count and values; an answer is one value, or in Go a u32 count and values. No
argument comes back: `grading.crossing` allows no tests that would look at one again.

The tests' program does not trust the bytes of values: they are at most 1,000 deep, counts
are checked against the remaining bytes before anything is allocated, and no byte follows the last
value.
"""

from __future__ import annotations

from reward_server.grading.compiled_tests.split.base import (
    Source,
    Split,
    Splitter,
    Task,
)
from reward_server.grading.compiled_tests.split.cpp import split_cpp
from reward_server.grading.compiled_tests.split.go import split_go
from reward_server.grading.compiled_tests.split.java import split_java
from reward_server.grading.compiled_tests.split.javascript import split_javascript, split_typescript
from reward_server.grading.compiled_tests.split.rust import split_rust
from reward_server.grading.crossing import missing_package, refusal

__all__ = ["SPLITTERS", "Source", "Split", "Splitter", "Task", "taken_apart"]

# The splitters, by the name in `split` of a language's table [program].
SPLITTERS: dict[str, Splitter] = {
    "cpp": split_cpp,
    "go": split_go,
    "java": split_java,
    "javascript": split_javascript,
    "rust": split_rust,
    "typescript": split_typescript,
}


def taken_apart(name: str, task: Task) -> Split | str:
    """Splits a test program, or returns why its tests need the solution itself.

    Args:
        name: that of a splitter.
        task: the test program.
    """
    if missing := missing_package(name):
        return f"the server lacks the package {missing}: install the extra [compiled]"
    split = SPLITTERS[name](task)
    if split is None:
        return "the prompt does not end in a function, open and with a signature of data alone"
    return refusal(name, split.before, task.tests, split.solution) or split
