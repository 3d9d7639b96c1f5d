"""Function tests that the contract does not allow run beside the solution, with copies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reward_server.domain import FunctionTests, Integrity, Placement, Tests, Verdict
from reward_server.errors import UnsupportedError
from tests.attacks.attack import code
from tests.support.common import FILE_LIMITS, Judge, is_refused, on_the_servers_loop

pytestmark = on_the_servers_loop

# What tests do with a solution, their text, a right solution and a wrong one.
FORMS = {
    "subclass its class": (
        """
        def check(candidate):
            class Mine(candidate):
                def name(self):
                    return "mine"
            assert Mine().hello() == "hello mine"
            assert Mine().twice(4) == 8
        """,
        """
        class Base:
            def name(self): return "base"
            def hello(self): return "hello " + self.name()
            def twice(self, x): return 2 * x
        """,
        """
        class Base:
            def name(self): return "base"
            def hello(self): return "hello base"
            def twice(self, x): return 2 * x
        """,
        "Base",
    ),
    "patch what it uses": (
        """
        from unittest.mock import patch
        def check(candidate):
            with patch("time.time", return_value=5.0):
                assert candidate() == 15
            with patch("time.time", return_value=7.5):
                assert candidate() == 17
        """,
        "import time\ndef later(): return int(time.time()) + 10",
        "class E(int):\n    __eq__ = lambda s, o: True\ndef later(): return E()",
        "later",
    ),
    "pickle its objects": (
        """
        import pickle
        def check(candidate):
            copy = pickle.loads(pickle.dumps(candidate(3, 4)))
            assert copy.x == 3
            assert copy.y == 4
        """,
        "class Point:\n    def __init__(self, x, y): self.x, self.y = x, y",
        "class Point:\n    def __init__(self, x, y): self.x, self.y = y, x",
        "Point",
    ),
    "expect it to leave": (
        """
        def check(candidate):
            try:
                candidate(["-x"])
            except SystemExit as error:
                code = error.code
            assert code == 2
        """,
        "import sys\ndef main(arguments): sys.exit(2)",
        "import os\ndef main(arguments): os._exit(0)",
        "main",
    ),
    "read its source": (
        """
        import inspect
        def check(candidate):
            assert candidate(3) == 9
            assert "import" not in inspect.getsource(candidate)
            assert len(inspect.getsource(candidate).splitlines()) == 1
        """,
        "def square(x): return x * x",
        "def square(x):\n    return x * x",
        "square",
    ),
    "look at its annotations": (
        """
        import typing
        def check(candidate):
            hints = typing.get_type_hints(candidate)
            assert hints["x"] is int
            assert candidate(2) == "22"
        """,
        "def double(x: int) -> str: return str(x) * 2",
        "def double(x: str) -> str: return str(x) * 2",
        "double",
    ),
    "change what it reads": (
        """
        import os
        def check(candidate):
            os.environ["LEVEL"] = "7"
            assert candidate() == 7
            os.environ["LEVEL"] = "11"
            assert candidate() == 11
        """,
        "import os\ndef level(): return int(os.environ['LEVEL'])",
        "def level(): return 7",
        "level",
    ),
    "share a file with it": (
        """
        import os, tempfile
        def check(candidate):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "a.txt")
                with open(path, "w") as file:
                    file.write("one two three")
                assert candidate(path) == 3
        """,
        "def words(path):\n    with open(path) as file:\n        return len(file.read().split())",
        "def words(path):\n    raise SystemExit",
        "words",
    ),
    "use helpers of the prompt": (
        """
        from unittest.mock import patch
        def check(candidate):
            with patch("random.random", return_value=0.5):
                assert half(candidate()) == 0.25
        """,
        "import random\ndef draw():\n    return random.random()",
        "def half(x):\n    return 0.25\ndef draw():\n    return 1",
        "draw",
    ),
}
PROMPT = "def half(x):\n    return x / 2\n\n"


def given(text: str, entry_point: str) -> FunctionTests:
    return FunctionTests(entry_point=entry_point, test_code=code(text))


@pytest.mark.parametrize(("text", "right", "wrong", "entry_point"), FORMS.values(), ids=FORMS)
async def test_a_solution_is_judged_beside_tests_that(
    judge: Judge, text: str, right: str, wrong: str, entry_point: str
) -> None:
    tests, prompt = given(text, entry_point), PROMPT if "half" in text else ""
    passed = await judge(
        code(right), tests, prompt=prompt, limits=FILE_LIMITS, integrity=Integrity.UNSPECIFIED
    )
    assert passed.reward == 1.0, passed
    assert passed.integrity is Integrity.SHARED
    assert [test.name for test in passed.tests] == ["check"]
    failed = await judge(
        code(wrong), tests, prompt=prompt, limits=FILE_LIMITS, integrity=Integrity.UNSPECIFIED
    )
    assert is_refused(failed), failed
    assert failed.integrity is passed.integrity


async def test_asserts_and_scripts_run_beside_a_solution_too(judge: Judge) -> None:
    right = "class Point:\n    def __init__(self, x): self.x = x"
    asserts = FunctionTests(
        asserts=("import pickle\np = pickle.loads(pickle.dumps(Point(1)))", "assert p.x == 1")
    )
    script = FunctionTests(test_code="import pickle\n" + "p = Point(2)\nassert pickle.dumps(p)\n")
    for tests, names in ((asserts, ["assert 1", "assert 2"]), (script, ["test_code"])):
        for placement in Placement.BY_TEXT, Placement.BESIDE:
            assessment = await judge(
                right,
                replace(tests, placement=placement),
                limits=FILE_LIMITS,
                integrity=Integrity.UNSPECIFIED,
            )
            assert assessment.reward == 1.0, assessment
            assert [test.name for test in assessment.tests] == names
            assert assessment.integrity < Integrity.ISOLATED


PICKLED = given(FORMS["pickle its objects"][0], "Point")
PLAIN = FunctionTests(entry_point="f", asserts=("assert f(1) == 2", "assert f(2) == 3"))


@pytest.mark.promise("Request and tests decide the label; no completion does.", "Labels")
@pytest.mark.parametrize(
    ("tests", "placement", "integrity"),
    [
        (PLAIN, Placement.BY_TEXT, Integrity.ISOLATED),
        (PLAIN, Placement.ISOLATED, Integrity.ISOLATED),
        (PLAIN, Placement.BESIDE, Integrity.SHARED),
        (PICKLED, Placement.BY_TEXT, Integrity.SHARED),
    ],
)
@pytest.mark.parametrize("completion", ["def f(x): return x + 1", "import pickle, subprocess", "("])
async def test_the_request_and_the_tests_decide_where_they_run_and_no_completion(
    judge: Judge, completion: str, tests: FunctionTests, placement: Placement, integrity: Integrity
) -> None:
    placed: Tests = replace(tests, placement=placement)
    assessment = await judge(
        completion, placed, limits=FILE_LIMITS, integrity=Integrity.UNSPECIFIED
    )
    assert assessment.integrity is integrity
    assert (assessment.verdict is Verdict.PASSED) == (tests is PLAIN and "f(x)" in completion)


@pytest.mark.parametrize(
    ("placement", "required"),
    [
        *((one, Integrity.ISOLATED) for one in Placement),
        (Placement.ISOLATED, Integrity.UNSPECIFIED),
    ],
)
async def test_no_request_gets_more_isolation_than_the_tests_text_gives(
    judge: Judge, placement: Placement, required: Integrity
) -> None:
    right = code(FORMS["pickle its objects"][1])
    with pytest.raises(UnsupportedError, match="pickle"):
        await judge(right, replace(PICKLED, placement=placement), integrity=required)


FORGERIES = (
    "import os; os._exit(0)",
    "raise SystemExit(0)",
    "class Point:\n    def __init__(self, *a): pass\n"
    "    def __getattr__(self, name): return Any()\n"
    "class Any:\n    __eq__ = lambda s, o: True",
    "import unittest\nunittest.TestCase.run = lambda self, result: (result.startTest(self), "
    "result.addSuccess(self), result.stopTest(self))\nclass Point: pass",
    "import unittest\nnone = lambda *a: unittest.TestSuite()\n"
    "unittest.TestLoader.loadTestsFromModule = none\nclass Point: pass",
    "import builtins\nbuiltins.AssertionError = type('Never', (Exception,), {})\nclass Point: pass",
)


@pytest.mark.parametrize("forgery", FORGERIES)
async def test_a_forgery_beside_function_tests_betrays_itself(judge: Judge, forgery: str) -> None:
    assessment = await judge(forgery, PICKLED, limits=FILE_LIMITS, integrity=Integrity.UNSPECIFIED)
    assert is_refused(assessment), assessment


@pytest.mark.promise("An answer names the module that the sandbox lacks.", "Verdicts")
async def test_a_module_that_is_not_there_is_named(judge: Judge) -> None:
    solutions = ("import nosuchpackage.part\ndef f(x): return x + 1",)
    lazily = "def f(x):\n    import nosuchpackage\n    return x"
    for solution in (*solutions, lazily):
        assessment = await judge(solution, PLAIN)
        assert is_refused(assessment)
        assert assessment.missing_modules == ("nosuchpackage",)
    tests = replace(PLAIN, setup_code="import nosuchlibrary\nnosuchlibrary.start()")
    right, whole = "def f(x): return x + 1", Integrity.UNSPECIFIED
    invalid = await judge(right, tests, limits=FILE_LIMITS, integrity=whole)
    assert invalid.verdict is Verdict.INVALID_TASK
    assert "nosuchlibrary" in invalid.message
    assert invalid.missing_modules == ("nosuchlibrary",)
    beside = replace(tests, placement=Placement.BESIDE)
    placed = await judge(right, beside, limits=FILE_LIMITS, integrity=whole)
    assert (placed.verdict, placed.missing_modules) == (Verdict.INVALID_TASK, ("nosuchlibrary",))
    passed = await judge(
        "def f(x):\n    try: import nosuch\n    except ImportError: return x + 1", PLAIN
    )
    assert (passed.reward, passed.missing_modules) == (1.0, ())
