"""What a prompt says of the values of calls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reward_server.domain import CallCase, CallTests, Signature
from reward_server.grading.signatures import leaves_open, read_signature

OUTER, LISTS = "class Solution:\n", ["[ListNode]"]
NODE, TREE = "Optional[ListNode]", "Optional[TreeNode]"


def head(parameters: str, result: str = "") -> str:
    arrow = f" -> {result}" if result else ""
    return f"class Solution:\n    def f(self, {parameters}){arrow}:\n        "


def written(*lines: str) -> str:
    text = "\n        ".join(lines)
    return f'class Solution(object):\n    def f(self, x):\n        """\n        {text}\n'


@pytest.mark.promise(
    "The prompt's signature decides which JSON arrays are linked lists or trees.", "Verdicts"
)
@pytest.mark.parametrize(
    ("prompt", "parameters", "result"),
    [
        ("", [], None),
        ("Reverse a list.", [], None),
        (head("head"), [None], None),
        (head("nums: List[int], k: int", "None"), ["", ""], "None"),
        (head("nums: List[int]", "List[List[int]]"), [""], ""),
        (head(f"head: {NODE}", NODE), ["ListNode"], "ListNode"),
        (head("head: ListNode | None, n: int = 2", "'ListNode'"), ["ListNode", ""], "ListNode"),
        (head("head: t.Optional[x.TreeNode]", "Union[None, TreeNode]"), ["TreeNode"], "TreeNode"),
        (head("head: 'Optional[\"TreeNode\"]'", "Any"), ["TreeNode"], None),
        (head(f"lists: List[{NODE}]", f"list[list[{TREE}]]"), ["[ListNode]"], "[[TreeNode]]"),
        (head("x: Dict[str, TreeNode]", "Tuple[ListNode, ListNode]"), [None], None),
        (head("x: Union[ListNode, TreeNode]", "object"), [None], None),
        (head("x: '", "int"), [], None),
        (head("x: 'a b'", "int"), [None], ""),
        # Where it stands, and how.
        (f"Answer in code:\n```python\n{head('x: int', NODE)}pass\n```\nThink.", [""], "ListNode"),
        (head("x: int", "None").rstrip(": \n"), [""], "None"),
        ("class Solution:\n  def f(\n    self,\n    x: int,  # (\n  ) -> None: #:\n", [""], "None"),
        ("class Solution:\n    @staticmethod\n    def f(x: int) -> None: ...\n", [""], "None"),
        ("# def f(self, x: int) -> None:\n", [], None),
        (f"class A:\n    def f(self) -> int: 0\n{head('x: ListNode', 'int')}", ["ListNode"], ""),
        (f"{head('x: ListNode', 'int')}pass\nclass Other:\n    def g(self): 0\n", ["ListNode"], ""),
        (f"{head('x: int', 'int')}\n\n{head('x: ListNode', 'int')}", ["ListNode"], ""),
        (head("x: int", "int").replace("def f", "def ff"), [], None),
        (f"{head('x: ListNode', 'int')}\nclass Other:\n  def f(self, x): 0\n", ["ListNode"], ""),
        (f"{head('x: ListNode', 'int')}\n\ndef f(self, x):\n", ["ListNode"], ""),
        (OUTER + "  class A:\n    def f(self, x): 0\n  def f(self, x: int):\n", [""], None),
        (f"{head('x: ListNode', 'int')}pass\nclass Solution: what you write\n", ["ListNode"], ""),
        # Types in docstrings and comments.
        (written(":type x: ListNode", ":rtype: TreeNode"), ["ListNode"], "TreeNode"),
        (written(":type x: List[ListNode], two.", ":rtype: TreeNode or None"), LISTS, "TreeNode"),
        (written(":type x: array of ListNodes", ":rtype: None Do not return."), [None], "None"),
        (written(":param ListNode x: a", ":rtype: void Do not return."), ["ListNode"], "None"),
        (written(":param x: ListNode", "returns: ListNode"), [None], None),
        (head("x: int") + '\n":type x: ListNode"', [""], None),
        (head("x, y") + " # type: (ListNode, int) -> bool", ["ListNode", ""], ""),
        (head("x") + "\n        #type: (...) -> TreeNode\n", [None], "TreeNode"),
        (head("\n  x=None,  # type: ListNode\n  y=0  # type: int\n"), ["ListNode", ""], None),
    ],
)  # fmt: skip
def test_the_prompt_says_what_values_are(
    prompt: str, parameters: list[str | None], result: str | None
) -> None:
    told = Signature(parameters=tuple(parameters), result=result, has_choice=True)
    assert read_signature(prompt, "Solution().f") == told


def test_a_function_has_a_signature_too() -> None:
    told = Signature(parameters=("", "ListNode"), result=None, has_choice=True)
    assert read_signature("def f(a: int, head: ListNode):\n", "f") == told


@pytest.mark.parametrize(
    ("prompt", "has_choice"),
    [
        ("", False),
        ("Write f(xs), which turns the street round.", False),
        ("Write f(head), which turns a linked list.", True),
        ("Write f(root), the depth of a tree.", True),
    ],
)
def test_a_function_has_a_choice_where_the_prompt_tells_of_nodes(
    prompt: str, has_choice: bool
) -> None:
    assert read_signature(prompt, "f").has_choice is has_choice


def cases(*texts: tuple[str, str]) -> CallTests:
    listed = (CallCase(args_json=given, expected_json=expected) for given, expected in texts)
    return CallTests(entry_point="Solution().f", cases=tuple(listed))


@pytest.mark.parametrize(
    ("prompt", "given", "expected", "is_open"),
    [
        (head("n"), "[1]", "2", False),
        (head("xs"), "[[1]]", "2", True),
        (head("xs: List[int]"), "[[1]]", "2", False),
        (head("xs: List[int]"), "[[1]]", " [1]", True),
        (head("n"), "[1]", '{"a": 1}', True),
        (head("x", "int"), "[null]", "0", False),
        ("", "[[1]]", "2", True),
    ],
)
def test_arrays_that_no_signature_tells_of_are_open(
    prompt: str, given: str, expected: str, is_open: bool
) -> None:
    told = read_signature(prompt, "Solution().f")
    assert leaves_open(told, cases(("[]", "0"), (given, expected))) is is_open
    assert not leaves_open(replace(told, has_choice=False), cases((given, expected)))
