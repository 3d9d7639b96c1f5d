"""Test programs taken apart into the tests' program and the solution's, which talk over pipes.

What this stops: a solution that reads what the tests expect, redefines what compares, or returns
objects that are equal to everything. The tests' program is made of trusted text alone: stubs, which
send calls and read answers, stand in the solution's place. The solution's program is the solution
and a loop that answers calls. Neither holds a word of the other.

What it does not: judge what is no data. Tests that hand over functions, or look at the solution's
own classes, cannot be taken apart; which ones, the text of prompt and tests decides.

Both programs read descriptor 3 and write descriptor 4. A *frame* is a big-endian u32, the length of
its payload, and the payload, which begins with its kind. Numbers are big-endian; `str` is a u32,
the length in bytes, and UTF-8 in which lone surrogates are kept (WTF-8).

From the tests' program:
    C   u32 id, str function, arguments: a call; ids count up from 1, one at a time. In Rust the
        u32 number of the thread that calls stands in front of the arguments
    F   str message: the last answer is malformed; the program's last frame
    S   str message: an argument stays here, as it cannot cross; the program's last frame. It is
        said of what the tests themselves made. What is too large or too deep, or is a method of an
        object, an answer may have led to: that is the solution's failure
From the solution's program:
    R   u32 id, results: the answer
    E   u32 id, an exception: the call raised one
    X   str message: the solution does not compile; in the place of an answer

Whoever relays the frames looks at kinds and ids only. A value is a tag and its content, such as
    n null, t true, f false, u undefined
    w i32, i i64, I str of decimal digits (in Java of bytes), d f64, c i64 (a character), s str
    @ u32: an object, by its number

In Go, Java and JavaScript whatever can be changed, or can be told from its like, is an object. It
has the same number in both programs from the first frame that holds it. Arguments, results and
exceptions are
    u32 count, and of each object that is new what it is made as; the next numbers are theirs
    u32 count, and of each object that is new or has changed u32 number and what is in it
    u32 count and values
so that both programs have the same in their objects when one of them goes on, as if they were one.
What exactly an object is made as, and what is in it, is in each language's own support file. After
much has been looked at, those that no frame mentions are looked at in turn.

In C++ and Rust, where values are copied as they are handed over, values are nested:
    l u32 count and values (a sequence), e the same (a set), p the same (a pair or tuple)
    m u32 count, and as many keys and values in turn; b u32 length and bytes
    o value (an option that has one; an empty one is n)
    r str type, u32 count, and as many str field and value in turn (a record)
and an answer holds the arguments that the call may have changed, in order, and the result as the
last. Which tests could tell these copies from the values, `aliasing` knows.

The tests' program reads values like bytes from an enemy: at most `MOST_DEPTH` deep, counts checked
against the bytes that are left before anything is made of them, no byte behind the last value.
"""

from __future__ import annotations

from reward_server.grading.compiled_tests.split.base import (
    MOST_DEPTH,
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

__all__ = ["MOST_DEPTH", "SPLITTERS", "Source", "Split", "Splitter", "Task"]

# By the name that a language's table [program] gives as `split`.
SPLITTERS: dict[str, Splitter] = {
    "cpp": split_cpp,
    "go": split_go,
    "java": split_java,
    "javascript": split_javascript,
    "rust": split_rust,
    "typescript": split_typescript,
}
