r"""Records every request that tests have judged, without judging it: rows for `benchmarks.frozen`.

    REWARD_SERVER_TEST_ALL=1 .venv/bin/python -m pytest -p benchmarks.frozen.recording \
        --record rows.jsonl.xz tests/attacks tests/honest tests/split

No server starts. Each request gets the answer that its completion failed, so that of a test which
goes by another answer only the requests before it are there.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

import reward_server.app
from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import (
    Assessment,
    CallTests,
    FunctionTests,
    Integrity,
    Limits,
    ProgramTests,
    RepositoryTests,
    StdioTests,
    Submission,
    Tests,
    UnitTests,
    Verdict,
)
from reward_server.grading.compiled_tests.split import Source, Split
from tests.split.programs import Workshop

IMAGES = ("engine", "program_images", "language_images", "base_image", "python_image")
MOST_BYTES = 100_000  # larger requests are about sizes
KINDS: Mapping[type, str] = {
    FunctionTests: "function",
    CallTests: "call",
    StdioTests: "stdio",
    UnitTests: "unit",
    ProgramTests: "program",
}
_recorded: dict[str, pb.ScoreRequest] = {}
_bodies: set[bytes] = set()
_counts: Counter[str] = Counter()
_running = ""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that names the file."""
    parser.addoption("--record", type=Path, required=True)


@pytest.hookimpl(tryfirst=True)  # before what imports them
def pytest_load_initial_conftests() -> None:
    """Puts what records in the place of servers, and of compilers of tests that run apart."""
    reward_server.app.running_app = _app  # type: ignore[assignment]  # its evaluation alone is used
    taken_apart = Workshop.taken_apart

    def noted(shop: Workshop, prompt: str, tests: str) -> _Noted | None:
        split = taken_apart(shop, prompt, tests)
        return _Noted(split, shop.language.name, prompt, tests) if split else None

    Workshop.taken_apart = noted  # type: ignore[assignment, method-assign]
    Workshop.compiled = lambda *_: ["true"]  # type: ignore[method-assign]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Notes the test."""
    global _running  # hooks have no other place that they share
    _running = item.nodeid.removeprefix("tests/")


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> object:
    """Makes no images."""
    if fixturedef.argname not in IMAGES:
        return None
    fixturedef.cached_result = ("none",), fixturedef.cache_key(request), None
    return fixturedef.cached_result[0]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes the file."""
    lines = (
        json.dumps({**_named(name, request), "request": MessageToDict(request)}) + "\n"
        for name, request in sorted(_recorded.items())
    )
    session.config.getoption("record").write_bytes(lzma.compress("".join(lines).encode()))


def _named(name: str, request: pb.ScoreRequest) -> dict[str, str]:
    test, _, number = name.rpartition("#")
    folder, _, row = test.partition("/")
    language = request.language.rstrip("0123456789")
    chosen = folder if language == "python" else f"{folder}_{language}"
    return {"set": chosen, "row": row, "solution": number}


@asynccontextmanager
async def _app(*_: object) -> AsyncIterator[SimpleNamespace]:
    yield SimpleNamespace(evaluation=SimpleNamespace(score=_score))


async def _score(submission: Submission) -> Assessment:
    if not isinstance(submission.tests, RepositoryTests):
        _record(_request(submission))
    return Assessment(verdict=Verdict.FAILED, reward=0.0, integrity=Integrity.ISOLATED)


def _record(request: pb.ScoreRequest) -> None:
    body = request.SerializeToString(deterministic=True)
    if len(body) <= MOST_BYTES and body not in _bodies:
        _bodies.add(body)
        _counts[_running] += 1
        _recorded[f"{_running}#{_counts[_running]}"] = request


@dataclass
class _Noted:
    """Tests that run apart; each solution that is to serve them is recorded."""

    split: Split
    language: str
    prompt: str
    tests: str

    @property
    def stubs(self) -> Source:
        return self.split.stubs

    def serving(self, program: str) -> Source:
        tests = pb.ProgramTests(test_code=self.tests)
        request = pb.ScoreRequest(language=self.language, prompt=self.prompt, program=tests)
        request.completion = program.removeprefix(self.prompt)
        request.extraction = pb.EXTRACTION_NONE
        _record(request)
        return self.split.serving(program)


def _request(given: Submission) -> pb.ScoreRequest:
    request = pb.ScoreRequest(
        language=given.language,
        prompt=given.prompt,
        completion=given.completion,
        extraction=pb.Extraction.ValueType(given.extraction.value),
        files=dict(given.files),
        data_files=dict(given.data_files),
    )
    if given.limits != Limits():
        _fill(request.limits, given.limits)
    _fill(request.reward_policy, given.reward_policy)
    _tests(request, given.tests)
    return request


def _tests(request: pb.ScoreRequest, tests: Tests) -> None:
    made = getattr(request, KINDS[type(tests)])
    made.SetInParent()
    if isinstance(tests, UnitTests):
        made.framework, made.solution_path = tests.framework.value, tests.solution_path
        made.files.update(tests.files)
        return
    _fill(made, tests)


def _fill(message: Any, value: Any) -> None:
    """Copies the fields of a value into the message of the same names."""
    for name in (field.name for field in fields(value)):
        part = getattr(value, name)
        if isinstance(part, tuple):
            for one in part:
                _append(getattr(message, name), one)
        elif hasattr(part, "__dataclass_fields__"):
            _fill(getattr(message, name), part)
        elif part or name == "weight":
            setattr(message, name, getattr(part, "value", part))


def _append(many: Any, one: Any) -> None:
    if isinstance(one, str):
        many.append(one)
    else:
        _fill(many.add(), one)
