"""Finds tests that could call the solution from several threads.

Only one call at a time passes between the two programs. So a counter without a lock would lose no
update, and two calls that wait for each other would wait for ever. Tests whose text starts a
thread, a goroutine or a task of a pool are judged in one program. Refusing too much costs a label,
and never a verdict.
"""

from __future__ import annotations

import re

from reward_server.grading.compiled_tests.split.hazards.trusting import RUST_TEXT
from reward_server.grading.compiled_tests.split.text.words import QUOTED

_TEXT = re.compile(rf"`[^`]*`|{QUOTED.pattern}")
_IMPORTS = re.compile(r"(?m)^[ \t]*#[ \t]*include\b[^\n]*|\bimport\s+(?!static\b)[\w.*\s]+;")
_STARTS = {
    "cpp": re.compile(
        r"\b(?:j?thread|async|packaged_task|execution|omp|(?:pthread|thrd)_\w+)\b"
        r"|__gnu_parallel"
    ),
    "java": re.compile(
        r"\bThread\b(?!\s*\.\s*(?:sleep|onSpinWait|yield)\b)|\b\w*(?:Execut(?:or|ion)|Future)\w*"
        r"|\b(?:ForkJoin|Recursive(?:Task|Action)|StructuredTask|CountedCompleter)\w*"
        r"|\bparallel\w*\s*\(|\bTimer(?:Task)?\b|\bSubmissionPublisher\b|\bCleaner\b"
    ),
    "go": re.compile(r"\bgo\b|\bAfterFunc\b|\.\s*(?:Go|Parallel|RunParallel)\s*\("),
    "rust": re.compile(r"\bspawn\w*|\bpar_\w+|\b(?:rayon|tokio|async)\b"),
}


def starts_threads(prompt: str, tests: str, language: str) -> bool:
    """Returns True if a task's text starts something that runs at the same time as the tests.

    Args:
        prompt: the part of the prompt that the tests' program contains.
        tests: the tests.
        language: the splitter's name.
    """
    text = RUST_TEXT if language == "rust" else _TEXT
    code = text.sub(" ", f"{prompt}\n{tests}")
    return _STARTS[language].search(_IMPORTS.sub(" ", code)) is not None
