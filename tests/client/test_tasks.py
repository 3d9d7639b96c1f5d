from __future__ import annotations

import base64
import json
import os
import pickle
import subprocess
import sys
import zlib

import pytest

from codereward.v1 import reward_service_pb2 as pb
from tests.support.sampling import sampled
from trainer_client import TaskError, tasks
from trainer_client.tasks.pickled import inflated, pickled_text

HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": "def twice(x):\n",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n",
    "entry_point": "twice",
}
MBPP = {
    "task_id": 7,
    "code": "def helper(x): return x\r\ndef twice(x): return helper(x) * 2",
    "test_list": ["assert twice(1) == 2", "assert set(twice(x) for x in [1]) == {2}"],
    "challenge_test_list": ["assert twice(-1) == -2"],
    "test_setup_code": "",
}
STARTER = "class Solution:\n    def add(self, first: int, second: int) -> int:\n        "
LEETCODE = {
    "task_id": "add",
    "prompt": "from typing import *\n",
    "starter_code": STARTER,
    "entry_point": "Solution().add",
    "test": "def check(candidate):\n    assert candidate(first = 1, second = -2) == -1\n",
}


def encoded(tests: object) -> str:
    """Packs tests the way LiveCodeBench does."""
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests)))).decode()


def cases(request: pb.ScoreRequest) -> list[tuple[object, object]]:
    """Returns the decoded arguments and results, or the texts, of a request's tests."""
    if request.WhichOneof("tests") == "stdio":
        return [(case.stdin, case.expected_stdout) for case in request.stdio.cases]
    return [
        (json.loads(case.args_json), json.loads(case.expected_json)) for case in request.call.cases
    ]


# ------------------------------------------------------------------- HumanEval and MBPP


def test_a_humaneval_row_becomes_function_tests():
    request = tasks.humaneval(HUMANEVAL, "    return 2 * x", id="a")
    assert (request.id, request.prompt) == ("a", "def twice(x):\n")
    assert request.completion == "    return 2 * x"
    assert request.function.entry_point == "twice"
    assert request.function.test_code == HUMANEVAL["test"]


def test_an_mbpp_row_becomes_asserts_on_the_function_that_they_call():
    request = tasks.mbpp(MBPP, "code")
    assert request.function.entry_point == "twice"
    assert list(request.function.asserts) == MBPP["test_list"]
    assert request.prompt == ""


def test_challenge_asserts_count_when_asked_for():
    assert len(tasks.mbpp(MBPP, challenge=True).function.asserts) == 3


@pytest.mark.parametrize("extra", [{}, {"test_list": MBPP["test_list"][:1]}, {"code": None}])
def test_the_long_test_of_an_mbpp_plus_row_stands_for_its_asserts(extra):
    test = "inputs = [[1], [2]]\nresults = [2, 4]\nfor i, (inp, exp) in enumerate(zip(inputs, "
    test += "results)):\n    assert twice(*inp) == exp\n"
    function = tasks.mbpp({**MBPP, **extra, "test": test}).function
    assert (function.entry_point, function.test_code) == ("twice", test)
    assert not function.asserts


def test_imports_and_set_up_of_an_mbpp_row_are_run_first():
    row = {**MBPP, "test_imports": ["import math"], "test_setup_code": "root = twice(0)"}
    assert tasks.mbpp(row).function.setup_code == "import math\nroot = twice(0)"


@pytest.mark.parametrize(
    ("asserts", "imports", "name"),
    [
        (["assert math.isclose(area(1), 3.14)"], ["import math"], "area"),
        (["assert isclose(area(1), 3.14)"], ["from math import isclose"], "area"),
        (["assert sorted(merge([1], [2])) == [1, 2]"], [], "merge"),
        (["assert sum(10, 15) == 6"], [], "sum"),
    ],
)
def test_without_a_reference_solution_the_first_foreign_call_is_the_function(
    asserts, imports, name
):
    row = {"test_list": asserts, "test_imports": imports}
    assert tasks.mbpp(row).function.entry_point == name


def test_all_public_humaneval_and_mbpp_rows_become_requests(data_folder):
    def lines(name: str) -> list[dict]:
        return [json.loads(line) for line in (data_folder / name).read_text().splitlines()]

    sanitized = json.loads((data_folder / "mbpp_sanitized.json").read_text())
    assert len(tasks.templates("humaneval", lines("HumanEval.jsonl"))) == 164
    assert len(tasks.templates("mbpp", lines("mbpp_full.jsonl"))) == 974
    assert len(tasks.templates("mbpp", sanitized)) == 427
    for row in sampled(sanitized, 4):
        without_code = {key: value for key, value in row.items() if key != "code"}
        assert tasks.mbpp(row).function == tasks.mbpp(without_code).function


# ----------------------------------------------------------------- APPS and CodeContests


def test_an_apps_row_without_a_function_becomes_runs_of_a_program():
    tests = {"inputs": ["1 2\n", ["3", "4"]], "outputs": ["3\n", ["7"]]}
    request = tasks.apps({"input_output": json.dumps(tests)}, "print()")
    assert cases(request) == [(b"1 2\n", b"3\n"), (b"3\n4", b"7")]


def test_an_apps_row_with_a_function_becomes_calls_with_the_wrapping_taken_off():
    tests = {"fn_name": "twice", "inputs": [[1], ["a"]], "outputs": [[2], ["aa"]]}
    request = tasks.apps({"input_output": tests, "starter_code": "def twice(x):\n\t"})
    assert request.call.entry_point == "twice"
    assert cases(request) == [([1], 2), (["a"], "aa")]


def test_results_that_are_not_all_wrapped_stay_as_they_are():
    tests = {"fn_name": "f", "inputs": [[1], [2]], "outputs": [[1], [1, 2]]}
    assert cases(tasks.apps({"input_output": tests})) == [([1], [1]), ([2], [1, 2])]


@pytest.mark.parametrize(
    ("given", "wanted", "starter", "asserted"),
    [
        ({"1": 2, "-3": 4}, [10], "def f(t):\n\t", "f({1: 2, -3: 4}) == 10"),
        ({}, [{"2": "a"}], "def f(t):\n\t", "f({}) == {2: 'a'}"),
        ({"1": []}, [[1, [2]]], "def f(t):\n\t", "f({1: []}) in ([1, [2]], (1, [2]))"),
        ({"1": None}, True, STARTER, "Solution().f({1: None}) == True"),
    ],
)
def test_keys_of_an_apps_row_that_read_as_integers_are_integers(given, wanted, starter, asserted):
    tests = {"fn_name": "f", "inputs": [[given]], "outputs": [wanted]}
    request = tasks.apps({"input_output": json.dumps(tests), "starter_code": starter})
    assert list(request.function.asserts) == [f"assert {asserted}"]
    assert request.function.entry_point == ("Solution" if starter is STARTER else "f")


def test_keys_of_an_apps_row_of_which_one_is_no_integer_are_texts():
    tests = {"fn_name": "f", "inputs": [[{"1": 2, "b": 3}], [{"1": 1}, 2]], "outputs": [[1], [{}]]}
    request = tasks.apps({"input_output": tests, "starter_code": "def f(t):\n\t"})
    assert cases(request) == [([{"1": 2, "b": 3}], 1), ([{"1": 1}, 2], {})]


def test_an_apps_row_with_a_class_becomes_calls_of_its_method():
    tests = {"fn_name": "add", "inputs": [[1, 2]], "outputs": [[3]]}
    request = tasks.apps({"input_output": tests, "starter_code": STARTER})
    assert request.call.entry_point == "Solution().add"
    assert cases(request) == [([1, 2], [3])]
    assert request.prompt.endswith(STARTER)


def test_the_prelude_is_python_that_leaves_pow_alone():
    prompt = tasks.apps({"input_output": {"inputs": [""], "outputs": [""]}}).prompt
    checks = (
        "assert (pow(2, 3, 5), Counter('aa')['a'], datetime.date(2020, 1, 1).year) == (3, 2, 2020)"
    )
    # It raises the limit of recursion of its process.
    done = subprocess.run([sys.executable, "-c", f"{prompt}\n{checks}"], check=False)
    assert done.returncode == 0


def test_a_code_contests_row_gathers_its_three_kinds_of_tests():
    row = {
        "public_tests": {"input": ["1\n"], "output": ["2\n"]},
        "private_tests": {"input": [], "output": []},
        "generated_tests": {"input": ["3\n"], "output": ["4\n"]},
        "input_file": "",
    }
    assert cases(tasks.code_contests(row)) == [(b"1\n", b"2\n"), (b"3\n", b"4\n")]
    assert cases(tasks.code_contests(row, generated=False)) == [(b"1\n", b"2\n")]


# --------------------------------------------------------------------------- LiveCodeBench


def test_a_livecodebench_row_of_programs_has_public_and_private_runs():
    row = {
        "public_test_cases": json.dumps([{"input": "1", "output": "2", "testtype": "stdin"}]),
        "private_test_cases": encoded([{"input": "3", "output": "4", "testtype": "stdin"}]),
    }
    request = tasks.livecodebench(row)
    assert cases(request) == [(b"1", b"2"), (b"3", b"4")]
    assert request.stdio.checker.kind == pb.CHECKER_KIND_FLOAT
    assert request.stdio.checker.absolute_tolerance == 0.0


def test_a_livecodebench_row_of_functions_has_one_argument_on_a_line():
    test = {"input": '[1, 2]\n"a"', "output": "[3]", "testtype": "functional"}
    row = {
        "public_test_cases": [test],
        "private_test_cases": json.dumps([test]),
        "metadata": '{"func_name": "add"}',
        "starter_code": STARTER,
    }
    request = tasks.livecodebench(row)
    assert request.call.entry_point == "Solution().add"
    assert cases(request) == [([[1, 2], "a"], [3])] * 2


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_text_of_any_protocol_is_read_without_loading_it(protocol):
    text = "tests: ä \U0001f600\n" * 400
    assert pickled_text(pickle.dumps(text, protocol)) == text


class Evil:
    def __reduce__(self):
        return os.mkdir, ("/tmp/reward-client-was-here",)


@pytest.mark.parametrize("value", [Evil(), ["text"], {"a": 1}, b"bytes", 5, None, ("text", "text")])
def test_a_pickle_of_anything_else_is_refused_and_never_run(value):
    with pytest.raises(ValueError, match="the pickle holds"):
        pickled_text(pickle.dumps(value))
    assert not os.path.exists("/tmp/reward-client-was-here")


def test_an_evil_pickle_in_a_row_names_the_field():
    packed = base64.b64encode(zlib.compress(pickle.dumps(Evil()))).decode()
    with pytest.raises(TaskError, match=r"private_test_cases: .*was not loaded"):
        tasks.livecodebench({"private_test_cases": packed})
    assert not os.path.exists("/tmp/reward-client-was-here")


def test_a_compression_bomb_is_stopped_at_its_limit():
    bomb = zlib.compress(b"x" * 100_000)
    assert inflated(bomb, 100_000) == b"x" * 100_000
    with pytest.raises(ValueError, match="more than 99999 bytes"):
        inflated(bomb, 99_999)


# -------------------------------------------------------------------------------- LeetCode


def test_a_leetcode_row_becomes_calls_of_the_method():
    request = tasks.leetcode(LEETCODE, "code")
    assert request.call.entry_point == "Solution().add"
    assert cases(request) == [([1, -2], -1)]
    assert request.prompt == "from typing import *\n" + STARTER


def leetcode_cases(check: str, starter: str = STARTER) -> list[tuple[object, object]]:
    row = {**LEETCODE, "starter_code": starter, "test": f"def check(candidate):\n    {check}\n"}
    return cases(tasks.leetcode(row))


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (
            "assert candidate(first = [1, 2], second = 'a') == [0.5, True, None]",
            ([[1, 2], "a"], [0.5, True, None]),
        ),
        ("assert candidate(second = 2, first = 1) == 3", ([1, 2], 3)),
        ("assert candidate([1], {'a': +1}) == -inf", ([[1], {"a": 1}], float("-inf"))),
        (
            "assert is_same_list(candidate(first = list_node([1, 2]), second = 0), list_node([2]))",
            ([[1, 2], 0], [2]),
        ),
        (
            "assert is_same_tree(candidate(first = tree_node([1, None, 2]), second = 0), None)",
            ([[1, None, 2], 0], None),
        ),
        (
            "assert candidate(first = [list_node([1]), list_node([])], second = 0) == []",
            ([[[1], []], 0], []),
        ),
    ],
)
def test_the_three_shapes_of_asserts_are_read_as_data(check, expected):
    assert leetcode_cases(check) == [expected]


NODES = "class Solution:\n    def add(self, first: ListNode) -> Optional[TreeNode]:\n        "


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        ("assert candidate(first = list_node([])) == None", ([[]], [])),
        ("assert is_same_tree(candidate(first = list_node([1])), tree_node([]))", ([[1]], [])),
        ("assert is_same_tree(candidate(first = None), tree_node([1, None, 2, None]))",
         ([None], [1, None, 2])),
    ],
)  # fmt: skip
def test_expected_nodes_are_written_in_one_way(check, expected):
    assert leetcode_cases(check, starter=NODES) == [expected]


def test_a_list_of_nodes_is_no_node():
    check = "assert candidate(first = None) == [None, None]"
    starter = NODES.replace("Optional[TreeNode]", "List[Optional[TreeNode]]")
    assert leetcode_cases(check, starter=starter) == [([None], [None, None])]


def test_arguments_keep_their_order_where_the_starter_code_does_not_tell():
    check = "assert candidate(second = 2, first = 1) == 3"
    assert leetcode_cases(check, starter="broken (") == [([2, 1], 3)]


def test_an_older_leetcode_row_keeps_its_starter_code_in_meta():
    row = {key: value for key, value in LEETCODE.items() if key != "starter_code"}
    request = tasks.leetcode({**row, "meta": {"lang_code": STARTER.rstrip()}})
    assert request.prompt.endswith(STARTER.rstrip())
    assert cases(request) == [([1, -2], -1)]


def test_examples_serve_where_there_are_no_asserts():
    row = {
        **LEETCODE,
        "test": "",
        "input_output": [{"input": "second = [1, null], first = true", "output": '"a"'}],
    }
    assert cases(tasks.leetcode(row)) == [([True, [1, None]], "a")]


# --------------------------------------------------------------------------------- bad rows

IO = {"inputs": ["1"], "outputs": ["2"]}


@pytest.mark.parametrize(
    ("task", "row", "message"),
    [
        ("humaneval", "text", "row: must be a mapping, not text"),
        ("humaneval", {}, "entry_point: is absent or blank"),
        ("humaneval", {**HUMANEVAL, "test": " \n"}, "test: is absent or blank"),
        ("humaneval", {**HUMANEVAL, "prompt": 5}, "prompt: must be text, not a number"),
        ("humaneval", {**HUMANEVAL, "test": None}, "test: is absent or blank"),
        ("mbpp", {"test_list": []}, "test_list: has no asserts"),
        ("mbpp", {"test_list": "assert f(1)"}, "test_list: must be a list, not text"),
        ("mbpp", {"test_list": ["assert f(1)", 5]}, "test_list[1]: must be text, not a number"),
        ("mbpp", {"test_list": ["assert f(1"]}, "test_list[0]: is not Python"),
        ("mbpp", {"test_list": ["assert f(1)\0"]}, "test_list[0]: is not Python"),
        ("mbpp", {"test_list": ["assert True"]}, "test_list: calls no function"),
        ("mbpp", {**MBPP, "test": "inputs = ["}, "test: is not Python"),
        ("mbpp", {**MBPP, "test": "inputs = []"}, "test: never calls twice"),
        ("mbpp", {**MBPP, "test": 5}, "test: must be text, not a number"),
        ("mbpp", {**MBPP, "code": "def (:"}, "code: is not Python"),
        ("mbpp", {**MBPP, "code": "def other(): pass"}, "test_list: calls no function"),
        ("apps", {}, "input_output.inputs: there are no tests"),
        ("apps", {"input_output": ""}, "input_output: is not JSON"),
        ("apps", {"input_output": "[1]"}, "input_output: must be a mapping, not a list"),
        ("apps", {"input_output": {"inputs": "1", "outputs": ["2"]}},
         "input_output.inputs: must be a list, not text"),
        ("apps", {"input_output": {"inputs": ["1"], "outputs": []}},
         "input_output.outputs: has 0 items for 1 inputs"),
        ("apps", {"input_output": {"inputs": [5], "outputs": ["2"]}},
         "input_output.inputs[0]: must be text or a list of lines, not a number"),
        ("apps", {"input_output": {**IO, "inputs": ["{"], "fn_name": "f"}},
         "input_output.inputs[0] line 1: is not JSON"),
        ("apps", {"input_output": {**IO, "inputs": [5], "fn_name": "f"}},
         "input_output.inputs[0]: must be a list of arguments, not a number"),
        ("code_contests", {}, "public_tests: there are no tests"),
        ("code_contests", {"public_tests": {"input": ["1"]}},
         "public_tests.output: has 0 items for 1 input"),
        ("code_contests", {"input_file": "in.txt"}, "input_file: the program would read"),
        ("livecodebench", {}, "public_test_cases: there are no tests"),
        ("livecodebench", {"public_test_cases": "{"}, "public_test_cases: cannot be decoded"),
        ("livecodebench", {"public_test_cases": "[1]"},
         "public_test_cases[0]: must be a mapping, not a number"),
        ("livecodebench", {"private_test_cases": "AAAA"}, "private_test_cases: cannot be decoded"),
        ("livecodebench", {"public_test_cases": [{"testtype": "other"}]}, "testtype: must be"),
        ("livecodebench", {"public_test_cases": [{"testtype": "functional"}]},
         "metadata.func_name: is absent or blank"),
        ("leetcode", {}, "entry_point: is absent or blank"),
        ("leetcode", {**LEETCODE, "test": ""}, "test: has no asserts"),
        ("leetcode", {**LEETCODE, "test": "def check("}, "test: is not Python"),
        ("leetcode", {**LEETCODE, "test": "assert candidate(1) > 2"},
         "test line 1: is no comparison of a call"),
        ("leetcode", {**LEETCODE, "test": "assert candidate(f()) == 2"},
         "test line 1: 'f()' is no plain literal"),
        ("leetcode", {**LEETCODE, "test": "assert candidate({1: 2}) == 2"},
         "test line 1: has a key that is no text"),
        ("leetcode", {**LEETCODE, "starter_code": NODES, "test": "assert candidate(1) == 2"},
         "test line 1: expects something else than the nodes"),
        ("leetcode", {**LEETCODE, "test": "assert candidate(-'a') == 2"},
         "test line 1: \"'a'\" is no number"),
        ("leetcode", {**LEETCODE, "test": None, "input_output": [{"input": "x =", "output": "1"}]},
         "input_output[0].input: cannot be read"),
    ],
)  # fmt: skip
def test_a_bad_row_names_its_field(task, row, message):
    with pytest.raises(TaskError) as caught:
        tasks.named(task)(row)
    assert str(caught.value).startswith(f"{task} row: {message}")


def test_a_task_error_survives_pickling():
    error = pickle.loads(pickle.dumps(TaskError("mbpp", "code", "is not Python")))
    assert (str(error), error.field) == ("mbpp row: code: is not Python", "code")


# -------------------------------------------------------------------------------- templates


def test_templates_are_kept_by_id_and_filled_in():
    templates = tasks.templates("mbpp", [MBPP])
    request = tasks.fill(templates["7"], "bad \ud800 text", id="x")
    assert (request.id, request.completion) == ("x", "bad \ufffd text")
    assert request.function == templates["7"].function
    assert templates["7"].completion == ""


@pytest.mark.parametrize(
    ("rows", "problem"), [([MBPP, MBPP], "'7' is another row's"), ([{}], "task_id: is absent")]
)
def test_templates_need_ids_of_their_own(rows, problem):
    with pytest.raises(TaskError, match=problem):
        tasks.templates("mbpp", rows)


def test_an_unknown_task_format_lists_the_known_ones():
    with pytest.raises(ValueError, match="no task format 'humanevl'; there are humaneval, mbpp"):
        tasks.named("humanevl")


def test_texts_of_rows_and_completions_can_always_be_sent():
    row = {**HUMANEVAL, "prompt": "def twice(x): # \ud800\n"}
    request = tasks.humaneval(row, "\udfff")
    assert request.SerializeToString()
    assert request.completion == "\ufffd"


# ----------------------------------------------------------------------------- test files

BIGCODEBENCH = {
    "task_id": "BigCodeBench/0",
    "complete_prompt": "import os\ndef task_func(x):\n    '''Doubles.'''\n",
    "test": "import unittest\nclass TestCases(unittest.TestCase):\n"
    "    def test_case_1(self):\n        self.assertEqual(task_func(2), 4)\n",
    "entry_point": "task_func",
}


def test_test_files_become_unit_tests():
    files = {"test_f.py": "from pkg.f import f\n", "data/x.json": "{}"}
    request = tasks.unit_tests(files, "x = 1", solution_path="pkg/f.py", id="a")
    assert dict(request.unit.files) == files
    assert (request.id, request.completion) == ("a", "x = 1")
    assert request.unit.framework == pb.FRAMEWORK_PYTEST
    assert request.unit.solution_path == "pkg/f.py"
    old = tasks.unit_tests(files, framework="unittest", prompt="import os\n")
    assert old.unit.framework == pb.FRAMEWORK_UNITTEST
    assert old.prompt == "import os\n"


@pytest.mark.parametrize(
    ("files", "framework", "field"), [({}, "pytest", "files"), ({"a.py": ""}, "nose", "framework")]
)
def test_test_files_need_a_known_framework(files: dict[str, str], framework: str, field: str):
    with pytest.raises(TaskError, match=field):
        tasks.unit_tests(files, framework=framework)


def test_a_bigcodebench_row_becomes_a_unittest_file_with_the_solutions_names():
    request = tasks.bigcodebench(BIGCODEBENCH, "    return 2 * x", id="a")
    assert request.prompt == BIGCODEBENCH["complete_prompt"]
    assert request.unit.framework == pb.FRAMEWORK_UNITTEST
    text = request.unit.files["test_solution.py"]
    assert text == "from solution import *\n" + BIGCODEBENCH["test"]


def test_what_stands_first_in_a_test_file_stays_first():
    head = '"""Tests."""\nfrom __future__ import annotations\n'
    request = tasks.bigcodebench({**BIGCODEBENCH, "test": head + BIGCODEBENCH["test"]})
    text = request.unit.files["test_solution.py"]
    assert text.startswith(head + "from solution import *\n")
    compile(text, "test", "exec")


@pytest.mark.parametrize("field", ["test", "complete_prompt"])
def test_a_bigcodebench_row_without_a_field_is_refused(field: str):
    with pytest.raises(TaskError, match=field):
        tasks.bigcodebench({**BIGCODEBENCH, field: " "})


def test_a_bigcodebench_row_whose_tests_are_no_python_is_refused():
    with pytest.raises(TaskError, match="test"):
        tasks.bigcodebench({**BIGCODEBENCH, "test": "def ("})


# ------------------------------------------------------------- HumanEval-X and MultiPL-E


@pytest.mark.parametrize(
    ("prefix", "language"), [("CPP", "c++"), ("Java", "java"), ("JavaScript", "javascript")]
)
def test_a_humaneval_x_row_becomes_a_test_program(prefix, language):
    row = {"task_id": f"{prefix}/0", "prompt": "int f() {", "test": "int main() {}"}
    request = tasks.humaneval_x(row, "return 1; }", id="a")
    assert (request.id, request.language) == ("a", language)
    assert request.prompt.endswith("int f() {")
    assert request.completion == "return 1; }"
    assert request.program.test_code == "int main() {}"


def test_a_humaneval_x_row_in_cpp_has_the_headers_of_the_set_once():
    row = {"task_id": "CPP/0", "prompt": "#include<vector>\nint f() {", "test": "int main() {}"}
    prompt = tasks.humaneval_x(row).prompt
    assert prompt.count("#include<vector>") == prompt.count("#include<climits>") == 1
    assert prompt.count("#include") == 9


def test_the_set_up_of_a_humaneval_x_row_stands_in_front_of_its_tests():
    row = {
        "task_id": "Go/0",
        "prompt": "func",
        "test": "func TestF()",
        "test_setup": "package main",
    }
    assert tasks.humaneval_x(row).program.test_code == "package main\nfunc TestF()"


def test_a_humaneval_x_row_in_rust_begins_with_its_declaration():
    row = {
        "task_id": "Rust/0",
        "declaration": "use md5;\nfn f() -> i32 {\n",
        "prompt": "/* Answer. */\n",
        "test": "#[test] fn t() {}",
    }
    assert tasks.humaneval_x(row).prompt == "use md5;\nfn f() -> i32 {\n/* Answer. */\n"
    with pytest.raises(TaskError, match="declaration: is absent"):
        tasks.humaneval_x({**row, "declaration": ""})


def test_a_humaneval_x_row_in_python_is_one_of_humaneval_with_the_sets_imports():
    row = {
        "task_id": "Python/0",
        "prompt": "def f(x):\n",
        "test": "def check(f):\n    assert f(4) == 2\n\ncheck(f)\n",
    }
    request = tasks.humaneval_x(row, "    return int(math.sqrt(x))\n")
    assert (request.language, request.function.entry_point) == ("", "f")
    assert request.function.test_code == "def check(f):\n    assert f(4) == 2\n\n"
    assert request.prompt.endswith("def f(x):\n")
    assert "import math\n" in request.prompt
    with pytest.raises(TaskError, match=r"test: must end in check\(NAME\)"):
        tasks.humaneval_x({**row, "test": "def check(f): pass"})


def test_a_humaneval_x_row_in_a_language_that_the_set_lacks_is_refused():
    row = {"task_id": "Perl/0", "prompt": "sub f {", "test": "ok(f())"}
    with pytest.raises(TaskError, match="task_id: must begin with one of CPP"):
        tasks.humaneval_x(row)


@pytest.mark.parametrize(("name", "language"), [("rs", "rs"), ("go_test.go", "go")])
def test_a_multipl_e_row_becomes_a_test_program(name, language):
    row = {"name": "f_0", "language": name, "prompt": "fn f() {", "tests": "}\nfn main() {}"}
    template = tasks.templates("multipl_e", [row])["f_0"]
    request = tasks.fill(template, "1", id="b")
    assert (request.id, request.language, request.prompt) == ("b", language, "fn f() {")
    assert request.program.test_code == "}\nfn main() {}"


@pytest.mark.parametrize(("task", "absent"), [("humaneval_x", "test"), ("multipl_e", "tests")])
def test_a_row_without_its_test_program_is_wrong(task, absent):
    row = {"task_id": "CPP/0", "name": "f", "language": "cpp", "prompt": "int f() {"}
    with pytest.raises(TaskError, match=f"{absent}: is absent"):
        tasks.named(task)(row)
