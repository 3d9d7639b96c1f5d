"""Tests in Python that an isolated judge runs."""

from __future__ import annotations

from dataclasses import replace

from reward_server.domain import (
    MEBIBYTE,
    Extraction,
    Framework,
    FunctionTests,
    Submission,
    Tests,
    UnitTests,
)
from tests.attacks.attack import code
from tests.support.common import FILE_LIMITS

LIMITS = replace(FILE_LIMITS, processes=64, memory_bytes=512 * MEBIBYTE)

# As EvalPlus compares in HumanEval+ and MBPP+.
EVALPLUS = """
import numpy as np

def is_floats(x):
    return isinstance(x, float) or (
        isinstance(x, (list, tuple)) and all(isinstance(i, float) for i in x)
    )

def assertion(out, exp, atol):
    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if out != exp and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert out == exp, f"out: {out}, exp: {exp}"

"""


def check(body: str, entry: str = "f") -> FunctionTests:
    return FunctionTests(entry_point=entry, test_code=code(body))


def suite(body: str) -> UnitTests:
    return UnitTests(framework=Framework.PYTEST, files=(("test_s.py", code(body)),))


def submission_of(completion: str, tests: Tests, prompt: str = "") -> Submission:
    return Submission(
        prompt=prompt,
        completion=code(completion),
        tests=tests,
        limits=LIMITS,
        extraction=Extraction.NONE,
    )
