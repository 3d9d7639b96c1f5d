"""What may be handed to a solution, and what it may do with it."""

from __future__ import annotations

import abc
import collections
import decimal
import enum
import functools
import io
import operator
import os
import pathlib
import random
import re
import string
import subprocess
import threading
import types
from collections.abc import Callable
from typing import NamedTuple
from unittest import mock

import pytest

from reward_server.runner.channel.codec import Foreign, NotDataError, ProtocolViolation
from reward_server.runner.judge.exports.callbacks import Callbacks
from reward_server.runner.judge.exports.membrane import (
    FUNCTION,
    ITERATOR,
    MOCK,
    OBJECT,
    OBJECT_ITERATOR,
    Membrane,
)
from reward_server.runner.judge.exports.own import Own

TESTS = """
import dataclasses, enum, functools, io, pathlib, abc, collections, threading, typing
from unittest import mock

class Node:
    kind = "node"
    def __init__(self, value=0, next=None):
        self.value, self.next, self.values, self.on_change = value, next, [], print
    def total(self): return self.value
    @property
    def double(self): return 2 * self.value
    @property
    def level(self): return self.value
    @level.setter
    def level(self, level): self.value = level
    @classmethod
    def of(cls, value): return cls(value)
    @staticmethod
    def parse(text): return Node(int(text))

class Countdown:
    left = 3
    def __iter__(self): return self
    def __next__(self):
        self.left -= 1
        return self.left
    def rest(self): return self.left

class Slotted:
    __slots__ = ("value", "next")

class Faker:
    def __init__(self): self.heard = []
    def __getattr__(self, name): return lambda *args: self.heard.append(name)

@dataclasses.dataclass(slots=True)
class Point:
    x: int
    y: int

class Color(enum.Enum):
    RED = 1
    def lower(self): return self.name.lower()

class Memberless(enum.Enum): pass
class Maker(type): pass
class Reader(io.FileIO): pass
class Place(pathlib.PosixPath): pass
class Fake(mock.MagicMock): pass
class Worker(threading.Thread): pass
class Text(collections.UserString): pass
class Called(collections.UserDict):
    def __call__(self): return 1
class OwnError(Exception):
    def __init__(self, code): self.code = code
Pair = collections.namedtuple("Pair", "a b")
path_class = pathlib.Path

def double(value): return 2 * value
def outer():
    class Inner:
        pass
    return Inner
@functools.wraps(len)
def wrapped(*args): return len(*args)
@functools.lru_cache
def cached(value): return value
"""


@pytest.fixture
def tests() -> types.SimpleNamespace:
    own = Own()
    namespace: dict[str, object] = {"__name__": "__main__"}
    own.add_namespace(namespace, has_classes=True)
    exec(TESTS, namespace)
    return types.SimpleNamespace(**namespace, membrane=Membrane(own))


HANDED: dict[str, tuple[str, Callable[[types.SimpleNamespace], object]]] = {
    "a function": (FUNCTION, lambda t: t.double),
    "a function that a library wrapped": (FUNCTION, lambda t: t.cached),
    "a function with another's names": (FUNCTION, lambda t: t.wrapped),
    "a method": (FUNCTION, lambda t: t.Node().total),
    "a class method": (FUNCTION, lambda t: t.Node.of),
    "a class": (FUNCTION, lambda t: t.Node),
    "a class in a function": (FUNCTION, lambda t: t.outer()),
    "a class that a decorator made": (FUNCTION, lambda t: t.Point),
    "an enumeration": (FUNCTION, lambda t: t.Color),
    "an object": (OBJECT, lambda t: t.Node()),
    "an object of a class that a decorator made": (OBJECT, lambda t: t.Point(1, 2)),
    "a member": (OBJECT, lambda t: t.Color.RED),
    "an exception": (OBJECT, lambda t: t.OwnError(3)),
    "a partial function": (FUNCTION, lambda t: functools.partial(t.double, 1)),
    "a bound append": (FUNCTION, lambda t: [].append),
    "a bound format": (FUNCTION, lambda t: "{:.2f}".format),
    "a method of text": (FUNCTION, lambda t: str.upper),
    "an operator of text": (FUNCTION, lambda t: str.__len__),
    "a pattern's match": (FUNCTION, lambda t: re.compile("a").match),
    "a library's function": (FUNCTION, lambda t: operator.add),
    "a choice": (FUNCTION, lambda t: random.choice),
    "a getter of public names": (FUNCTION, lambda t: operator.attrgetter("a.b")),
    "a caller of a public name": (FUNCTION, lambda t: operator.methodcaller("upper")),
    "a generator of random numbers": (OBJECT, lambda t: random.Random(1)),
    "its method": (FUNCTION, lambda t: random.Random(1).randint),
    "a stream": (OBJECT_ITERATOR, lambda t: io.StringIO("a")),
    "a stream of bytes": (OBJECT_ITERATOR, lambda t: io.BytesIO(b"a")),
    "an iterator with methods": (OBJECT_ITERATOR, lambda t: t.Countdown()),
    "a stream's inherited method": (FUNCTION, lambda t: io.StringIO().writelines),
    "a marker": (OBJECT, lambda t: object()),
    "a sentinel": (OBJECT, lambda t: mock.sentinel.one),
    "a generator": (ITERATOR, lambda t: (x for x in (1,))),
    "a mock": (MOCK, lambda t: mock.Mock()),
    "a specified function": (FUNCTION, lambda t: mock.create_autospec(t.double)),
}
REFUSED: dict[str, Callable[[types.SimpleNamespace], object]] = {
    "a hash by address": lambda t: object.__hash__,
    "a partial hash": lambda t: functools.partial(hash, t.Node()),
    "a file's inherited method": lambda t: t.Reader(0, closefd=False).readlines,
    "getattr": lambda t: getattr,
    "setattr": lambda t: setattr,
    "a partial getattr": lambda t: functools.partial(getattr, t.Node()),
    "a partial partial": lambda t: functools.partial(functools.partial, setattr),
    "attrgetter": lambda t: operator.attrgetter,
    "methodcaller": lambda t: operator.methodcaller,
    "a getter of a special name": lambda t: operator.attrgetter("x.__globals__"),
    "a getter of a private name": lambda t: operator.attrgetter("a", "_b"),
    "a caller of a special name": lambda t: operator.methodcaller("__getattribute__", "x"),
    "a caller with names": lambda t: operator.methodcaller("__setattr__", x=1),
    "a template's method": lambda t: str.format,
    "a template's method by mapping": lambda t: str.format_map,
    "a formatter": lambda t: string.Formatter().format,
    "a wrapper": lambda t: functools.update_wrapper,
    "wraps": lambda t: functools.wraps,
    "a cached property": lambda t: functools.cached_property,
    "a decorator of classes": lambda t: functools.total_ordering,
    "vars": lambda t: vars,
    "open": lambda t: open,
    "a path": lambda t: pathlib.Path("."),
    "a class of paths": lambda t: t.path_class,
    "an own class of files": lambda t: t.Reader,
    "an own class of paths": lambda t: t.Place,
    "an own class of mocks": lambda t: t.Fake,
    "an own class of threads": lambda t: t.Worker,
    "an own class of classes": lambda t: t.Maker,
    "an enumeration without members": lambda t: t.Memberless,
    "type": lambda t: type,
    "object": lambda t: object,
    "a class of mocks": lambda t: mock.MagicMock,
    "what equals everything": lambda t: mock.ANY,
    "a module": lambda t: os,
    "a library's function under an own name": lambda t: _claiming(os.read),
    "a library's class under an own module": lambda t: type("Fake", (), {"__module__": "__main__"}),
    "a method of an unlisted class": lambda t: threading.Thread().run,
    "an inherited method of an unlisted class": lambda t: t.Place(".").read_text,
    "a context": lambda t: decimal.getcontext(),
    "the setter of a context": lambda t: decimal.setcontext,
    "the seed": lambda t: os.urandom,
    "a process": lambda t: subprocess.Popen,
    "a reducer": lambda t: t.Node().__reduce_ex__,
    "a getter of attributes": lambda t: t.Node().__getattribute__,
    "a setter of attributes": lambda t: t.Node().__setattr__,
    "the globals": lambda t: types.MappingProxyType(t.double.__globals__),
    "an exception's method": lambda t: t.OwnError(3).with_traceback,
    "code": lambda t: t.double.__code__,
    "a property": lambda t: t.Node.double,
}


def _claiming(function: object) -> object:
    def made(*args: object) -> object:
        return function

    made.__module__ = "__main__"
    return made


@pytest.mark.parametrize("name", HANDED)
def test_what_computes_is_handed_over(tests: types.SimpleNamespace, name: str) -> None:
    kind, thing = HANDED[name]
    assert tests.membrane.kind_of(thing(tests)) == kind


@pytest.mark.parametrize("name", REFUSED)
def test_what_leads_further_is_not_handed_over(tests: types.SimpleNamespace, name: str) -> None:
    with pytest.raises(NotDataError):
        tests.membrane.kind_of(REFUSED[name](tests))


# --------------------------------------------------------------------------------- attributes


@pytest.mark.parametrize("name", ["value", "next", "total", "double", "of", "parse", "kind"])
def test_public_attributes_of_the_tests_are_read(tests: types.SimpleNamespace, name: str) -> None:
    tests.membrane.get(tests.Node(1), name)


def test_members_exceptions_and_listed_classes_are_read(tests: types.SimpleNamespace) -> None:
    get = tests.membrane.get
    assert get(tests.Color.RED, "name") == "RED"
    assert get(tests.Color.RED, "lower")() == "red"
    assert get(tests.OwnError(3), "code") == 3
    assert get(KeyError("a"), "args") == ("a",)
    assert get(random.Random(1), "randint")(1, 1) == 1
    assert get(io.StringIO("a"), "getvalue")() == "a"


@pytest.mark.parametrize("name", ["__class__", "_x", "__globals__", "", 3, None, ["value"]])
def test_other_names_are_not_read(tests: types.SimpleNamespace, name: object) -> None:
    with pytest.raises(AttributeError):
        tests.membrane.get(tests.Node(1), name or "__dict__")


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (lambda t: t.Place("."), "parent"),
        (lambda t: t.Place("."), "read_text"),
        (lambda t: t.Worker(), "daemon"),
        (lambda t: t.Text("{}"), "format"),
        (lambda t: AttributeError("a", obj=t.Node()), "obj"),
        (lambda t: t.OwnError(3), "with_traceback"),
    ],
)
def test_what_libraries_add_is_not_read(
    tests: types.SimpleNamespace, thing: Callable[[object], object], name: str
) -> None:
    with pytest.raises(AttributeError):
        tests.membrane.get(thing(tests), name)


class Liar(Foreign):
    """Something of the solution's."""

    __slots__ = ()

    def __call__(self, *_: object) -> bool:
        return True


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("next", None), ("next", Liar()), ("value", 2), ("values", [1]), ("level", 3)),
        *(("kind", "leaf"), ("fresh", 1)),
    ],
)
def test_data_is_set(tests: types.SimpleNamespace, name: str, value: object) -> None:
    node = tests.Node(1)
    tests.membrane.set(node, name, value)
    assert getattr(node, name) == value


def test_an_object_of_the_solutions_gives_way_to_another(tests: types.SimpleNamespace) -> None:
    node = tests.Node(1, tests.Node(2))
    for value in (Liar(), Liar(), tests.Node(3)):
        tests.membrane.set(node, "next", value)
        assert node.next is value


def test_slots_are_set(tests: types.SimpleNamespace) -> None:
    slotted = tests.Slotted()
    tests.membrane.set(slotted, "value", 1)
    tests.membrane.set(slotted, "value", 2)
    assert slotted.value == 2


@pytest.mark.parametrize(
    ("thing", "name", "value"),
    [
        (lambda t: t.Node(1), "total", Liar()),
        (lambda t: t.Node(1), "total", 5),
        (lambda t: t.Node(1), "double", 5),
        (lambda t: t.Node(1), "of", Liar()),
        (lambda t: t.Node(1), "parse", Liar()),
        (lambda t: t.Node(1), "on_change", Liar()),
        (lambda t: t.Node(1), "value", Liar()),
        (lambda t: t.Node(1), "values", Liar()),
        (lambda t: t.Node(1), "__class__", Liar()),
        (lambda t: t.Node(1), "_private", 1),
        (lambda t: t.Faker(), "was_called", Liar()),
        (lambda t: t.Color.RED, "lower", Liar()),
        (lambda t: t.OwnError(3), "args", (1,)),
        (lambda t: t.Worker(), "daemon", True),
        (lambda t: t.Worker(), "run", Liar()),
        (lambda t: random.Random(1), "randint", Liar()),
        (lambda t: KeyError(1), "args", (2,)),
        (lambda t: mock.sentinel.one, "name", "two"),
    ],
)
def test_nothing_else_is_set(
    tests: types.SimpleNamespace, thing: Callable[[object], object], name: str, value: object
) -> None:
    with pytest.raises(AttributeError):
        tests.membrane.set(thing(tests), name, value)


def test_only_the_tests_say_what_calling_an_object_does(tests: types.SimpleNamespace) -> None:
    assert tests.membrane.perform("call", tests.Called(), [[], {}]) == 1
    with pytest.raises(ProtocolViolation):
        tests.membrane.perform("call", tests.Node(), [[], {}])


@pytest.mark.parametrize("operation", ["get", "set", "item", "hash", "repr", "__call__"])
def test_a_function_can_only_be_called(tests: types.SimpleNamespace, operation: str) -> None:
    with pytest.raises(ProtocolViolation):
        tests.membrane.perform(operation, tests.double, ["x"])


def test_a_function_tells_its_docstring_and_nothing_else(tests: types.SimpleNamespace) -> None:
    for thing, text in ((sorted, sorted.__doc__), (tests.double, None), (tests.Node, None)):
        assert tests.membrane.perform("get", thing, ["__doc__"]) == text
    for name in ("__globals__", "__code__", "__wrapped__", "__dict__", "__defaults__", "__doc"):
        with pytest.raises(ProtocolViolation):
            tests.membrane.perform("get", tests.double, [name])
    with pytest.raises(ProtocolViolation):
        tests.membrane.perform("set", tests.double, ["__doc__", "text"])


def test_no_address_crosses(tests: types.SimpleNamespace) -> None:
    for thing in (tests.Node(), mock.Mock(), object()):
        for operation in ("str", "repr"):
            shown = tests.membrane.perform(operation, thing, [])
            assert str(id(thing)) not in shown
            assert f"{id(thing):x}" not in shown


@pytest.mark.parametrize(
    "function",
    [repr, ascii, "{!r}".format, "{}".format, "%r".__mod__, object.__repr__, object.__str__],
)
def test_no_function_that_is_handed_over_tells_an_address(
    tests: types.SimpleNamespace, function: Callable[[object], str]
) -> None:
    thing = tests.Node()
    told = tests.membrane.perform("call", function, [[thing], {}])
    assert "Node object at 0x0>" in told
    bound = tests.membrane.perform("call", functools.partial(repr, thing), [[], {}])
    assert bound == tests.membrane.perform("call", thing.__repr__, [[], {}]) == told


def test_a_text_of_the_tests_keeps_what_looks_like_an_address(
    tests: types.SimpleNamespace,
) -> None:
    text = " fault at 0x1f "
    assert tests.membrane.perform("call", str.strip, [[text], {}]) == text.strip()
    assert tests.membrane.perform("call", " fault at 0x{:x}".format, [[31], {}]) == text.rstrip()
    assert tests.membrane.perform("call", tests.double, [[text], {}]) == 2 * text


def test_a_hash_of_a_thing_is_its_number(tests: types.SimpleNamespace) -> None:
    callbacks = Callbacks(tests.membrane)
    things = [tests.Node(), tests.Node().total, [].append, tests.double, mock.Mock()]
    numbers = [callbacks.refer(one)[1] for one in things]
    callbacks.refer(hash)

    def told(value: object) -> object:
        return callbacks.perform("call", [hash, [value], {}])

    assert [told(one) for one in things] == numbers
    assert told((things[0], "a")) == hash((numbers[0], "a"))
    assert told(frozenset((things[0],))) == hash(frozenset((numbers[0],)))
    assert callbacks.perform("hash", [things[0]]) == told(things[0])
    for data in ("a", (1, "b"), -1, frozenset((2, "c")), (("d",), ()), 2.5):
        assert told(data) == hash(data)
    with pytest.raises(TypeError):
        told([1])


# ------------------------------------------------------------------------------------ streams


@pytest.mark.parametrize("make", [io.StringIO, io.BytesIO])
def test_a_stream_is_written_unless_it_is_protected(
    tests: types.SimpleNamespace, make: Callable[[], io.StringIO | io.BytesIO]
) -> None:
    stream = make()
    text = "a" if make is io.StringIO else b"a"
    write = tests.membrane.get(stream, "write")
    assert tests.membrane.perform("call", write, [[text], {}]) == 1
    tests.membrane.protect(tests.membrane.objects_in([{"out": [stream]}]))
    with pytest.raises(NotDataError):
        tests.membrane.perform("call", write, [[text], {}])
    for name in ("write", "writelines", "truncate"):
        with pytest.raises(AttributeError):
            tests.membrane.get(stream, name)
    stream.seek(0)
    assert tests.membrane.perform("next", stream, []) == text
    assert stream.getvalue() == text


@pytest.mark.parametrize("name", ["readlines", "read", "writelines", "fileno"])
def test_an_own_file_tells_nothing_of_the_file(tests: types.SimpleNamespace, name: str) -> None:
    with pytest.raises(AttributeError):
        tests.membrane.get(tests.Reader(0, closefd=False), name)


# -------------------------------------------------------------------------------------- mocks


def test_a_mock_is_called_and_asked_for_children() -> None:
    membrane, api = Membrane(Own()), mock.MagicMock()
    api.fetch.return_value = 3
    assert membrane.perform("call", membrane.get(api, "fetch"), [[1], {"a": 2}]) == 3
    api.fetch.assert_called_once_with(1, a=2)
    assert membrane.get(api, "return_value") is api.return_value
    membrane.set(api, "count", [1])
    membrane.set(api, "count", [2])
    assert api.count == [2]


@pytest.mark.parametrize("kind", [mock.Mock, mock.MagicMock, mock.AsyncMock, mock.NonCallableMock])
@pytest.mark.parametrize(
    "name",
    [
        *("configure_mock", "attach_mock", "mock_add_spec", "reset_mock", "side_effect"),
        *("method_calls", "mock_calls", "call_args", "assert_called_with", "_mock_children"),
        *("__class__", "called", "call_count"),
    ],
)
def test_what_every_mock_has_is_not_reached(kind: type[mock.NonCallableMock], name: str) -> None:
    membrane, api = Membrane(Own()), kind()
    with pytest.raises(AttributeError):
        membrane.get(api, name)
    with pytest.raises(AttributeError):
        membrane.set(api, name, 1)


@pytest.mark.parametrize("value", [Liar(), [Liar()], {"a": Liar()}, print, mock.Mock()])
def test_only_data_is_set_on_a_mock(value: object) -> None:
    with pytest.raises(AttributeError):
        Membrane(Own()).set(mock.Mock(), "saved", value)


def test_a_child_of_a_mock_stays() -> None:
    api = mock.Mock()
    api.save(1)
    for name, value in (("save", 1), ("return_value", 1), ("side_effect", None)):
        with pytest.raises(AttributeError):
            Membrane(Own()).set(api, name, value)
    api.save.assert_called_once_with(1)


# ------------------------------------------------------------------------------- own by identity


def test_what_tests_import_is_not_their_own() -> None:
    own = Own()
    namespace: dict[str, object] = {"__name__": "__main__"}
    own.add_namespace(namespace, has_classes=True)
    exec("from pathlib import Path\nfrom os import read\nimport typing", namespace)
    assert not own.has_class(pathlib.Path)
    assert not own.has_function(os.read)
    assert not own.has_function(os.fsencode)


def test_a_claim_in_a_name_makes_nothing_the_tests_own() -> None:
    own = Own()
    own.add_namespace({"__name__": "__main__"}, has_classes=True)
    assert not own.has_class(type("Own", (), {"__module__": "__main__"}))
    assert not own.has_function(_claiming(print))


class _Named(NamedTuple):
    a: int


def test_classes_of_other_modules_are_not_the_tests_own() -> None:
    own = Own()
    own.add_namespace({"__name__": __name__}, has_classes=True)
    for kind in (_Named, Liar, collections.Counter, enum.Enum, abc.ABC):
        assert not own.has_class(kind)
