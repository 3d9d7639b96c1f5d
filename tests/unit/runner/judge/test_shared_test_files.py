"""What the candidate is told beside its tests, as it goes over the wire."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reward_server.domain import Framework, Job, Limits, UnitJudgement, UnitTests
from reward_server.runner import requests
from reward_server.runner.judge import handover, shared_test_files
from reward_server.runner.judge.link import Link
from reward_server.runner.judge.report import Report
from reward_server.runner.requests import Program, SharedRequest
from reward_server.sandbox.runner_documents import request_document

TEXT = "import solution\ndef test_f():\n    assert solution.f(1) == {want}\n"
TRUE = UnitJudgement(
    source="def f(x): return 10",
    tests=UnitTests(
        framework=Framework.PYTEST,
        files=(("test_f.py", TEXT.format(want=10)),),
        solution_path="solution.py",
    ),
    files={"helper.py": b"x = 1"},
    data={"table.csv": b"1,2"},
    shared=True,
    stop_at_first_failure=True,
)


class HandedOverError(Exception):
    """Ends a run once the program was handed over."""


def told(work: UnitJudgement, monkeypatch: pytest.MonkeyPatch) -> tuple[bytes, dict[str, bytes]]:
    """Returns the header that the candidate gets, packed, and the blobs."""
    found: list[tuple[Program, dict[str, bytes]]] = []

    def hand_over(link: object, report: object, program: Program, blobs: dict[str, bytes]) -> None:
        found.append((program, blobs))
        raise HandedOverError

    monkeypatch.setattr(handover, "hand_over", hand_over)
    job = Job(work=work, limits=Limits())
    request, blobs = requests.unpack(request_document(job))
    assert isinstance(request, SharedRequest)
    with pytest.raises(HandedOverError):
        shared_test_files.run(request, blobs, Link.__new__(Link), Report.__new__(Report))
    ((program, handed),) = found
    return requests.pack(program, {}), {name: bytes(blob) for name, blob in handed.items()}


@pytest.mark.parametrize("want", [10, 11, 9_999])
@pytest.mark.parametrize("stops", [True, False])
def test_true_run_and_twin_differ_in_the_text_of_tests_alone(
    monkeypatch: pytest.MonkeyPatch, want: int, stops: bool
) -> None:
    files = (("test_f.py", TEXT.format(want=want)),)
    twin = replace(TRUE, tests=replace(TRUE.tests, files=files), stop_at_first_failure=stops)
    (header, blobs), (other, others) = told(TRUE, monkeypatch), told(twin, monkeypatch)
    assert header == other
    assert list(blobs) == list(others)
    changed = {name for name in blobs if blobs[name] != others[name]}
    assert changed == ({"test/test_f.py"} if want != 10 else set())
