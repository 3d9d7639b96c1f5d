from __future__ import annotations

import textwrap

import pytest

from tests.unit.runner.harness import Zygote


def code(text: str) -> str:
    return textwrap.dedent(text)


def test_each_case_is_a_call_compared_in_the_judge(zygote: Zygote) -> None:
    result = zygote.call(
        "def f(a, b): return a + b", [([1, 2], 3), ([1, 1], 3), (["a", "b"], '"ab"')]
    )
    assert result.outcomes == ["PASSED", "FAILED", "PASSED"]
    assert [test["name"] for test in result.report["tests"]] == ["case 1", "case 2", "case 3"]
    assert result.report["tests"][1]["message"] == "expected 3, got 2"


def test_a_method_gets_a_fresh_object_each_time(zygote: Zygote) -> None:
    source = code(
        """
        class Solution:
            def __init__(self): self.calls = 0
            def f(self, n: int) -> List[int]:
                self.calls += 1
                return [self.calls, n]
        """
    )
    cases = [([5], [1, 5]), ([6], [1, 6])]
    assert zygote.call(source, cases, entry_point="Solution().f").passed


def test_an_error_leaves_the_next_cases_alone(zygote: Zygote) -> None:
    result = zygote.call("def f(n): return 1 // n", [([0], 0), ([1], 1)])
    assert result.outcomes == ["ERROR", "PASSED"]


def test_cases_behind_a_death_are_not_run(zygote: Zygote) -> None:
    source = "import os\ndef f(n): return n if n else os._exit(0)"
    result = zygote.call(source, [([1], 1), ([0], 0), ([2], 2)])
    assert result.outcomes == ["PASSED", "ERROR", "NOT_RUN"]
    assert result.report["broken"] == "closed"
    assert result.report["signals"] == {"early_exit": 1}


def test_the_first_failure_may_end_it(zygote: Zygote) -> None:
    cases = [([1], 2), ([1], 1)]
    result = zygote.call("def f(n): return n", cases, stop_at_first_failure=True)
    assert result.outcomes == ["FAILED", "NOT_RUN"]


def test_what_is_not_data_is_not_what_was_expected(zygote: Zygote) -> None:
    source = (
        "class A:\n    def __eq__(self, o): return True\ndef f(n): return A() if n else iter([])"
    )
    assert zygote.call(source, [([1], 1), ([0], [])]).outcomes == ["FAILED", "FAILED"]


@pytest.mark.parametrize(
    ("answer", "expected", "is_told"),
    [
        ("collections.UserList([1])", [1], True),
        ("{'a': [collections.UserDict(a=1)]}", {"a": [{"a": 1}]}, True),
        ("(collections.UserString('a'),)", ["a"], True),
        ("collections.ChainMap({'a': 1})", {"a": 1}, True),
        ("collections.OrderedDict(a=(1,))", {"a": [1]}, False),
        ("[type('L', (list,), {})([http.HTTPStatus.OK])]", [[200]], True),
    ],
)
def test_what_json_has_no_value_for_says_that_it_was_of_another_class(
    zygote: Zygote, answer: str, expected: object, is_told: bool
) -> None:
    source = f"import collections, http\ndef f(n): return {answer}"
    result = zygote.call(source, [([1], expected)])
    assert result.passed
    assert ("cast_down" in result.report["signals"]) is is_told


def test_a_tolerance_is_kept(zygote: Zygote) -> None:
    cases = [([1.0], 1.05), ([1.0], 1.2)]
    result = zygote.call("def f(n): return n", cases, kind="FLOAT", absolute_tolerance=0.1)
    assert result.outcomes == ["PASSED", "FAILED"]


@pytest.mark.parametrize(
    ("cases", "kind", "message"),
    [
        ([], "EXACT", "no cases"),
        ([("[1", "1")], "EXACT", "case 1 is not JSON"),
        ([("[1]", "1"), ("[1]", "")], "EXACT", "case 2 is not JSON"),
        ([("1", "1")], "EXACT", "not an array"),
        ([("[" * 100_000, "1")], "EXACT", "case 1 is not JSON"),
        ([("[1]", "1")], "PROGRAM", "PROGRAM"),
    ],
)
def test_broken_cases_are_the_tasks_fault(
    zygote: Zygote, cases: list[tuple[object, object]], kind: str, message: str
) -> None:
    result = zygote.call("def f(n): return n", cases, kind=kind)
    assert result.report["blame"] == "task"
    assert message in result.report["message"]


REVERSE = code(
    """
    class Solution:
        def f(self, head: Optional[ListNode]) -> Optional[ListNode]:
            last = None
            while head:
                head.next, last, head = last, head, head.next
            return last
    """
)


@pytest.mark.parametrize(
    "source",
    [
        REVERSE,
        REVERSE.replace("Optional[ListNode]", "'ListNode'"),
        REVERSE.replace("Optional[ListNode]", '"Optional[ListNode]"'),
        REVERSE.replace("Optional[ListNode]", "ListNode | None"),
        "from __future__ import annotations\nimport typing\n"
        + REVERSE.replace("Optional[", "typing.Optional["),
        "class ListNode:\n    def __init__(self, x):\n        self.val, self.next = x, None\n"
        + REVERSE,
    ],
    ids=["plain", "text", "optional text", "union", "future", "own class"],
)
def test_linked_lists_are_arrays(zygote: Zygote, source: str) -> None:
    cases = [([[1, 2, 3]], [3, 2, 1]), ([[]], []), ([[1]], [1]), ([[1, 2]], [1, 2])]
    result = zygote.call(source, cases, entry_point="Solution().f")
    assert result.outcomes == ["PASSED", "PASSED", "PASSED", "FAILED"], result.explanation


def test_lists_of_linked_lists_are_arrays_of_arrays(zygote: Zygote) -> None:
    source = code(
        """
        class Solution:
            def f(self, lists: List[Optional[ListNode]]) -> List[Optional[ListNode]]:
                return lists[::-1]
        """
    )
    cases = [([[[1, 2], [], [3]]], [[3], [], [1, 2]])]
    result = zygote.call(source, cases, entry_point="Solution().f")
    assert result.passed, result.explanation


def test_trees_are_arrays_by_level(zygote: Zygote) -> None:
    source = code(
        """
        class Solution:
            def f(self, root: Optional[TreeNode]) -> Optional[TreeNode]:
                if root:
                    root.left, root.right = self.f(root.right), self.f(root.left)
                return root
        """
    )
    cases = [
        ([[4, 2, 7, 1, 3, 6, 9]], [4, 7, 2, 9, 6, 3, 1]),
        ([[]], []),
        ([[1, None, 2, 3]], [1, 2, None, None, 3]),
        ([[1, 2]], [1, None, 2]),
    ]
    result = zygote.call(source, cases, entry_point="Solution().f")
    assert result.passed, result.explanation


def test_a_method_may_work_in_place(zygote: Zygote) -> None:
    source = code(
        """
        class Solution:
            def f(self, nums: List[int]) -> None:
                nums.sort()
        """
    )
    cases = [([[3, 1, 2]], [1, 2, 3]), ([[2, 1]], [2, 1]), ([[1]], None)]
    result = zygote.call(source, cases, entry_point="Solution().f")
    assert result.outcomes == ["PASSED", "FAILED", "PASSED"]


NODE = "ListNode"
BACKWARDS = "return head[::-1]"
LOST = "head.sort()"
BOTH = "head.sort(); return sorted(head)"


def method(head: str, body: str) -> str:
    return "class Solution:\n    def f" + head + ":\n" + textwrap.indent(code(body), " " * 8)


@pytest.mark.parametrize(
    ("shapes", "source", "given", "expected", "outcome", "is_told"),
    [
        # What the task's signature says decides, whatever the solution's annotations say.
        ([NODE, NODE], method("(self, head)", BACKWARDS), [1, 2], [2, 1], "ERROR", True),
        ([NODE, NODE], method("(self, head: List[int])", BACKWARDS), [1, 2], [2, 1], "ERROR", True),
        ([NODE, NODE], method("(self, head)", "return [head.val]"), [1], [1], "ERROR", True),
        ([NODE, NODE], method("(self, head)", "return TreeNode(1)"), [1], [1], "ERROR", True),
        ([NODE, NODE], method("(self, head)", "return head.next"), [1, 2], [2], "PASSED", True),
        ([NODE, NODE], method("(self, head)", "return head"), None, None, "PASSED", True),
        (
            [f"[{NODE}]", f"[{NODE}]"],
            method("(self, head)", BACKWARDS),
            [[1], []],
            [[], [1]],
            "PASSED",
            True,
        ),
        (
            [f"[{NODE}]", f"[{NODE}]"],
            method("(self, head)", "return [[1]]"),
            [[1]],
            [[1]],
            "ERROR",
            True,
        ),
        (["", ""], method("(self, head)", "return ListNode(1)"), [1], [1], "FAILED", True),
        (["", ""], method("(self, head: ListNode)", BACKWARDS), [1, 2], [2, 1], "PASSED", True),
        (["", ""], method("(self, head)", LOST), [2, 1], [1, 2], "FAILED", True),
        (["", "None"], method("(self, head)", LOST), [2, 1], [1, 2], "PASSED", True),
        (["", "None"], method("(self, head)", BOTH), [2, 1], [1, 2], "PASSED", True),
        (["", "None"], method("(self, head)", BACKWARDS), [2, 1], [1, 2], "PASSED", False),
        (["", "None"], method("(self, head)", "return"), [2, 1], [1, 2], "FAILED", True),
        (
            ["", "None"],
            method("(self, head)", "head[:] = [ListNode(1)]"),
            [2],
            [[1]],
            "FAILED",
            True,
        ),
        ([NODE, "None"], method("(self, head)", "head.next = None"), [1, 2], [1], "PASSED", True),
        # Where it says nothing, the solution's annotations do, and that is told.
        ([None, None], method("(self, head)", LOST), [2, 1], [1, 2], "PASSED", False),
        ([None, None], method("(self, head)", "return ListNode(1)"), [1], [1], "PASSED", False),
        ([None, None], method("(self, head: ListNode)", "return 1"), [1], 1, "PASSED", False),
        ([None, ""], method("(self, head: ListNode)", "return 1"), [1], 1, "PASSED", False),
        ([None, None], method("(self, head) -> ListNode", "return None"), [1], [], "PASSED", False),
        (
            [None, None],
            method("(self, head: List[int])", BACKWARDS),
            [1, 2],
            [2, 1],
            "PASSED",
            True,
        ),
        ([None, None], method("(self, head)", "return [[1], 2]"), [1], [[1], 2], "PASSED", True),
    ],
)
def test_the_tasks_signature_says_what_values_are(
    zygote: Zygote,
    shapes: list[str | None],
    source: str,
    given: object,
    expected: object,
    outcome: str,
    is_told: bool,
) -> None:
    result = zygote.call(
        source,
        [([given], expected)],
        entry_point="Solution().f",
        parameters=shapes[:1],
        result=shapes[1],
    )
    assert result.outcomes == [outcome], result.explanation
    assert ("lowered_signature" not in result.report["signals"]) is is_told


def test_a_linked_list_may_be_worked_on_in_place(zygote: Zygote) -> None:
    source = code(
        """
        class Solution:
            def f(self, head: Optional[ListNode]) -> None:
                head.next = head.next.next
        """
    )
    result = zygote.call(source, [([[1, 2, 3]], [1, 3])], entry_point="Solution().f")
    assert result.passed, result.explanation


def test_a_function_does_not_work_in_place(zygote: Zygote) -> None:
    assert zygote.call("def f(nums): nums.sort()", [([[1, 2]], [1, 2])]).outcomes == ["FAILED"]


def test_a_list_that_never_ends_is_an_error(zygote: Zygote) -> None:
    source = REVERSE.replace("return last", "last.next = last\n        return last")
    result = zygote.call(source, [([[1]], [1])], entry_point="Solution().f")
    assert result.outcomes == ["ERROR"]
    assert "never ends" in result.report["tests"][0]["message"]


def test_leetcodes_names_need_no_import(zygote: Zygote) -> None:
    source = code(
        """
        class Solution:
            @cache
            def g(self, n): return n
            def f(self, nums: List[int], more: Dict[str, Any] = None) -> int:
                queue = deque(nums)
                heapify(nums)
                table = defaultdict(int)
                assert inf > queue[0] and table[0] == 0 and bisect_left([1, 2], 2) == 1
                return gcd(queue[0], 1) + pow(2, 3, 5)
        """
    )
    result = zygote.call(source, [([[4]], 4)], entry_point="Solution().f")
    assert result.passed, result.explanation


LONG = "7" * 5000  # digits, of which the interpreter reads 4,300 at most
SEVENS = "7 * (10 ** 5000 - 1) // 9"


@pytest.mark.parametrize(
    ("source", "args", "expected"),
    [
        (f"def f(): return {SEVENS}", "[]", LONG),
        ("def f(n): return n % 1000", f"[{LONG}]", "777"),
        ("def f(n): return {'n': [-n]}", f"[{LONG}]", f'{{"n": [-{LONG}]}}'),
        ("def f(): return 10 ** 99_999", "[]", "1" + "0" * 99_999),
    ],
)
def test_integers_may_be_longer_than_the_interpreter_reads_by_itself(
    zygote: Zygote, source: str, args: str, expected: str
) -> None:
    result = zygote.call(source, [(args, expected)])
    assert result.outcomes == ["PASSED"], result.report


def test_another_long_integer_is_a_wrong_answer(zygote: Zygote) -> None:
    result = zygote.call(f"def f(): return {SEVENS} + 1", [("[]", LONG)])
    assert result.outcomes == ["FAILED"]


@pytest.mark.parametrize("text", ["1" * 100_001, "[" + ", ".join(["1" * 60_000] * 3) + "]"])
def test_integers_that_take_long_to_read_are_refused(zygote: Zygote, text: str) -> None:
    result = zygote.call("def f(): return 1", [("[]", text)])
    assert result.report["blame"] == "task"
    assert "case 1 is not JSON: its integers are too long" in result.report["message"]
