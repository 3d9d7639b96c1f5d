"""Objects of the prompt's and the tests' classes that a solution changes, and who sees it.

A completion of `WRONG` earns nothing, or its label is weaker than ISOLATED, though the tests pass
if they do not see what it changes. `HONEST` passes isolated. Rows run in an ordinary process, too.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from reward_server.app import App
from reward_server.domain import FunctionTests, Integrity, Verdict
from tests.attacks.attack import code
from tests.attacks.python_tests import check, submission_of
from tests.honest.ordinary import run_functions
from tests.support.common import on_the_servers_loop

pytestmark = on_the_servers_loop
# As LeetCode's data sets have it.
PROMPT = code("""
    from typing import *
    from collections import *

    class ListNode:
        def __init__(self, val=0, next=None):
            self.val = val
            self.next = next
        @classmethod
        def of(cls, values):
            return list_node(values)

    def list_node(values):
        head = None
        for value in reversed(values):
            head = ListNode(value, head)
        return head

    def is_same_list(p1, p2):
        if p1 is None and p2 is None:
            return True
        if not p1 or not p2:
            return False
        return p1.val == p2.val and is_same_list(p1.next, p2.next)

    class TreeNode:
        def __init__(self, val=0, left=None, right=None):
            self.val, self.left, self.right = val, left, right

    def tree_node(values):
        nodes = [None if value is None else TreeNode(value) for value in values]
        children = iter(nodes[1:])
        for node in filter(None, nodes):
            node.left, node.right = next(children, None), next(children, None)
        return nodes[0]

    def is_same_tree(p, q):
        if not p or not q:
            return p is q
        return p.val == q.val and is_same_tree(p.left, q.left) and is_same_tree(p.right, q.right)

    KEPT = [ListNode(1)]

    def kept():
        return KEPT[0]

    class Account:
        def __init__(self, balance):
            self.balance, self.log = balance, []

    def last():
        return None
""")
CUTS = """
    class Solution:
        def tail(self, head):
            nodes = []
            while head:
                nodes.append(head)
                head.next, head = None, head.next
            return nodes[len(nodes) // 2]
        def search(self, root, val):
            while root and root.val != val:
                root = root.left if val < root.val else root.right
            root.left = root.right = None
            return root
        def zero(self, head):
            head.val = 0
            return head.next
        def forget(self, head):
            del head.val
            return 1
        def empties(self, out):
            out.truncate(0)
            return "aa"
        def same(self, head):
            head.val += 1
            return head
        def pay(self, one, amount):
            one.balance -= amount
            if one.balance < 0:
                raise ValueError("no")
        def keep(self, one):
            self.one = one
        def later(self):
            self.one.balance = 0
            return 1
        def steps(self, one):
            for _ in range(2):
                yield 1
                one.balance = 0
"""
WRONG = {
    "a list that is cut to pieces": """
        assert is_same_list(Solution().tail(head=list_node([1, 2, 3])), list_node([2, 3]))
    """,
    "a list that is cut, by a table": """
        for v, w in [([1, 2, 3], [2, 3]), ([1, 2], [2])]:
            assert is_same_list(Solution().tail(list_node(v)), list_node(w))
    """,
    "a list that is cut, what is expected bound before": """
        want = list_node([2, 3])
        got = Solution().tail(list_node([1, 2, 3]))
        assert is_same_list(got, want)
    """,
    "a list that is cut, by a class": """
        assert is_same_list(Solution().tail(ListNode.of([1, 2, 3])), ListNode.of([2, 3]))
    """,
    "a subtree without its children": """
        found = Solution().search(tree_node([4, 2, 7, 1, 3]), 2)
        assert is_same_tree(found, tree_node([2, 1, 3]))
    """,
    "a value that is zeroed": """
        head = list_node([1, 2])
        got = Solution().zero(head)
        assert got.val == head.val + 1
    """,
    "a value that is gone": """
        head = list_node([1, 2])
        got = Solution().forget(head)
        assert got == head.val
    """,
    "an object that a function of the prompt keeps": """
        assert Solution().same(kept()).val == kept().val - 1
    """,
    "an object that a class keeps": """
        class Own:
            def __init__(self, val): self.val = val
            @classmethod
            def get(cls): return cls.one
        Own.one = Own(1)
        assert Solution().same(Own.get()).val == Own.get().val - 1
    """,
    "an object that a cache keeps": """
        import functools
        class Own:
            def __init__(self, val): self.val = val
        @functools.lru_cache
        def own(val): return Own(val)
        assert Solution().same(own(1)).val == own(1).val - 1
    """,
    "a stream": """
        import io
        out = io.StringIO("a")
        assert Solution().empties(out) == out.getvalue() + "a"
    """,
    "an object of the tests'": """
        class Own:
            def __init__(self, val): self.val = val
        one = Own(1)
        got = Solution().same(one)
        assert got.val == one.val + 1
    """,
    "a change before an exception": """
        one = Account(3)
        try:
            Solution().pay(one, 5)
        except ValueError:
            pass
        assert one.balance == 3
    """,
    "a change in a later call": """
        one, solution = Account(3), Solution()
        solution.keep(one)
        assert solution.later() == 1
        assert one.balance == 3
    """,
    "a change between two steps": """
        one = Account(3)
        assert list(Solution().steps(one)) == [1, 1]
        assert one.balance == 3
    """,
}
CHANGES = """
    class Solution:
        def reverseList(self, head):
            done = None
            while head:
                head.next, done, head = done, head, head.next
            return done
        def invertTree(self, root):
            if root:
                root.left, root.right = self.invertTree(root.right), self.invertTree(root.left)
            return root
        def deleteDuplicates(self, head):
            node = head
            while node and node.next:
                if node.next.val == node.val:
                    node.next = node.next.next
                else:
                    node = node.next
            return head
        def swapPairs(self, head):
            if not head or not head.next:
                return head
            first, second = head, head.next
            first.next, second.next = self.swapPairs(second.next), first
            return second
        def zero(self, head):
            head.val = 0
            return head
        def forget(self, one):
            del one.log
        def pay(self, one, amount):
            if one.balance < amount:
                one.log.append("denied")
                raise ValueError("no")
            one.balance -= amount
        def keep(self, one):
            self.one = one
        def add(self, amount):
            self.one.balance += amount
        def total(self):
            return self.one.balance
        def steps(self, one):
            while one.balance:
                yield one.balance
                one.balance -= 1
        def call(self, one, call):
            one.balance += 1
            call()
            return one.balance
"""
HONEST = {
    "lists and trees in place": """
        assert is_same_list(Solution().reverseList(head=list_node([1, 2])), list_node([2, 1]))
        assert is_same_list(Solution().reverseList(head=list_node([])), list_node([]))
        assert is_same_tree(Solution().invertTree(tree_node([4, 2, 7])), tree_node([4, 7, 2]))
        assert is_same_list(Solution().deleteDuplicates(list_node([1, 1, 2])), list_node([1, 2]))
        for v, w in [([1, 2, 3], [2, 1, 3]), ([1], [1])]:
            assert is_same_list(Solution().swapPairs(list_node(v)), list_node(w))
        want = list_node([2, 1])
        got = Solution().reverseList(list_node([1, 2]))
        assert is_same_list(got, want)
        head = list_node([3, 1])
        got = Solution().zero(head)
        assert got is head and head.val == 0
    """,
    "an object of the tests' own function": """
        class Node:
            def __init__(self, val): self.val = val
        def node(val): return Node(val)
        def same(one, other): return one.val == other.val
        assert same(Solution().zero(node(1)), node(0))
    """,
    "what nobody mentions": """
        one, solution = Account(3), Solution()
        try:
            solution.pay(one, 5)
        except ValueError:
            pass
        assert one.balance == 3 and one.log == ["denied"]
        solution.keep(one)
        solution.add(4)
        assert one.balance == 7
        one.balance = 10
        assert solution.total() == 10
        solution.forget(one)
        assert not hasattr(one, "log")
        other, seen = Account(2), []
        steps = solution.steps(other)
        next(steps)
        next(steps)
        assert other.balance == 1
        next(steps, None)
        assert other.balance == 0
        assert solution.call(other, lambda: seen.append(other.balance)) == 1 and seen == [1]
    """,
}


def _tests(body: str) -> FunctionTests:
    lines = code(body).splitlines()
    return check("def check(candidate):\n" + "".join(f"    {line}\n" for line in lines), "Solution")


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG.keys())
async def test_a_wrong_solution_earns_nothing(app: App, body: str, tmp_path: Path) -> None:
    tests = _tests(body)
    assert await asyncio.to_thread(run_functions, code(CUTS), tests, PROMPT, tmp_path)
    assessment = await app.evaluation.score(submission_of(CUTS, tests, PROMPT))
    assert assessment.verdict is not Verdict.INVALID_TASK, assessment
    assert assessment.reward == 0 or assessment.integrity is not Integrity.ISOLATED, assessment


@pytest.mark.parametrize("body", HONEST.values(), ids=HONEST.keys())
async def test_an_honest_solution_passes(app: App, body: str, tmp_path: Path) -> None:
    tests = _tests(body)
    assert not await asyncio.to_thread(run_functions, code(CHANGES), tests, PROMPT, tmp_path)
    submission = submission_of(CHANGES, tests, PROMPT)
    has_own_class = "class Node" in body  # of which the tests hand over an object
    label = Integrity.SHARED if has_own_class else Integrity.ISOLATED
    assessment = await app.evaluation.score(replace(submission, require_integrity=label))
    assert assessment.reward == 1, (assessment.tests, assessment)
