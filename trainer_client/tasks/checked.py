"""Rows whose outputs a checker judges: open-r1's Codeforces problems.

A checker of open-r1 is a program in Python. It gets the paths of input, right output and solution's
output, and prints 1 if the solution is right. A checker of testlib is a program in C++. It gets the
paths of input, solution's output and right output, and tells its verdict by its exit status. The
server passes the paths in testlib's order; exit status 0 accepts and 1 rejects.
"""

from __future__ import annotations

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.programs import stdio_case
from trainer_client.tasks.rows import Reader, Row
from trainer_client.text import well_formed

# It runs a checker of open-r1 with its order of arguments, and makes an exit status of its output.
# What a checker cannot read is the solution's fault, as in open-r1's own grader.
_ADAPTER = """\
import contextlib, io, runpy, sys
from pathlib import Path
given, answered, expected = sys.argv[1:4]
Path("checker.py").write_text({source!r}, encoding="utf-8")
sys.argv = ["checker.py", given, expected, answered]
told = io.StringIO()
try:
    with contextlib.redirect_stdout(told):
        runpy.run_path("checker.py", run_name="__main__")
except SystemExit as end:
    if end.code not in (None, 0):
        sys.exit(1)
except Exception:
    sys.exit(1)
sys.exit(0 if told.getvalue().strip() in ("1", "1.0") else 1)
"""
# Without these, testlib ends with 2 for output in a wrong format, and with 8 for too little output.
_TESTLIB_STATUSES = "#define PE_EXIT_CODE 1\n#define UNEXPECTED_EOF_EXIT_CODE 1\n"


@bounded("codeforces")
def codeforces(
    row: Row, completion: str = "", *, id: str = "", language: str = "python"
) -> pb.ScoreRequest:
    """Makes a request from a row of open-r1's Codeforces problems.

    Reads `official_tests` and `examples`, and `generated_checker` if the row has one. The row's
    time limit is left out, because it is meant for compiled programs.

    Args:
        row: the row.
        completion: the model's output; empty for a template.
        id: the request's id.
        language: the language of completions.

    Raises:
        TaskError: a field is absent or wrong, or the problem reads a file or is interactive.
    """
    reader = Reader("codeforces", row)
    if reader.optional_text("input_mode") not in ("", "stdio"):
        raise reader.error("input_mode", "the program would read a file; this is not served")
    if reader.has("interaction_format"):
        raise reader.error("interaction_format", "the row has no interactor for its problem")
    field = "official_tests" if reader.has("official_tests") else "examples"
    tests = reader.decoded(field) or []
    if not isinstance(tests, list) or not tests:
        raise reader.error(field, "there are no tests")
    cases = [reader.within(f"{field}[{index}]", test) for index, test in enumerate(tests)]
    request = pb.ScoreRequest(id=id, language=language, completion=well_formed(completion))
    request.stdio.cases.extend(
        stdio_case(case.optional_text("input"), case.optional_text("output")) for case in cases
    )
    if checker := reader.optional_text("generated_checker"):
        request.stdio.checker.CopyFrom(open_r1_checker(checker))
    return request


def open_r1_checker(source: str) -> pb.Checker:
    """Returns a checker of open-r1's form, which prints 1 for a right solution.

    Args:
        source: the checker, a program in Python.
    """
    return pb.Checker(
        kind=pb.CHECKER_KIND_PROGRAM,
        program=_ADAPTER.format(source=well_formed(source)),
        program_language="python",
    )


def testlib_checker(source: str) -> pb.Checker:
    """Returns a checker that uses testlib.

    Args:
        source: the checker, a program in C++ that contains testlib.h instead of including it.
    """
    return pb.Checker(
        kind=pb.CHECKER_KIND_PROGRAM,
        program=_TESTLIB_STATUSES + well_formed(source),
        program_language="c++",
    )
