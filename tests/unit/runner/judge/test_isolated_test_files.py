"""Test files in a judge: who is to blame, what counts, and what the solution has no say in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reward_server.runner.wire import Stage
from tests.honest.solution import code
from tests.unit.runner.harness import Result, Zygote

ADD = "def add(a, b):\n    return a + b\n"
FRAMEWORKS = ("unittest", "pytest")
MODES = ("unit", "shared")


@pytest.fixture(scope="module")
def files() -> Iterator[Zygote]:
    running = Zygote(packages=(str(Path(pytest.__file__).parents[1]),), preloaded=("pytest",))
    yield running
    running.close()


def case(body: str, head: str = "import solution") -> str:
    lines = "".join(f"        {line}\n" for line in code(body).splitlines())
    name = "class TestIt(unittest.TestCase):\n    def test_it(self):\n"
    return f"import unittest\n{head}\n{name}{lines}"


def judged(
    files: Zygote, text: str, source: str = ADD, *, framework: str = "unittest", **rest: object
) -> Result:
    return files.files(source, {"test_it.py": code(text)}, framework=framework, **rest)  # type: ignore[arg-type]


BROKEN = {
    "no Python": "def (",
    "a module that is not there": "import no_such_module_at_all\nimport solution\n",
    "no tests": "import solution\n",
    "an exception of its own": "import solution\n1 / 0\n",
    "an exit of its own": "import sys\nimport solution\nsys.exit(0)\n",
}


@pytest.mark.promise("Broken tests, checkers and interactors make the task invalid.", "Verdicts")
@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_tests_that_are_broken_by_themselves_are_the_tasks_fault(
    files: Zygote, framework: str, text: str
) -> None:
    result = judged(files, text, framework=framework)
    assert (result.report["blame"], result.stage) == ("task", Stage.TESTS), result.explanation
    assert result.report["message"]


@pytest.mark.parametrize("text", ["def (", "import no_such_module_at_all\n"])
def test_tests_beside_a_solution_are_looked_at_before_it_is_heard(files: Zygote, text: str) -> None:
    result = judged(files, text, mode="shared")
    assert (result.report["blame"], result.stage) == ("task", Stage.TESTS)


@pytest.mark.parametrize(
    "text",
    [
        "async def test_it():\n    pass\n",
        "import pytest, solution\n@pytest.mark.anyio\nasync def test_it():\n    pass\n",
        "class TestIt:\n    async def test_it(self):\n        pass\n",
        "import pytest\n@pytest.mark.asyncio\nasync def test_it():\n    pass\n"
        "async def test_two():\n    pass\n",
    ],
)
def test_a_coroutine_function_that_nothing_runs_is_the_tasks_fault(
    files: Zygote, text: str
) -> None:
    result = judged(files, text, framework="pytest")
    assert (result.report["blame"], result.stage) == ("task", Stage.TESTS), result.explanation


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_name_that_the_solution_lacks_fails_the_test(files: Zygote, framework: str) -> None:
    text = case("self.assertEqual(helper(1), 3)", head="from solution import add, helper")
    result = judged(files, text, framework=framework)
    assert result.outcomes == ["ERROR"], result.explanation


def test_a_fixture_that_nobody_defines_is_the_tasks_fault(files: Zygote) -> None:
    result = judged(files, "def test_it(nothing):\n    pass\n", framework="pytest")
    assert result.report["blame"] == "task"
    assert "'nothing' not found" in result.report["message"]


ASKING = {
    "the solution fails while tests are collected": (
        "unittest",
        case("pass", "import solution\nVALUE = solution.add(1, None)"),
    ),
    "the solution leaves no tests": (
        "unittest",
        "import unittest, solution\nif solution.add(1, 1) == 3:\n"
        "    class TestIt(unittest.TestCase):\n        def test_it(self): pass\n",
    ),
    "a fixture asks and fails": (
        "pytest",
        "import pytest, solution\n@pytest.fixture\ndef x():\n    return solution.add(1, None)\n"
        "def test_it(x):\n    assert x\n",
    ),
    "a preparation asks and fails": (
        "unittest",
        case("pass") + "    def setUp(self):\n        solution.add(1, None)\n",
    ),
    "a preparation of the class fails": (
        "unittest",
        case("pass")
        + "    @classmethod\n    def setUpClass(cls):\n        solution.add(1, None)\n",
    ),
    "what comes after the class fails": (
        "unittest",
        case("pass")
        + "    @classmethod\n    def tearDownClass(cls):\n        solution.add(1, None)\n",
    ),
    "what comes after a test fails": (
        "pytest",
        "import pytest, solution\n@pytest.fixture\ndef x():\n    yield\n    solution.add(1, None)\n"
        "def test_it(x):\n    pass\n",
    ),
    "a test leaves the session": (
        "pytest",
        "import pytest, solution\ndef test_it():\n    solution.add(1, 1)\n    pytest.exit('x')\n",
    ),
}


@pytest.mark.promise(
    "What fails in test files after the solution was called is the solution's failure.", "Verdicts"
)
@pytest.mark.parametrize(("framework", "text"), ASKING.values(), ids=ASKING)
def test_what_fails_after_the_solution_was_heard_is_its_own_to_answer_for(
    files: Zygote, framework: str, text: str
) -> None:
    result = judged(files, text, framework=framework)
    assert result.report["blame"] is None
    assert result.stage == Stage.READY
    assert "PASSED" not in result.outcomes, result.explanation


def test_tests_that_ask_while_they_are_collected_are_collected_again(files: Zygote) -> None:
    text = (
        "import pytest, solution\nfrom solution import add\n"
        "@pytest.mark.parametrize('x', add([1], [2]))\n"
        "def test_it(x):\n    assert add(x, 1) == x + 1\n"
    )
    result = judged(files, text, framework="pytest")
    assert [test["name"] for test in result.report["tests"]] == [
        "test_it.py::test_it[1]",
        "test_it.py::test_it[2]",
    ]
    assert result.passed


RAISING = {
    "SkipTest": "import unittest; raise unittest.SkipTest('x')",
    "pytest's exit": "import pytest; pytest.exit('x', returncode=0)",
}
LEAVING = {
    "SystemExit": "raise SystemExit(0)",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "pytest's skip": "import pytest; pytest.skip('x')",
    "pytest's xfail": "import pytest; pytest.xfail('x')",
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("statement", (RAISING | LEAVING).values(), ids=RAISING | LEAVING)
def test_an_exception_of_the_solutions_skips_nothing(
    files: Zygote, framework: str, statement: str
) -> None:
    text = case("solution.add(1, 2)") + "    def test_two(self):\n        pass\n"
    source = f"def add(a, b):\n    {statement}\n"
    result = judged(files, text, source, framework=framework)
    rest = "PASSED" if statement in RAISING.values() else "NOT_RUN"
    assert result.outcomes == ["ERROR", rest]


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("mode", MODES)
def test_a_solution_that_leaves_passes_nothing_more(
    files: Zygote, framework: str, mode: str
) -> None:
    text = case("try:\n    solution.add(1, 2)\nexcept BaseException:\n    pass\n")
    text += "    def test_two(self):\n        pass\n"
    source = "import os\ndef add(a, b):\n    os._exit(0)\n"
    result = judged(files, text, source, framework=framework, mode=mode)
    assert result.report["broken"] == "closed"
    assert "PASSED" not in result.outcomes
    assert not result.passed


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("mode", MODES)
def test_each_test_tells_its_name_outcome_place_and_time(
    files: Zygote, framework: str, mode: str
) -> None:
    text = case("import time\ntime.sleep(0.01)\nself.assertEqual(solution.add(1, 2), 3)")
    text += "    def test_wrong(self):\n        self.assertEqual(solution.add(1, 2), 4)\n"
    result = judged(files, text, framework=framework, mode=mode)
    right, wrong = result.report["tests"]
    assert right["name"] == "test_it.py::TestIt::test_it"
    assert (right["outcome"], wrong["outcome"]) == ("PASSED", "FAILED")
    assert "3 != 4 at test_it.py, line" in wrong["message"]
    # Beside the solution, the clock starts when the judge has read that the tests were collected.
    assert (10**7 if mode == "unit" else 0) < right["wall_ns"] < 10**10


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("mode", MODES)
def test_one_failure_ends_the_run_where_it_decides(
    files: Zygote, framework: str, mode: str
) -> None:
    text = case("self.fail()") + "    def test_two(self):\n        pass\n"
    for stops, outcomes in ((True, ["FAILED", "NOT_RUN"]), (False, ["FAILED", "PASSED"])):
        result = judged(files, text, framework=framework, mode=mode, stop_at_first_failure=stops)
        assert result.outcomes == outcomes


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("source", "kind"), [("x = (", "compile"), ("1 / 0", "raise")])
def test_a_solution_that_does_not_load_is_told(
    files: Zygote, mode: str, source: str, kind: str
) -> None:
    result = judged(files, case("solution.add(1, 2)"), source, mode=mode)
    assert result.report["load"]["kind"] == kind
    assert set(result.outcomes) <= {"NOT_RUN", "ERROR"}


def test_files_of_the_tests_do_not_reach_an_isolated_solution(files: Zygote) -> None:
    source = "import os\ndef names():\n    return sorted(os.listdir())\n"
    text = case("self.assertEqual(solution.names(), ['solution.py'])")
    assert judged(files, text, source).passed


def test_a_judge_leaves_after_test_files(files: Zygote) -> None:
    first = judged(files, case("self.assertEqual(solution.add(1, 2), 3)"))
    second = judged(files, case("self.assertEqual(solution.add(1, 2), 3)"))
    assert first.reply.judge_pid != second.reply.judge_pid


def test_nothing_of_the_frameworks_is_imported_for_other_tests(files: Zygote) -> None:
    asked = (
        "import sys\nloaded = {name.partition('runner.')[2] for name in sys.modules}\n"
        "assert 'judge.contract.functions' in loaded\n"
        "assert not loaded & {'judge.contract.files', 'frameworks.pytest_driver'}\n"
        "assert f(1) == 1\n"
    )
    result = files.function("def f(x):\n    return x\n", test_code=asked)
    assert result.passed, result.explanation


FORGED = {
    "an outcome out of turn": ["ended", 1, "PASSED", ""],
    "an outcome that there is none of": ["ended", 0, "GREAT", ""],
    "names twice": ["collected", ["a"]],
    "names that are none": ["collected", [1]],
    "another word": ["passed"],
    "a number of another kind": ["ended", 0.0, "PASSED", ""],
}


@pytest.mark.parametrize("frame", FORGED.values(), ids=FORGED)
def test_a_frame_that_no_shim_sends_is_forged(files: Zygote, frame: list[object]) -> None:
    source = code(f"""
        import json, os, socket, struct
        def add(a, b):
            frame = json.dumps({frame!r}).encode()
            for number in range(3, 32):
                try:
                    channel = socket.socket(fileno=os.dup(number))
                    channel.sendall(struct.pack(">I", len(frame)) + frame)
                    channel.detach()
                except OSError:
                    pass
            return a + b
    """)
    text = case("self.assertEqual(solution.add(1, 2), 3)")
    text += "    def test_two(self):\n        pass\n"
    result = judged(files, text, source, mode="shared")
    assert result.report["broken"] == "forged"
    assert result.report["signals"] == {"tampering": 1}


@pytest.mark.parametrize(
    "error",
    [
        "SyntaxError('x', ('f', 3, [], {}, 5, []))",
        "SyntaxError('x', ([], {}, 5, 'y'))",
        "IndentationError('x', (None, 'y', {}, []))",
        "UnicodeDecodeError('utf-8', b'', 9, -9, '')",
    ],
)
def test_an_exception_that_cannot_be_shown_fails_one_test(files: Zygote, error: str) -> None:
    text = (
        "import solution\ndef test_it():\n    solution.add(1, 2)\ndef test_two():\n"
        "    assert solution.other() == 1\n"
    )
    source = f"def add(x, y): raise {error}\ndef other(): return 1\n"
    result = judged(files, text, source, framework="pytest")
    assert result.outcomes == ["ERROR", "PASSED"]
