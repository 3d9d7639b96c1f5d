"""Objects of the prompt's classes cross as records; the judge's are of the prompt's own."""

from __future__ import annotations

import dataclasses
import enum
import json

import pytest

from reward_server.runner.channel.codec import ProtocolViolation
from reward_server.runner.channel.decoding import Decoder
from reward_server.runner.channel.encoding import Encoder
from reward_server.runner.sharing.objects import CANDIDATE, JUDGE, SharedObjects
from reward_server.runner.values.records import Records
from tests.unit.runner.harness import Zygote

PROMPT = '''
from dataclasses import dataclass
from enum import Enum, Flag, IntFlag
from typing import Optional

class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next

class TreeNode:
    __slots__ = ("val", "left", "right")
    def __init__(self, val=0, left=None, right=None):
        self.val, self.left, self.right = val, left, right

@dataclass(frozen=True)
class Point:
    x: int
    y: int

class Account:
    def __init__(self, balance):
        self.balance, self._log, self.parent = balance, [], None
    def deposit(self, amount):
        self.balance += amount
        self._log.append(amount)
    def history(self):
        return list(self._log)

class Side(Enum):
    LEFT = 1
    RIGHT = 2

class Perm(Flag):
    R = 1
    W = 2
    X = 4

class Mode(IntFlag):
    FAST = 1
    SAFE = 2

class Broken(Exception):
    pass

def list_node(values):
    head = None
    for value in reversed(values):
        head = ListNode(value, head)
    return head

def to_list(node):
    values = []
    while node:
        values.append(node.val)
        node = node.next
    return values


def f(*args):
    """Does it."""
'''
BODIES = {
    "a list reversed in place": (
        "    done, head = None, args[0]\n    while head:\n"
        "        head.next, done, head = done, head, head.next\n    return done\n",
        "assert to_list(f(list_node([1, 2, 3]))) == [3, 2, 1]\nassert f(None) is None",
    ),
    "a list of a thousand nodes": (
        "    return ListNode(0, args[0])\n",
        "assert to_list(f(list_node(range(1000)))) == [0, *range(1000)]",
    ),
    "the class is known": (
        "    return isinstance(args[0], ListNode) and type(args[0])(5, args[0])\n",
        "head = list_node([1])\ngot = f(head)\nassert isinstance(got, ListNode)\n"
        "assert got.next is head",
    ),
    "a node is itself": (
        "    return args[0].left\n",
        "root = TreeNode(1, TreeNode(2), TreeNode(3))\nassert f(root) is root.left\n"
        "assert f(root).val == 2",
    ),
    "a cycle": (
        "    slow = fast = args[0]\n    while fast and fast.next:\n"
        "        slow, fast = slow.next, fast.next.next\n"
        "        if slow is fast:\n            return True\n    return False\n",
        "head = list_node([1, 2, 3])\nassert f(head) is False\nhead.next.next.next = head\n"
        "assert f(head) is True",
    ),
    "data classes are equal": (
        "    a, b = args\n    return Point(a.x + b.x, a.y + b.y)\n",
        "got = f(Point(1, 2), Point(3, 4))\nassert got == Point(4, 6) and got.x == 4",
    ),
    "in containers": (
        "    return {'points': [Point(p.y, p.x) for p in args[0]]}\n",
        "assert f([Point(1, 2), Point(3, 4)]) == {'points': [Point(2, 1), Point(4, 3)]}",
    ),
    "a change that is kept beside a result": (
        "    a, b, n = args\n    a.deposit(-n)\n    b.deposit(n)\n    a.parent = b\n"
        "    return True\n",
        "a, b = Account(10), Account(0)\nassert f(a, b, 4) is True\n"
        "assert a.balance == 6 and b.history() == [4] and a.parent is b",
    ),
    "members are the same": (
        "    return Side.RIGHT if args[0] is Side.LEFT else Side.LEFT\n",
        "assert f(Side.LEFT) is Side.RIGHT and f(Side.RIGHT).name == 'LEFT'",
    ),
    "flags combined": (
        "    if args:\n        return Perm.X in args[0], args[0] | Perm.R, ~args[0]\n"
        "    return Perm(0)\n",
        "assert f(Perm.W | Perm.X) == (True, Perm.R | Perm.W | Perm.X, Perm.R)\n"
        "assert f() == Perm(0) and not f() and f() is Perm(0)\n"
        "assert f(Perm(0)) == (False, Perm.R, Perm.R | Perm.W | Perm.X)",
    ),
    "integer flags combined": (
        "    return args[0] | Mode.SAFE, Mode(0)\n",
        "got, none = f(Mode.FAST)\nassert got == 3 and Mode.SAFE in got and none == Mode(0)",
    ),
    "an exception of the prompt's": (
        "    raise Broken('no')\n",
        "try:\n    f()\nexcept Broken as error:\n    assert str(error) == 'no'\n"
        "else:\n    assert 0",
    ),
    "the definitions again": (
        "    return Point(args[0].x, 5)\n\n"
        "@dataclass(frozen=True)\nclass Point:\n    x: int\n    y: int\n",
        "assert f(Point(1, 2)) == Point(1, 5)",
    ),
    "in the next call": (
        "    if len(args) == 1:\n        return ListNode(7)\n    return args[0] is args[1].next\n",
        "node = f(1)\nassert f(node, ListNode(0, node)) is True",
    ),
    "with a callback": (
        "    key, points = args\n    return sorted(points, key=key)\n",
        "assert f(lambda p: -p.x, [Point(1, 2), Point(3, 4)])[0] == Point(3, 4)",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_an_honest_solution_passes_with(zygote: Zygote, name: str) -> None:
    body, test = BODIES[name]
    result = zygote.function(PROMPT + body, prompt=PROMPT, asserts=[test])
    assert result.passed, result.explanation


@pytest.mark.parametrize(
    ("body", "test"),
    [
        ("    return Point(1, 1)\n", "assert f() == Point(2, 2)"),
        ("    return ListNode(3)\n", "assert to_list(f()) == [4]"),
        (
            "    args[0].deposit = lambda n: 0\n    return 1\n",
            "a = Account(1)\nf(a)\na.deposit(3)\nassert a.balance == 1",
        ),
        ("    args[0].balance = always\n", "a = Account(1)\nf(a)\nassert a.balance == 5"),
        ("    args[0].history = lambda: [5]\n", "a = Account(1)\nf(a)\nassert a.history() == [5]"),
        ("    return always\n", "assert f() == Point(2, 2)"),
        ("    p = Point(1, 1)\n    vars(p)['__class__'] = int\n    return p\n", "assert f() == 1"),
    ],
)
def test_no_redefinition_or_field_decides(zygote: Zygote, body: str, test: str) -> None:
    lies = (
        "class Always(int):\n    def __eq__(self, other): return True\nalways = Always()\n"
        "class Point:\n    def __init__(self, x, y): self.x = x\n"
        "    def __eq__(self, other): return True\n"
    )
    result = zygote.function(PROMPT + body + lies, prompt=PROMPT, asserts=[test])
    assert not result.passed, result.explanation
    assert set(result.outcomes) & {"FAILED", "ERROR"}, result.explanation


@pytest.mark.parametrize(
    ("definitions", "test", "passes"),
    [
        ("class Own(Account): pass\n", "assert isinstance(f(), Account)", True),
        ("class Own(Account): pass\n", "assert not isinstance(f(), Account)", False),
        ("class Own: pass\n", "assert isinstance(f(), Account)", False),
        ("class Own(Account): pass\n", "assert issubclass(Own, Account)", True),
        ("class Own(Account): pass\n", "assert issubclass(Own, (Point, Account))", True),
        ("class Own: pass\n", "assert issubclass(Own, Account)", False),
        ("class Own(Shape): pass\n", "assert issubclass(Own, Shape)", True),
        ("class Own(Square, Account): pass\n", "x = f()\nassert isinstance(x, Shape | None)", True),
        ("class Own(Square): pass\n", "match f():\n  case Shape(): pass\n  case _: 1 / 0", True),
        ("Own = Square\n", "assert type(f()) is Square and issubclass(Square, Shape)", True),
    ],
)
def test_a_class_derived_from_the_prompts_is_one_of_its_kind(
    zygote: Zygote, definitions: str, test: str, passes: bool
) -> None:
    account = "class Account:\n    def __init__(self, n=0): self.n = n\n"
    shapes = "import abc\nclass Shape(abc.ABC):\n    def area(self): return self.side ** 2\n"
    square = "class Square(Shape, Account):\n    side = 2\n"
    point = "class Point(tuple):\n    pass\n"
    prompt = account + shapes + square + point + "def f(): "
    solution = f"{prompt}return Own()\n{definitions}"
    result = zygote.function(solution, prompt=prompt, asserts=[test])
    assert result.passed is passes, result.explanation


@pytest.mark.parametrize(
    ("text", "entry_point", "kept"),
    [
        ("class A:\n    pass\ndef f(): ...\n", "f", {"A"}),
        ("class A:\n    def g(self): return 1\nclass B:\n    def g(self): return 1\n", "f", {"A"}),
        ("class A:\n    def g(self): ...\ndef f(): ...\n", "f", set()),
        ("class A:\n    def g(self): return 1\ndef f(): ...\n", "A().g", set()),
    ],
)
def test_only_what_is_defined_in_full_stays_the_prompts(
    text: str, entry_point: str, kept: set[str]
) -> None:
    from reward_server.runner.judge.tests import prompt, under_test

    names = under_test.under_test(text, entry_point, "assert f()")
    assert prompt.complete_classes(prompt.parse(text), names) == kept


# ------------------------------------------------------------------------------- the messages


class Node:
    def __init__(self, next: Node | None = None) -> None:
        self.next = next

    def method(self) -> int:
        return 1


@dataclasses.dataclass
class Item:
    a: int


@dataclasses.dataclass(frozen=True)
class Point:
    x: object


class Color(enum.Enum):
    RED = 1


class Perm(enum.Flag):
    R = 1
    W = 2

    @classmethod
    def _missing_(cls, value: object) -> object:
        raise AssertionError("decoding runs no code of the class's own")


class Mode(enum.IntFlag):
    FAST = 1
    SAFE = 1 << 70


class Side:
    """One side of a conversation."""

    def __init__(self, side: int) -> None:
        classes = {kind.__name__: kind for kind in (Node, Item, Point, Color, Perm, Mode)}
        self.records = Records()
        self.shared = SharedObjects(side, lambda: classes, lambda *_: True)
        self.decoder = Decoder(self)

    def refer(self, value: object, encoder: Encoder) -> object:
        return self.shared.refer(value, encoder)

    def may_be_key(self, value: object, encoder: Encoder) -> bool:
        return self.shared.may_be_key(value, encoder)

    def resolve(self, reference: object) -> object:
        assert isinstance(reference, list)
        return self.shared.resolve(reference)

    def sent(self, *values: object) -> bytes:
        encoder = Encoder(self, 1 << 20, extends=True)
        return encoder.dumps(encoder.items(list(values)))

    def heard(self, message: bytes) -> object:
        decoded = self.decoder.loads(message)
        self.shared.finish()
        return decoded


def test_objects_are_keys_and_elements_of_sets() -> None:
    judge, candidate = Side(JUDGE), Side(CANDIDATE)
    node, line = Node(), Point((Point(1), Color.RED))
    heard = candidate.heard(judge.sent({node: [node], (Color.RED, node): 2}, {line, Point(2)}))
    ((other, _), (pair, _)) = heard[0].items()  # type: ignore[index]
    assert heard[0][other][0] is other  # type: ignore[index]
    assert pair == (Color.RED, other)
    assert heard[1] == {line, Point(2)}  # type: ignore[index]
    back = judge.heard(candidate.sent(heard[0], frozenset((other, Color.RED))))  # type: ignore[index]
    assert back == [{node: [node], (Color.RED, node): 2}, {node, Color.RED}]


def test_a_set_of_objects_may_be_told_of_an_object_in_it() -> None:
    judge, candidate = Side(JUDGE), Side(CANDIDATE)
    node = Node()
    node.next = {node}  # type: ignore[assignment]
    (heard,) = candidate.heard(judge.sent(node))  # type: ignore[misc]
    assert heard.next == {heard}


@pytest.mark.parametrize("held", [[1], object(), frozenset(), {Color.RED: 1}, (Point([1]),)])
def test_what_is_hashed_by_more_than_data_is_no_key(held: object) -> None:
    side = Side(JUDGE)
    assert not side.may_be_key(Point(held), Encoder(side, 1 << 20))


def test_what_is_hashed_by_its_fields_is_no_key_among_the_fields_of_another() -> None:
    side = Side(JUDGE)
    encoder = Encoder(side, 1 << 20)
    encoder.is_listing = True
    assert not side.may_be_key(Point(1), encoder)
    assert side.may_be_key(Node(), encoder)


def test_a_key_twice_is_refused() -> None:
    judge, candidate = Side(JUDGE), Side(CANDIDATE)
    (message,) = json.loads(candidate.sent({Node(): 1}))
    key = message["dict"][0][0]
    for tag, content in (("dict", [[key, key], [1, 1]]), ("set", [key, key])):
        with pytest.raises(ProtocolViolation):
            judge.heard(json.dumps([{tag: content}]).encode())


def test_objects_are_the_same_on_their_way_back() -> None:
    judge, candidate = Side(JUDGE), Side(CANDIDATE)
    head = Node(Node())
    head.next.next = head  # type: ignore[union-attr]
    heard = candidate.heard(judge.sent(head, [head.next], Color.RED))
    assert heard[0].next is heard[1][0]  # type: ignore[index]
    assert heard[0].next.next is heard[0]  # type: ignore[index]
    assert heard[2] is Color.RED  # type: ignore[index]
    new = Node(heard[0])  # type: ignore[index]
    back = judge.heard(candidate.sent(new, heard[0]))  # type: ignore[index]
    assert back[1] is head  # type: ignore[index]
    assert back[0].next is head  # type: ignore[index]
    assert candidate.heard(judge.sent(back[0])) == [new]  # type: ignore[index]


def test_flags_and_what_they_combine_to_are_the_same() -> None:
    judge, candidate = Side(JUDGE), Side(CANDIDATE)
    sent = [Perm.R, Mode.FAST | Mode.SAFE, Mode(0), Mode(8)]
    heard = judge.heard(candidate.sent(*sent))
    assert [type(one) for one in heard] == [Perm, Mode, Mode, Mode]  # type: ignore[attr-defined]
    assert heard == sent
    for value in (3, 0):
        combined = judge.heard(b'{"@":["flag","Perm",%d]}' % value)
        assert isinstance(combined, Perm)
        assert combined.value == value


@pytest.mark.parametrize(
    "reference",
    [
        ["record", "Node", -1],
        ["record", "Node", 1, [[1, [], []]]],
        ["record", "Node", 0, [[0, [], []]]],
        ["record", "Other", -1, [[-1, [], []]]],
        ["record", "Color", -1, [[-1, [], []]]],
        ["record", "Node", -1, [[-1, ["a"], []]]],
        ["record", "Node", -1, [[-1, ["__class__"], [1]]]],
        ["record", "Node", -1, [[-1, [3], [1]]]],
        ["record", "Node", -1, [[-2, [], []]]],
        ["record", "Node", -1, {"a": []}],
        ["record", "Node", "1"],
        ["member", "Color", "BLUE"],
        ["member", "Node", "RED"],
        ["member", "Color", "__class__"],
        ["flag", "Perm", 8],
        ["flag", "Perm", "1"],
        ["flag", "Perm", True],
        ["flag", "Perm", [3]],
        ["flag", "Color", 1],
        ["flag", "Node", 1],
        ["flag", "Other", 1],
    ],
)
def test_records_that_no_shim_sends_are_refused(reference: list[object]) -> None:
    with pytest.raises(ProtocolViolation):
        Side(JUDGE).heard(json.dumps([{"@": reference}], separators=(",", ":")).encode())


def test_a_record_of_another_class_is_refused() -> None:
    judge = Side(JUDGE)
    judge.sent(Node())
    with pytest.raises(ProtocolViolation):
        judge.heard(b'[{"@":["record","Item",1]}]')
