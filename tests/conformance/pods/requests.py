"""Tasks for pods: HumanEval with its solutions, and attacks on every kind of tests."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from reward_server.domain import (
    CallTests,
    FunctionTests,
    ProgramTests,
    StdioCase,
    StdioTests,
    Tests,
    UnitTests,
)
from tests.attacks.corpus import ATTACKS, suites
from tests.attacks.corpus.probes import ESCAPED, PROBES
from tests.attacks.programs.program_attacks import PROGRAM_ATTACKS, TESTS
from tests.e2e.support.rows import solved_task
from tests.support.sampling import TAKES_ALL, sampled

_NOT_OFFERED = "FAILED_PRECONDITION"
SAMPLE = 16  # every so-manieth row in an ordinary run
LANGUAGES = ("python", "c++17")

Task = dict[str, Any]
Result = dict[str, Any]


def humaneval(data_folder: Path) -> list[Task]:
    """Returns solved tasks; their verdict is PASSED."""
    lines = (data_folder / "HumanEval.jsonl").read_text().splitlines()
    return [solved_task(json.loads(line)) for line in (lines if TAKES_ALL else lines[::SAMPLE])]


def memory_bomb(*, mebibytes: int, limit_mebibytes: int = 256) -> Task:
    """Returns a program that takes more memory than its limit."""
    tests = StdioTests(cases=(StdioCase(stdin=b"", expected_stdout=b"taken\n"),))
    program = f"kept = b'x' * ({mebibytes} << 20)\nprint('taken')\n"
    limits = {"memory_bytes": limit_mebibytes << 20}
    return {**_task("memory bomb", program, tests), "limits": limits}


def sleeper(marker: str, *, seconds: int, number: int = 0) -> Task:
    """Returns a program that sleeps in a process with this name, and then writes its number."""
    tests = StdioTests(cases=(StdioCase(stdin=b"", expected_stdout=b"%d\n" % number),))
    program = f"""
import subprocess
subprocess.run([{marker!r}, '{seconds}'], executable='/usr/bin/sleep')
print({number})
"""
    return _task(f"{marker} {number}", program, tests)


def not_passed(results: Sequence[Result]) -> list[Result]:
    """Returns the results that are no full reward."""
    return [one for one in results if (one["verdict"], one["reward"]) != ("PASSED", 1.0)]


def rewarded(results: Sequence[Result]) -> list[Result]:
    """Returns the results of attacks that got anything, or were not judged for a reason of ours.

    Tests that live with a solution by their text are not offered as ISOLATED, and pytest is not in
    every image.
    """
    judged = [one for one in results if one["error"] is None]
    assert len(judged) > len(results) * 3 / 4
    reasons = [one for one in results if one["error"] and one["error"]["status"] != _NOT_OFFERED]
    return [*reasons, *(one for one in judged if one["reward"] != 0)]


def attacks(*, compiled: bool = True, unfit: Collection[str] = ()) -> list[Task]:
    """Returns attacks of every kind, some of each in an ordinary run.

    Attacks that another completion prepares are left to `tests/attacks`.

    Args:
        compiled: whether to attack test programs that are compiled, too.
        unfit: the probes that say nothing in the sandboxes, see `tests.conformance.suite.reach`.
    """
    programs = _of_programs() if compiled else ()
    return [*_of_problems(), *_of_probes(unfit), *_of_suites(), *programs]


def _of_problems() -> Iterator[Task]:
    by_kind: dict[type, list[Task]] = {}
    for one in (one for one in ATTACKS if one.plant is None):
        task = _task(one.name, one.completion, one.problem.tests, one.problem.prompt)
        by_kind.setdefault(type(one.problem.tests), []).append(task)
    assert by_kind.keys() >= {FunctionTests, CallTests, StdioTests}
    for tasks in by_kind.values():
        yield from sampled(tasks, SAMPLE)


def _of_probes(unfit: Collection[str]) -> Iterator[Task]:
    for probe in sampled([one for one in PROBES if one.name not in unfit], SAMPLE):
        yield _task(probe.name, probe.completion, ESCAPED)


def _of_suites() -> Iterator[Task]:
    for suite in sampled(suites.ATTACKS, SAMPLE):
        yield _task(suite.name, suite.completion, suite.tests)


def _of_programs() -> Iterator[Task]:
    compiled = [one for one in PROGRAM_ATTACKS if one.language == "c++"]
    for one in sampled(compiled, SAMPLE):
        task = _task(one.name, one.completion, ProgramTests(test_code=TESTS["c++"]))
        yield {**task, "language": "c++17"}


def _task(name: str, completion: str, tests: Tests, prompt: str = "") -> Task:
    return {
        "id": name,
        "prompt": prompt,
        "completion": completion,
        "extraction": "EXTRACTION_NONE",
        **_tests(tests),
    }


def _tests(tests: Tests) -> Task:
    match tests:
        case FunctionTests():
            named = {"entry_point": tests.entry_point, "test_code": tests.test_code}
            rest = {"asserts": list(tests.asserts), "setup_code": tests.setup_code}
            # Tests that live with a solution by their text are not judged so: that is no reward.
            return {"function": {**named, **rest}, "require_integrity": "INTEGRITY_ISOLATED"}
        case CallTests():
            calls = [
                {"args_json": one.args_json, "expected_json": one.expected_json}
                for one in tests.cases
            ]
            return {"call": {"entry_point": tests.entry_point, "cases": calls}}
        case StdioTests():
            runs = [
                {"stdin": _bytes(one.stdin), "expected_stdout": _bytes(one.expected_stdout)}
                for one in tests.cases
            ]
            kind = tests.checker.kind.value
            return {"stdio": {"cases": runs, "checker": {"kind": kind}}}
        case UnitTests():
            framework = f"FRAMEWORK_{tests.framework.name}"
            return {"unit": {"framework": framework, "files": dict(tests.files)}}
        case ProgramTests():
            return {"program": {"test_code": tests.test_code}}


def _bytes(data: bytes) -> str:
    return base64.b64encode(data).decode()
