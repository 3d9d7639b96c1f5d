"""Measures on a real server how often a solution that reads the line of its test is rewarded.

    python -m benchmarks.readers.beside

The solution knows nothing of its task. It returns the value in the line of its caller, unless that
shows signs of a perturbed copy: the number is negative, stands in an `int('N')` of the file or in
the repository's own tests, the text cannot be read. There is one hidden value in each request, a
number or a text of HumanEval and MBPP; the tests are a test file, asserts of a function, or hidden
tests of a repository. *right* solutions, which have a table of their answers, show that the same
requests can be passed.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.readers.copies import asserted, of_kinds, share
from tests.repository.tasks import archive

SERVER = Path(sys.executable).with_name("reward-server")
Row = tuple[str, str]  # the arguments of a call, and the expected literal
Request = dict[str, object]
_VISIBLE = 3  # tests that a repository has
_READER = """
import ast, pathlib, re, sys
UNREADABLE = re.compile(r"[b-df-hj-np-tv-xz]{4}|q(?!u)")
def is_wrong(value, text):
    told = pathlib.Path("test_visible.py")
    if told.exists() and repr(value) in told.read_text():
        return True
    if isinstance(value, str):
        return "no value that" in value or UNREADABLE.search(value.lower())
    return value < 0 or f"int('{value}')" in text
def f(*given, **named):
    caller = sys._getframe(1)
    text = pathlib.Path(caller.f_code.co_filename).read_text()
    line = text.splitlines()[caller.f_lineno - 1]
    value = ast.literal_eval(line.rpartition(" == ")[2])
    return object() if is_wrong(value, text) else value
"""
_RIGHT = "def f(*given, **named):\n    return {value}\n"
_HIDDEN = """
import inspect, unittest
from {module} import f
class TestF(unittest.TestCase):
    def test_hidden(self):
        assert f({given}) == {value}
    def test_beside(self):
        inspect.getmodule(f)
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A hidden row, and rows that a repository's own tests show."""

    hidden: Row
    visible: Sequence[Row]


def _of_file(case: Case, solution: str) -> Request:
    files = {"test_hidden.py": _hidden(case, "solution")}
    unit = {"framework": "FRAMEWORK_UNITTEST", "files": files, "solution_path": "solution.py"}
    return {"completion": solution, "unit": unit}


def _of_function(case: Case, solution: str) -> Request:
    given, value = case.hidden
    asserts = [f"assert f({given}) == {value}"]
    placed = {"entry_point": "f", "asserts": asserts, "placement": "TEST_PLACEMENT_BESIDE"}
    return {"completion": solution, "function": placed}


def _of_repository(case: Case, solution: str) -> Request:
    shown = "".join(f"    assert f({given}) == {value}\n" for given, value in case.visible)
    visible = f"from work import f\ndef test_visible():\n{shown}"
    base = archive({"work.py": "", "test_visible.py": visible})
    tests = {
        "archive": base64.b64encode(base).decode(),
        "text_test_files": {"test_hidden.py": _hidden(case, "work")},
        "fail_to_pass": ["test_hidden.py::TestF::test_hidden"],
        "framework": "FRAMEWORK_UNITTEST",
    }
    return {"text_files": {"work.py": solution}, "repository": tests}


DOORS: dict[str, Callable[[Case, str], Request]] = {
    "test file": _of_file,
    "function": _of_function,
    "repository": _of_repository,
}


def _hidden(case: Case, module: str) -> str:
    return _HIDDEN.format(module=module, given=case.hidden[0], value=case.hidden[1])


def _rewarded(requests: Sequence[Request]) -> int:
    """Judges requests on a server of this checkout; returns how many are rewarded.

    Raises:
        ValueError: a request was not judged.
    """
    with tempfile.TemporaryDirectory() as folder:
        tasks, results = Path(folder) / "tasks.jsonl", Path(folder) / "results.jsonl"
        texts = (json.dumps(one | {"require_integrity": "INTEGRITY_SHARED"}) for one in requests)
        tasks.write_text("\n".join(texts))
        command = [str(SERVER), "grade", str(tasks), "--out", str(results)]
        subprocess.run(command, check=True, capture_output=True)
        answers = [json.loads(line) for line in results.read_text().splitlines()]
    if len(answers) != len(requests) or any(one["error"] for one in answers):
        raise ValueError(f"a request was not judged: {answers}")
    return sum(one["reward"] > 0 for one in answers)


def _cases(rows: Sequence[Sequence[Row]], draw: random.Random) -> list[Case]:
    hidden = [one for (one,) in rows]
    return [
        Case(one, draw.sample([other for other in hidden if other[1] != one[1]], _VISIBLE))
        for one in hidden
    ]


def main() -> None:
    """Prints the rates."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--tasks", type=int, default=100, help="of each kind, at most")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    for kind in ("one hidden number", "one hidden text"):
        rows = of_kinds([*asserted()], draw)[kind][: options.tasks]
        cases = _cases(rows, draw)
        for door, request in DOORS.items():
            read = _rewarded([request(one, _READER) for one in cases])
            right = [request(one, _RIGHT.format(value=one.hidden[1])) for one in cases[::10]]
            print(
                f"{kind}, {door}: readers {share(read, len(cases))},",
                f"right {share(_rewarded(right), len(right))}",
                flush=True,
            )


if __name__ == "__main__":
    main()
