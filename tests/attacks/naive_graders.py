"""Graders of the kinds in use, each naive in a way of its own. Runs only in the box of `naive`.

The exit status tells what the grader concluded: AWARDED or REFUSED; anything else says that the
completion broke the grader. Every grader takes the same specification: the completion, perhaps a
completion to judge before it ("plant"), and the tests.
"""

from __future__ import annotations

import copy
import json
import mmap
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

AWARDED = 42
REFUSED = 43
PATIENCE_SECONDS = 20.0

Specification = dict[str, Any]
FORK = multiprocessing.get_context("fork")


def in_process(specification: Specification) -> bool:
    """Executes program and tests in a forked child, which reports that it got to the end."""

    def work(sender: Connection) -> None:
        try:
            exec(_program(specification), {"__name__": "program"})
        except BaseException as error:  # noqa: BLE001  # as naive as its model
            sender.send(f"failed: {error!r}")
        else:
            sender.send("passed")

    return _reports_of(work)[:1] == ["passed"]


def one_process(specification: Specification) -> bool:
    """Executes program and tests in the grader's own process, one completion after another."""
    try:
        exec(_program(specification), {"__name__": "program"})
    except BaseException:  # noqa: BLE001  # as naive as its model
        return False
    return True


def assert_by_assert(specification: Specification) -> bool:
    """Executes the solution, then each assert, in one namespace of a forked child."""

    def work(sender: Connection) -> None:
        namespace: dict[str, object] = {"__name__": "program"}
        exec(specification["completion"], namespace)
        for line in specification["asserts"]:
            exec(line, namespace)
        sender.send("passed")

    return _reports_of(work)[:1] == ["passed"]


def exit_status(specification: Specification) -> bool:
    """Runs program and tests as a script and trusts its exit status."""
    return _run_script(_program(specification)).returncode == 0


def pytest_status(specification: Specification) -> bool:
    """Runs pytest next to the solution and trusts its exit status."""
    test = f"from solution import *\n{specification['test_code']}\n"
    test += f"def test_solution():\n    check({specification['entry_point']})\n"
    Path("solution.py").write_text(specification["completion"])
    Path("test_solution.py").write_text(test)
    command = [specification["python"], "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    finished = subprocess.run(command, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    return finished.returncode == 0


def unittest_files(specification: Specification) -> bool:
    """Runs test files with unittest, next to the solution, and trusts the exit status."""
    return _run_files(specification, "-m", "unittest", "discover") == 0


def pytest_files(specification: Specification) -> bool:
    """Runs test files with pytest, next to the solution, and trusts the exit status."""
    return _run_files(specification, "-m", "pytest", "-q", "-p", "no:cacheprovider") == 0


def _run_files(specification: Specification, *arguments: str) -> int:
    for name, text in specification["files"].items():
        Path(name).write_text(text)
    Path("solution.py").write_text(specification["completion"])
    command = [specification["python"], "-B", *arguments]
    finished = subprocess.run(command, capture_output=True, timeout=PATIENCE_SECONDS, check=False)
    return finished.returncode


def nonce_record(specification: Specification) -> bool:
    """Runs program and tests; the last statement writes a secret to a descriptor."""
    nonce = os.urandom(32).hex()
    reader, writer = os.pipe()
    program = f"{_program(specification)}\nimport os\nos.write({writer}, b'{nonce}')\n"
    command = [sys.executable, "-c", program]
    subprocess.run(
        command, capture_output=True, pass_fds=[writer], timeout=PATIENCE_SECONDS, check=False
    )
    os.close(writer)
    return nonce.encode() in os.read(reader, 1 << 16)


COUNTING = """
import json as _json
_outcomes = []
for _case in _json.loads({cases!r}):
    try:
        _outcomes.append({entry_point}(*_case["args"]) == _case["expected"])
    except Exception:
        _outcomes.append(False)
_record = _json.dumps({{"passed": sum(map(bool, _outcomes)), "total": len(_outcomes)}})
"""


def last_line(specification: Specification) -> bool:
    """Runs a script which counts passed cases and prints the counts as its last line."""
    finished = _run_script(_counting(specification) + "print(_record)\n")
    lines = finished.stdout.splitlines()
    return bool(lines) and _is_full_score(lines[-1])


def verdict_file(specification: Specification) -> bool:
    """Runs a script which counts passed cases and leaves the counts in a file."""
    _run_script(_counting(specification) + "open('verdict.json', 'w').write(_record)\n")
    return _is_full_score(Path("verdict.json").read_text())


def per_case(specification: Specification) -> bool:
    """Calls the solution case by case in a forked child, which compares and reports."""

    def work(sender: Connection) -> None:
        function = _load(specification)
        outcomes = []
        for case in specification["cases"]:
            expected = case["expected"]
            try:
                outcomes.append(bool(function(*copy.deepcopy(case["args"])) == expected))
            except Exception:  # noqa: BLE001  # as naive as its model
                outcomes.append(False)
        sender.send(outcomes)

    reports = _reports_of(work)
    return bool(reports) and reports[-1] == [True] * len(specification["cases"])


def all_received(specification: Specification) -> bool:
    """Sends each outcome as it is known, and awards if every outcome received is good."""

    def work(sender: Connection) -> None:
        function = _load(specification)
        for case in specification["cases"]:
            sender.send(function(*case["args"]) == case["expected"])

    return all(_reports_of(work))


def pickled_results(specification: Specification) -> bool:
    """Compares in a process of its own, but takes results as pickles."""

    def work(sender: Connection) -> None:
        function = _load(specification)
        for case in specification["cases"]:
            sender.send(function(*case["args"]))

    expected = [case["expected"] for case in specification["cases"]]
    return _reports_of(work) == expected


def framed_verdicts(specification: Specification) -> bool:
    """Asks a worker over a socket, in lines of JSON, whether each numbered case passed."""
    ours, theirs = socket.socketpair()
    process = FORK.Process(target=_answer_cases, args=(ours, theirs, specification))
    process.start()
    theirs.close()
    ours.settimeout(PATIENCE_SECONDS)
    passed = set()
    for line in ours.makefile("r", errors="replace"):
        with suppress(ValueError, KeyError, TypeError):
            answer = json.loads(line)
            passed |= {answer["id"]} if answer["passed"] is True else set()
    return passed >= set(range(len(specification["cases"])))


def shared_flags(specification: Specification) -> bool:
    """Lets the child set one flag a case in memory shared with the grader."""
    cases = specification["cases"]
    flags = mmap.mmap(-1, len(cases))

    def work(sender: Connection) -> None:
        function = _load(specification)
        for number, case in enumerate(cases):
            flags[number] = function(*case["args"]) == case["expected"]

    _reports_of(work)
    return all(flags[: len(cases)])


def stdio_exact(specification: Specification) -> bool:
    """Runs the program case by case and compares as it should, but shares its surroundings."""
    return all(
        _output_of(specification, case).split() == case["expected_stdout"].split()
        for case in specification["cases"]
    )


def stdio_zip(specification: Specification) -> bool:
    """Compares line by line until the shorter text ends."""
    return all(
        got == wanted
        for case in specification["cases"]
        for got, wanted in zip(
            _output_of(specification, case).splitlines(),
            case["expected_stdout"].splitlines(),
            strict=False,
        )
    )


def stdio_contains(specification: Specification) -> bool:
    """Looks for every expected line somewhere in the output."""
    return all(
        set(case["expected_stdout"].split()) <= set(_output_of(specification, case).split())
        for case in specification["cases"]
    )


def stdio_tolerant(specification: Specification) -> bool:
    """Refuses a number that is further off than a tolerance."""
    for case in specification["cases"]:
        wanted = [float(token) for token in case["expected_stdout"].split()]
        got = [float(token) for token in _output_of(specification, case).split()]
        pairs = list(zip(got, wanted, strict=False))
        if any(abs(a - b) > 1e-6 + 1e-6 * max(abs(a), abs(b)) for a, b in pairs):
            return False
    return True


def stdio_on_disk(specification: Specification) -> bool:
    """Keeps the tests as files next to the program, and names their folder to it."""
    folder = Path("tests")
    folder.mkdir()
    os.environ["TESTS_FOLDER"] = str(folder.resolve())
    for number, case in enumerate(specification["cases"]):
        (folder / f"{number}.in").write_text(case["stdin"])
        (folder / f"{number}.out").write_text(case["expected_stdout"])
    return stdio_exact(specification)


def stdio_open_file(specification: Specification) -> bool:
    """Keeps the expected output in an unlinked file which it holds open."""
    with tempfile.TemporaryFile("w+") as file:
        json.dump(specification["cases"], file)
        file.flush()
        return stdio_exact(specification)


def stdio_in_process(specification: Specification) -> bool:
    """Executes the program with patched streams in a forked child, which compares."""

    def work(sender: Connection) -> None:
        for case in specification["cases"]:
            expected = case["expected_stdout"]
            sys.stdin, sys.stdout = StringIO(case["stdin"]), StringIO()
            exec(specification["completion"], {"__name__": "__main__"})
            sender.send(bool(sys.stdout.getvalue() == expected))

    return _reports_of(work) == [True] * len(specification["cases"])


GRADERS: dict[str, Callable[[Specification], bool]] = {
    grader.__name__: grader
    for grader in (
        in_process,
        one_process,
        assert_by_assert,
        exit_status,
        pytest_status,
        unittest_files,
        pytest_files,
        nonce_record,
        last_line,
        verdict_file,
        per_case,
        all_received,
        pickled_results,
        framed_verdicts,
        shared_flags,
        stdio_exact,
        stdio_zip,
        stdio_contains,
        stdio_tolerant,
        stdio_on_disk,
        stdio_open_file,
        stdio_in_process,
    )
}


def _program(specification: Specification) -> str:
    parts = [specification["prompt"], specification["completion"], specification["setup_code"]]
    if specification["asserts"]:
        return "\n".join([*parts, *specification["asserts"], ""])
    call = f"check({specification['entry_point']})"
    return "\n".join([*parts, specification["test_code"], call, ""])


def _counting(specification: Specification) -> str:
    cases = json.dumps(specification["cases"])
    harness = COUNTING.format(cases=cases, entry_point=specification["entry_point"])
    return f"{specification['completion']}\n{harness}"


def _is_full_score(record: str) -> bool:
    counts = json.loads(record)
    return bool(counts["total"]) and counts["passed"] == counts["total"]


def _load(specification: Specification) -> Callable[..., object]:
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(specification["completion"], namespace)
    function: Callable[..., object] = eval(specification["entry_point"], namespace)
    return function


def _answer_cases(
    judges_end: socket.socket, connection: socket.socket, specification: Specification
) -> None:
    judges_end.close()
    function = _load(specification)
    for number, case in enumerate(specification["cases"]):
        passed = bool(function(*case["args"]) == case["expected"])
        connection.sendall(json.dumps({"id": number, "passed": passed}).encode() + b"\n")


def _reports_of(work: Callable[[Connection], None]) -> list[object]:
    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=work, args=(sender,))
    process.start()
    process.join(PATIENCE_SECONDS)
    reports = []
    with suppress(EOFError):
        while receiver.poll():
            reports.append(receiver.recv())
    return reports


def _run_script(source: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    Path("main.py").write_text(source)
    return subprocess.run(
        [sys.executable, "main.py"],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def _output_of(specification: Specification, case: dict[str, str]) -> str:
    return _run_script(specification["completion"], case["stdin"]).stdout


def main() -> None:
    """Judges the specification on standard input and leaves with the conclusion."""
    text = sys.stdin.read()
    specification = json.loads(text)
    grader = GRADERS[specification["grader"]]
    if specification["plant"]:
        grader({**specification, **specification["plant"]})
    awarded = grader(specification)
    os._exit(AWARDED if awarded else REFUSED)


if __name__ == "__main__":
    main()
