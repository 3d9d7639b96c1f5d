"""Completions that are judged by tests in Python."""

from __future__ import annotations

from dataclasses import replace

from reward_server.domain import MEBIBYTE, Extraction, Submission, Tests
from tests.attacks.attack import code
from tests.support.common import FILE_LIMITS

LIMITS = replace(FILE_LIMITS, processes=64, memory_bytes=512 * MEBIBYTE)


def submission_of(completion: str, tests: Tests, prompt: str = "") -> Submission:
    return Submission(
        prompt=prompt,
        completion=code(completion),
        tests=tests,
        limits=LIMITS,
        extraction=Extraction.NONE,
    )
