"""Awkward solutions of problems with JSON arguments and results."""

from __future__ import annotations

from tests.honest.solution import called

CALLS = (
    called(
        "a tuple where JSON has an array",
        "def solve(a, b):\n    return a, (b, [a])\n",
        {"[1, 2]": "[1, [2, [1]]]"},
    ),
    called(
        "a method of a class with helpers",
        """
        class Solution:
            def __init__(self):
                self.memo = {}
            def climb(self, n: int) -> int:
                if n < 2:
                    return 1
                if n not in self.memo:
                    self.memo[n] = self.climb(n - 1) + self.climb(n - 2)
                return self.memo[n]
        """,
        {"[5]": "8", "[40]": "165580141"},
        entry_point="Solution().climb",
    ),
    called(
        "names that are not imported, as the site allows",
        """
        class Solution:
            def count(self, words: List[str]) -> Optional[Dict[str, int]]:
                return dict(Counter(words))
        """,
        {'[["a", "b", "a"]]': '{"a": 2, "b": 1}'},
        entry_point="Solution().count",
        prompt="""
        class Solution:
            def count(self, words: List[str]) -> Optional[Dict[str, int]]:
                pass
        """,
    ),
    called(
        "linked lists",
        """
        class Solution:
            def reverse(self, head: Optional[ListNode]) -> Optional[ListNode]:
                done = None
                while head:
                    head.next, done, head = done, head, head.next
                return done
        """,
        {"[[1, 2, 3]]": "[3, 2, 1]", "[[]]": "[]"},
        entry_point="Solution().reverse",
        prompt="""
        class Solution:
            def reverse(self, head: Optional[ListNode]) -> Optional[ListNode]:
                pass
        """,
    ),
    called(
        "trees",
        """
        class Solution:
            def invert(self, root: Optional[TreeNode]) -> Optional[TreeNode]:
                if root:
                    root.left, root.right = self.invert(root.right), self.invert(root.left)
                return root
        """,
        {"[[4, 2, 7, 1, null]]": "[4, 7, 2, null, null, null, 1]", "[[]]": "[]"},
        entry_point="Solution().invert",
        prompt="""
        class Solution:
            def invert(self, root: Optional[TreeNode]) -> Optional[TreeNode]:
                pass
        """,
    ),
    called(
        "a change in place",
        """
        class Solution:
            def moveZeroes(self, nums: List[int]) -> None:
                nums.sort(key=lambda value: value == 0)
        """,
        {"[[0, 1, 0, 3]]": "[1, 3, 0, 0]"},
        entry_point="Solution().moveZeroes",
        prompt="""
        class Solution:
            def moveZeroes(self, nums: List[int]) -> None:
                pass
        """,
    ),
    called(
        "numbers, null and truth as JSON has them",
        r"""
        def solve(kind):
            return {'null': None, 'true': True, 'real': 0.5, 'text': 'é\n'}[kind]
        """,
        {'["null"]': "null", '["true"]': "true", '["real"]': "0.5", '["text"]': '"\\u00e9\\n"'},
    ),
)
