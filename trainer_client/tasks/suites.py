"""Tests in files of a framework, and rows with such tests: BigCodeBench, ClassEval and KodCode."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import TaskError
from trainer_client.tasks.limits import bounded
from trainer_client.tasks.rows import Reader, Row
from trainer_client.text import well_formed

FRAMEWORKS: Mapping[str, tuple[pb.Framework.ValueType, str]] = MappingProxyType(
    {
        "pytest": (pb.FRAMEWORK_PYTEST, "python"),
        "unittest": (pb.FRAMEWORK_UNITTEST, "python"),
        "junit": (pb.FRAMEWORK_JUNIT, "java"),
        "node_test": (pb.FRAMEWORK_NODE_TEST, "javascript"),
        "go_test": (pb.FRAMEWORK_GO_TEST, "go"),
        "cargo_test": (pb.FRAMEWORK_CARGO_TEST, "rust"),
    }
)
_TEST_FILE = "test_solution.py"


@bounded("unit_tests")
def unit_tests(
    files: Mapping[str, str],
    completion: str = "",
    *,
    framework: str = "pytest",
    solution_path: str = "",
    prompt: str = "",
    id: str = "",
) -> pb.ScoreRequest:
    """Makes a request from test files.

    Args:
        files: content by relative path; the framework's rules decide which of them are tests.
        completion: the model's output; empty for a template.
        framework: "pytest" or "unittest"; "junit" for Java, "node_test" for JavaScript, "go_test"
            for Go, "cargo_test" for Rust.
        solution_path: path at which the tests find the solution; if empty, solution.py,
            solution.js, solution.go, src/lib.rs, or the name of Java's public class.
        prompt: code that the completion continues.
        id: the request's id.

    Raises:
        TaskError: there are no files, or the framework is not one of these.

    Examples:
        >>> from trainer_client import RewardClient, tasks
        >>> text = '''
        ... import unittest, solution
        ... class Doubling(unittest.TestCase):
        ...     def test_of_three(self):
        ...         self.assertEqual(solution.double(3), 6)
        ... '''
        >>> completion = "def double(x): return 2 * x"
        >>> request = tasks.unit_tests({"test_double.py": text}, completion, framework="unittest")
        >>> with RewardClient("localhost:50051") as client:
        ...     [score] = client.score(request)
        >>> [(test.name, test.outcome.name) for test in score.tests]
        [('test_double.py::Doubling::test_of_three', 'PASSED')]
    """
    if framework not in FRAMEWORKS:
        raise TaskError("unit_tests", "framework", f"is {framework!r}, not {', '.join(FRAMEWORKS)}")
    if not files:
        raise TaskError("unit_tests", "files", "are absent")
    number, language = FRAMEWORKS[framework]
    tests = pb.UnitTests(
        framework=number,
        files={path: well_formed(text) for path, text in files.items()},
        solution_path=solution_path,
    )
    return pb.ScoreRequest(
        id=id,
        language=language,
        prompt=well_formed(prompt),
        completion=well_formed(completion),
        unit=tests,
    )


@bounded("bigcodebench")
def bigcodebench(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a BigCodeBench row: `complete_prompt`, `test`.

    The tests are written to follow the solution in one file, so they get all of the solution's
    names. Most of them patch libraries or share files with the solution, and run in its process.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("bigcodebench", row)
    return unit_tests(
        {_TEST_FILE: _with_solution(reader.text("test"), reader.python("test"))},
        completion,
        framework="unittest",
        prompt=reader.text("complete_prompt"),
        id=id,
    )


@bounded("kodcode")
def kodcode(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of KodCode: `test`, or `test_code`, a file of pytest.

    As in the pipeline that made the set, the file begins with `from solution import *`: some rows
    rely on it.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("kodcode", row)
    field = "test_code" if reader.has("test_code") else "test"
    text = _with_solution(reader.text(field), reader.python(field))
    return unit_tests({_TEST_FILE: text}, completion, id=id)


@bounded("classeval")
def classeval(row: Row, completion: str = "", *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a row of ClassEval: `test`, `import_statement`.

    As in the set's own evaluation, the imports of the row stand before the class, which the
    completion writes as a whole, and the tests see all names of both.

    Raises:
        TaskError: a field is absent or wrong.
    """
    reader = Reader("classeval", row)
    imports = "".join(f"{line}\n" for line in reader.texts("import_statement"))
    reader.parsed("import_statement", imports)
    text = _with_solution(reader.text("test"), reader.python("test"), imports)
    return unit_tests({_TEST_FILE: text}, completion, framework="unittest", prompt=imports, id=id)


def _with_solution(text: str, tree: ast.Module, imports: str = "") -> str:
    """Inserts an import of the solution's names after the statements that must come first."""
    lines = text.splitlines(keepends=True)
    has_docstring = ast.get_docstring(tree, clean=False) is not None
    head = tree.body[0].end_lineno or 0 if has_docstring else 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            head = node.end_lineno or head
    return "".join([*lines[:head], "from solution import *\n", imports, *lines[head:]])
