"""Calls with JSON values, whose answers are data."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from reward_server.domain import (
    CallCase,
    CallTests,
    Extraction,
    FunctionTests,
    Integrity,
    Placement,
    TestOutcome,
    Verdict,
)
from reward_server.errors import UnsupportedError
from tests.support.common import Judge, on_the_servers_loop
from tests.support.contract import Case, as_tests

pytestmark = on_the_servers_loop


def _calls(*cases: tuple[list[object], object], entry: str = "f") -> CallTests:
    written = tuple(
        CallCase(args_json=json.dumps(given), expected_json=json.dumps(wanted))
        for given, wanted in cases
    )
    return CallTests(entry_point=entry, cases=written)


NODES = "class Solution:\n    def turn(self, head: Optional[ListNode]) -> Optional[ListNode]:\n"
SORTS = "class Solution:\n    def sorts(self, nums: List[int]) -> None:\n"
HONEST = {
    "numbers and texts": ("f = lambda x: [x, str(x)]", "", _calls(([1], [1, "1"]))),
    "tuples and keys": ("f = lambda x: {1: (x, 2)}", "", _calls(([1], {"1": [1, 2]}))),
    "a long integer": ("f = lambda n: 10 ** n", "", _calls(([4000], 10**4000))),
    "nodes": (
        f"{NODES}        last = None\n        while head:\n"
        "            head.next, last, head = last, head, head.next\n        return last\n",
        NODES,
        _calls(([[1, 2, 3]], [3, 2, 1]), ([[]], []), entry="Solution().turn"),
    ),
    "in place": (
        f"{SORTS}        nums.sort()\n",
        SORTS,
        _calls(([[3, 1]], [1, 3]), entry="Solution().sorts"),
    ),
}
YES = (
    "class Yes(int):\n    __eq__ = __le__ = __ge__ = lambda *a: True\n    __hash__ = int.__hash__\n"
)
ATTACKS = {
    "a number that equals all": (f"{YES}f = lambda x: Yes(7)", _calls(([1], 3))),
    "an object that equals all": (
        f"{YES.replace('(int)', '')}f = lambda x: Yes()",
        _calls(([1], 3)),
    ),
    "a list with one": (f"{YES}f = lambda x: [Yes(7)]", _calls(([1], [3]))),
    "a narrow number": (
        "import numpy as np\nf = lambda x: np.float16('inf')",
        _calls(([1], 10**39)),
    ),
    "nothing": ("f = lambda x: None", _calls(([1], 3), ([1], []))),
    "the end of the program": ("import os\nf = lambda x: os._exit(0)", _calls(([1], 3))),
    "a word of its own": (
        "import gc, socket\ndef f(x):\n    for one in gc.get_objects():\n"
        "        if isinstance(one, socket.socket):\n"
        "            one.send(b'\\0\\0\\0\\x14' + b'\\0' * 8 + b'[\"return\",3]')\n",
        _calls(([1], 3)),
    ),
}


@pytest.mark.parametrize(("solution", "prompt", "tests"), HONEST.values(), ids=HONEST.keys())
async def test_a_right_solution_passes_calls_apart(
    judge_of_files: Judge, solution: str, prompt: str, tests: CallTests
) -> None:
    found = await judge_of_files(solution, tests, prompt=prompt)
    assert (found.verdict, found.integrity) == (Verdict.PASSED, Integrity.ISOLATED), found.message
    assert found.usage.executions == 1


@pytest.mark.parametrize(("solution", "tests"), ATTACKS.values(), ids=ATTACKS.keys())
async def test_no_attack_on_calls_is_rewarded(
    judge_of_files: Judge, solution: str, tests: CallTests
) -> None:
    found = await judge_of_files(solution, tests, integrity=Integrity.UNSPECIFIED)
    assert found.verdict is not Verdict.INVALID_TASK, found.message
    assert found.reward == 0.0, found


async def test_calls_after_one_that_ends_the_program_run_in_another(judge_of_files: Judge) -> None:
    tests = _calls(([1], 1), ([2], 2), ([3], 3))
    found = await judge_of_files("import os\nf = lambda x: os._exit(0) if x == 2 else x", tests)
    outcomes = [one.outcome is TestOutcome.PASSED for one in found.tests]
    assert outcomes in ([True, False, True], [True, False, False])
    assert found.reward == 0.0


async def test_who_chooses_between_nodes_and_arrays_loses_the_label(judge_of_files: Judge) -> None:
    solution = f"{NODES}        return head\n"
    tests = _calls(([[1, 2]], [1, 2]), entry="Solution().turn")
    found = await judge_of_files(solution, tests, integrity=Integrity.UNSPECIFIED)
    assert (found.verdict, found.integrity) == (Verdict.PASSED, Integrity.SHARED)


# ------------------------------------------------------------- what the prompt tells of the types

SORTS_LISTS = "class Solution:\n    def f(self, nums: List[int]){arrow}:\n        {body}\n"
SLICES = "class Solution:\n    def f(self, head{hint}):\n        return head[::-1]\n"
TURNS_NODES = """class Solution:
    def f(self, head: Optional[ListNode]) -> Optional[ListNode]:
        last = None
        while head:
            head.next, last, head = last, head, head.next
        return last
"""
LISTS, NODES_BOTH = "nums: List[int]) -> List[int]", "head: ListNode) -> ListNode"
IN_PLACE = LISTS.replace("-> List[int]", "-> None")
TYPED_BELOW = "head):  # type: (ListNode) -> ListNode"
IN_DOCSTRING = (
    'head):\n        """\n        :type head: Optional[ListNode]\n'
    '        :rtype: Optional[ListNode]\n        """'
)
UNTYPED = TURNS_NODES.replace(": Optional[ListNode]", "")
SIGNATURES = {
    "a list in place for one that is answered": (
        LISTS, SORTS_LISTS.format(arrow=" -> List[int]", body="nums.sort()"), None),
    "nodes in a list that is changed in place": (
        IN_PLACE, SORTS_LISTS.format(arrow="", body="nums[:] = map(ListNode, [1, 2, 3])"), None),
    "a list for linked nodes": (NODES_BOTH, SLICES.format(hint=": List[int]"), None),
    "a list for a tree": (NODES_BOTH.replace("List", "Tree"), SLICES.format(hint=""), None),
    "a list for linked nodes, of a comment": (TYPED_BELOW, SLICES.format(hint=""), None),
    "a list for linked nodes, of a docstring": (IN_DOCSTRING, SLICES.format(hint=""), None),
    "an answered list for linked nodes": (
        NODES_BOTH, TURNS_NODES.replace("return last", "return [1, 2, 3]"), None),
    "linked nodes for a list": (LISTS, TURNS_NODES, None),
    "a new list for one changed in place": (
        IN_PLACE, SORTS_LISTS.format(arrow="", body="return sorted(nums)"), Integrity.SHARED),
    "a list in place that nobody tells of": (
        "", SORTS_LISTS.format(arrow="", body="nums.sort()"), Integrity.SHARED),
    "linked nodes that nobody tells of": ("", TURNS_NODES, Integrity.SHARED),
    "a list that a name tells of": (
        "nums)", SORTS_LISTS.format(arrow="", body="return sorted(nums)"), Integrity.SHARED),
    "linked nodes": (NODES_BOTH, UNTYPED, Integrity.ISOLATED),
    "linked nodes of a comment": (TYPED_BELOW, UNTYPED, Integrity.ISOLATED),
    "linked nodes of a docstring": (IN_DOCSTRING, UNTYPED, Integrity.ISOLATED),
    "a list changed in place": (
        IN_PLACE, SORTS_LISTS.format(arrow="", body="nums.sort()"), Integrity.ISOLATED),
}  # fmt: skip


@pytest.mark.parametrize(("told", "solution", "label"), SIGNATURES.values(), ids=SIGNATURES)
async def test_the_prompts_signature_says_what_calls_take_and_give(
    told: str, solution: str, label: Integrity | None, judge_of_files: Judge
) -> None:
    tests = _calls(([[3, 2, 1]], [1, 2, 3]), entry="Solution().f")
    head = told if told.endswith('"""') or "#" in told else f"{told}:"
    prompt = f"class Solution:\n    def f(self, {head}\n" if told else ""
    found = await judge_of_files(solution, tests, prompt=prompt, integrity=Integrity.UNSPECIFIED)
    assert found.verdict is not Verdict.INVALID_TASK, found
    assert (found.reward == 1, found.integrity) == (
        label is not None,
        label or found.integrity,
    ), found


async def test_calls_whose_arrays_nobody_tells_of_are_refused_where_isolated_is_required(
    judge_of_files: Judge,
) -> None:
    tests = _calls(([[3, 2, 1]], [1, 2, 3]), entry="Solution().f")
    with pytest.raises(UnsupportedError, match="no signature in the prompt"):
        await judge_of_files(
            SLICES.format(hint=""), tests, prompt="class Solution:\n    def f(self, x):"
        )


# --------------------------------------------------------- tests that are placed, or hand over code

CODE = "def check(candidate):\n    assert candidate([1, 2], key=pick) == 2\n"
READ = FunctionTests(entry_point="f", test_code=f"def pick(x):\n    return x\n{CODE}")
MADE = FunctionTests(
    entry_point="f",
    test_code="make = {'a': [len]}\ndef check(candidate):\n"
    "    assert candidate(make['a'][0]) == 3\n",
)
NAMES = FunctionTests(entry_point="f", test_code="def check(f):\n    assert eval('f(1)') == 2\n")


async def test_tests_that_break_a_rule_are_refused_where_the_request_places_them_apart(
    judge_of_files: Judge,
) -> None:
    reads = "import sys, io\nsys.stdin = io.StringIO('3')\nassert candidate() == 3"
    for tests in (
        NAMES,
        as_tests(Case(name="input", tests=reads, solution="")),
        as_tests(Case(name="a seed", tests="random.seed(1)\nassert candidate(1)", solution="")),
    ):
        assert isinstance(tests, FunctionTests)
        placed = replace(tests, placement=Placement.ISOLATED)
        refusal = r"TEST_PLACEMENT_ISOLATED .*line \d: .*, by rule \d.*placement unset"
        with pytest.raises(UnsupportedError, match=refusal):
            await judge_of_files("f = lambda x: 2", placed, integrity=Integrity.UNSPECIFIED)


async def test_tests_that_the_request_places_beside_are_shared_with_their_helpers(
    judge_of_files: Judge,
) -> None:
    prompt = "def double(x):\n    return 2 * x\n\ndef f(x):\n    pass\n"
    for text in ("candidate(2) == double(1)", "eval('candidate(2)') == double(1)"):
        for placement in (Placement.BESIDE, Placement.BY_TEXT):
            code = f"def check(candidate):\n    assert {text}\n"
            tests = FunctionTests(entry_point="f", test_code=code, placement=placement)
            right = await judge_of_files(
                "def f(x):\n    return x\n",
                tests,
                prompt=prompt,
                extraction=Extraction.AUTO,
                integrity=Integrity.UNSPECIFIED,
            )
            assert right.verdict is Verdict.PASSED, right.message
            is_apart = placement is Placement.BY_TEXT and "eval" not in text
            assert (right.integrity is Integrity.ISOLATED) == is_apart


async def test_a_refusal_names_its_rule_the_line_and_the_construct(judge_of_files: Judge) -> None:
    with pytest.raises(UnsupportedError, match=r"line 2: eval, by rule 2 \(names\)"):
        await judge_of_files("f = lambda x: 2", NAMES)
    with pytest.raises(UnsupportedError, match=r"line 4: pick is no data, by rule 5 \(arg"):
        await judge_of_files("f = max", READ)


async def test_no_completion_pays_for_tests_that_hand_over_code(judge_of_files: Judge) -> None:
    for solution in ("f = lambda key: key('abc')", "f = lambda key: 4"):
        with pytest.raises(UnsupportedError):
            await judge_of_files(solution, MADE)
    right = await judge_of_files(
        "f = lambda key: key('abc')", MADE, integrity=Integrity.UNSPECIFIED
    )
    assert (right.verdict, right.integrity) == (Verdict.PASSED, Integrity.SHARED), right.message


async def test_own_objects_handed_over_by_tests_that_are_placed_apart_are_the_tasks_fault(
    judge_of_files: Judge,
) -> None:
    code = "class Dog:\n    n = 1\ndogs = {}\ndogs['a'] = Dog()\nassert f(dogs) == 1\n"
    placed = FunctionTests(entry_point="f", test_code=code, placement=Placement.ISOLATED)
    found = await judge_of_files("f = len", placed, integrity=Integrity.UNSPECIFIED)
    assert found.verdict is Verdict.INVALID_TASK, found
