"""Awkward solutions that tests use by name: classes, helpers, and answers to a prompt."""

from __future__ import annotations

from reward_server.domain import FunctionTests
from tests.honest.solution import Solution, called, code


def _asserted(name: str, completion: str, *asserts: str, setup: str = "") -> Solution:
    tests = FunctionTests(asserts=tuple(map(code, asserts)), setup_code=setup)
    return Solution(name=name, completion=code(completion), tests=tests)


CLASSES = (
    _asserted(
        "a class with operators of its own",
        """
        class Vector:
            def __init__(self, *parts): self.parts = parts
            def __add__(self, other): return Vector(*map(sum, zip(self.parts, other.parts)))
            def __mul__(self, factor): return Vector(*(factor * part for part in self.parts))
            __rmul__ = __mul__
            def __eq__(self, other): return self.parts == other.parts
            def __len__(self): return len(self.parts)
            def __getitem__(self, index): return self.parts[index]
            def __contains__(self, part): return part in self.parts
            def __bool__(self): return any(self.parts)
            def __repr__(self): return f'Vector{self.parts}'
            def __abs__(self): return max(map(abs, self.parts))
            def __neg__(self): return self * -1
            def __lt__(self, other): return self.parts < other.parts
        """,
        "assert Vector(1, 2) + Vector(3, 4) == Vector(4, 6)",
        "assert 2 * Vector(1, 2) == Vector(1, 2) * 2",
        "assert len(Vector(1, 2)) == 2 and Vector(1, 2)[1] == 2 and 2 in Vector(1, 2)",
        "assert not Vector(0, 0) and repr(Vector(1, 2)) == 'Vector(1, 2)'",
        "assert abs(-Vector(1, 2)) == 2 and list(Vector(1, 2)) == [1, 2]",
        "assert sorted([Vector(2), Vector(1)])[0] == Vector(1)",
    ),
    _asserted(
        "a class with state, properties and class methods",
        """
        class Account:
            opened = 0
            def __init__(self, owner, balance=0):
                self.owner, self._balance = owner, balance
                Account.opened += 1
            @classmethod
            def parse(cls, text): return cls(*text.split(':')[:1], int(text.split(':')[1]))
            @staticmethod
            def currency(): return 'EUR'
            @property
            def balance(self): return self._balance
            @balance.setter
            def balance(self, value):
                if value < 0: raise ValueError('debt')
                self._balance = value
        account = Account.parse('Ann:5')
        """,
        "assert account.owner == 'Ann' and account.balance == 5",
        "account.balance = 7\nassert account.balance == 7",
        "assert Account.currency() == 'EUR' and Account.opened == 1",
        "assert isinstance(account, Account)",
        """
        try:
            account.balance = -1
        except ValueError:
            pass
        else:
            raise AssertionError
        """,
    ),
    _asserted(
        "classes that inherit, and abstract ones",
        """
        from abc import ABC, abstractmethod
        class Shape(ABC):
            @abstractmethod
            def area(self): ...
            def describe(self): return f'{type(self).__name__} of {self.area()}'
        class Square(Shape):
            def __init__(self, side): self.side = side
            def area(self): return self.side ** 2
        """,
        "assert Square(3).describe() == 'Square of 9'",
        "assert issubclass(Square, Shape) and isinstance(Square(1), Shape)",
        "try:\n    Shape()\nexcept TypeError:\n    pass\nelse:\n    raise AssertionError",
    ),
    _asserted(
        "a context manager",
        """
        from contextlib import contextmanager
        log = []
        @contextmanager
        def noted(name):
            log.append(f'in {name}')
            yield name.upper()
            log.append(f'out {name}')
        def noted_so_far():
            return log
        """,
        """
        with noted('a') as name:
            assert name == 'A'
        assert noted_so_far() == ['in a', 'out a']
        """,
    ),
    _asserted(
        "an iterator class",
        """
        class Countdown:
            def __init__(self, start): self.start = start
            def __iter__(self): return self
            def __next__(self):
                if self.start == 0: raise StopIteration
                self.start -= 1
                return self.start
        """,
        "assert list(Countdown(3)) == [2, 1, 0]",
        "assert all(map(lambda n: n < 3, Countdown(3)))",
    ),
    _asserted(
        "an exception class of its own, expected",
        """
        class InsufficientFunds(Exception):
            pass
        def withdraw(balance, amount):
            if amount > balance:
                raise InsufficientFunds(f'{amount} > {balance}')
            return balance - amount
        """,
        "try:\n    withdraw(1, 2)\nexcept InsufficientFunds as error:\n"
        "    assert str(error) == '2 > 1'\nelse:\n    raise AssertionError",
        "assert withdraw(2, 1) == 1",
    ),
    _asserted(
        "asserts in the benchmarks' manner, with a set-up",
        "def similar(a, b):\n    return tuple(sorted(set(a) & set(b)))\n",
        "assert set(similar((3, 4), (4, 5))) == set((4,))",
        "assert similar(NUMBERS, NUMBERS) == NUMBERS",
        setup="NUMBERS = (1, 2)",
    ),
    _asserted(
        "a tolerance on a real result",
        "import math\ndef area(r):\n    return math.pi * r ** 2\n",
        "assert math.isclose(area(1), 3.141592653589793, rel_tol=1e-9)",
        "assert abs(area(2) - 12.566) < 0.001",
        "assert round(area(1), 2) == 3.14",
    ),
)

PROMPT = code('''
    from typing import List


    def has_close(numbers: List[float], threshold: float) -> bool:
        """Tell whether two numbers are closer than the threshold.
        >>> has_close([1.0, 2.8, 3.0], 0.3)
        True
        """
''')
CLOSE = FunctionTests(
    entry_point="has_close",
    test_code="def check(candidate):\n"
    "    assert candidate([1.0, 2.8, 3.0], 0.3) is True\n"
    "    assert candidate([1.0, 2.0], 0.5) is False\n",
)
BODY = (
    "    numbers = sorted(numbers)\n"
    "    return any(b - a < threshold for a, b in zip(numbers, numbers[1:]))\n"
)
ANSWERS = (
    Solution(name="a continuation of the prompt", completion=BODY, tests=CLOSE, prompt=PROMPT),
    Solution(
        name="the whole function again",
        completion=f"def has_close(numbers: List[float], threshold: float) -> bool:\n{BODY}",
        tests=CLOSE,
        prompt=PROMPT,
    ),
    Solution(
        name="the whole function again, and a main guard",
        completion=f"def has_close(numbers, threshold):\n{BODY}\n"
        "if __name__ == '__main__':\n    import doctest\n    doctest.testmod()\n    exit(1)\n",
        tests=CLOSE,
        prompt=PROMPT,
    ),
)

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

NAMED = (*CLASSES, *ANSWERS, *CALLS)
