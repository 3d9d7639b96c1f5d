"""What a prompt says of the values of calls."""

from __future__ import annotations

import pytest

from reward_server.domain import Signature
from reward_server.grading.signatures import read_signature

NODE, TREE = "Optional[ListNode]", "Optional[TreeNode]"


def head(parameters: str, result: str = "") -> str:
    arrow = f" -> {result}" if result else ""
    return f"class Solution:\n    def f(self, {parameters}){arrow}:\n        "


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
    ],
)  # fmt: skip
def test_the_prompt_says_what_values_are(
    prompt: str, parameters: list[str | None], result: str | None
) -> None:
    told = Signature(parameters=tuple(parameters), result=result)
    assert read_signature(prompt, "Solution().f") == told


def test_a_function_has_a_signature_too() -> None:
    told = Signature(parameters=("", "ListNode"), result=None)
    assert read_signature("def f(a: int, head: ListNode):\n", "f") == told
