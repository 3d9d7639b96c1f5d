"""The judge's side of the conversation, against answers that no shim gives."""

from __future__ import annotations

import json
import math
import operator
import socket
import sys
from collections.abc import Callable
from typing import cast

import pytest

from reward_server.runner import wire
from reward_server.runner.channel.codec import ProtocolViolation
from reward_server.runner.channel.frames import NUMBER
from reward_server.runner.channel.operations import SPECIAL
from reward_server.runner.judge.exports.callbacks import Callbacks
from reward_server.runner.judge.exports.membrane import Membrane
from reward_server.runner.judge.exports.own import Own
from reward_server.runner.judge.link import ClosedError, Link, OversizeFrameError
from reward_server.runner.judge.outputs import Outputs
from reward_server.runner.judge.proxies import proxy
from reward_server.runner.judge.proxies.proxy import Proxy
from reward_server.runner.judge.proxies.special_methods import MixedError
from reward_server.runner.judge.session import Cause, NotLoaded, Session, SessionEnded
from reward_server.runner.values import exceptions
from reward_server.runner.wire import LENGTH


class ScriptedLink:
    """A link whose candidate answers from a list, with the right number."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.sent: list[object] = []
        self.buffered = False
        self._number = b""

    def send(self, frame: bytes) -> None:
        self._number = frame[: NUMBER.size]
        self.sent.append(json.loads(frame[NUMBER.size :]))

    def receive(self, limit_bytes: int) -> bytes:
        if not self.answers:
            raise ClosedError
        answer = self.answers.pop(0)
        text = answer if type(answer) is str else json.dumps(answer)
        return self._number + text.encode()

    def has_more(self) -> bool:
        return bool(self.answers)


def session_with(
    *answers: object, calls: int = 100, announce: Callable[[], None] = lambda: None
) -> tuple[Session, ScriptedLink]:
    link = ScriptedLink(*answers)
    session = Session(
        cast("Link", link),
        proxy.make,
        result_bytes=1000,
        calls=calls,
        announce_crossing=announce,
    )
    session.loaded = True
    return session, link


def returned(value: object) -> list[object]:
    return ["return", value, None, 0]


EVERY_METHOD = (1 << len(SPECIAL)) - 1
OBJECT = {"@": ["object", 0, "", EVERY_METHOD]}
ASK = ["ask", "call", [{"@": ["test", 0]}, [], {"dict": [[], []]}]]


SPACED = json.loads('{ "type" : "int" }')


@pytest.mark.parametrize(
    ("operation", "operands", "answer"),
    [
        ("call", (1,), OBJECT),
        ("call", (1,), [[{"tuple": [OBJECT]}]]),
        ("call", (1,), SPACED),
        ("call", (1,), {"dict": [["a"], [{"type": "ValueError"}]]}),
        ("call", (int,), 1),
        ("call", (math.sqrt,), 1),
        ("call", (iter([1]),), 1),
        ("get", ("name",), 1),
        ("eq", (1, 2), True),
        ("hash", (1,), 1),
        ("invented", (), 1),
    ],
)
def test_a_crossing_is_announced_once_and_before_it_is_answered(
    operation: str, operands: tuple[object, ...], answer: object
) -> None:
    said: list[int] = []
    session, link = session_with(
        returned(answer), returned(answer), announce=lambda: said.append(len(link.sent))
    )
    for _ in range(2):
        session.request(operation, *operands)
    assert session.crossed
    assert len(said) == 1
    assert said[0] == 0 or answer in (OBJECT, SPACED) or isinstance(answer, (dict, list))


def test_an_exception_that_comes_with_itself_is_a_crossing() -> None:
    session, _ = session_with(["raise", ["solution.Own", "builtins.Exception"], [], "text", OBJECT])
    with pytest.raises(exceptions.CandidateError):
        session.request("call", 1)
    assert session.crossed


@pytest.mark.parametrize(
    ("method", "is_cast"),
    [("__eq__", True), ("__add__", True), ("append", True), ("__str__", False), ("__len__", True)],
)
def test_data_whose_class_does_something_else_is_counted_whatever_the_candidate_says(
    method: str, *, is_cast: bool
) -> None:
    session, _ = session_with(returned({"extended": [[1], ["object", 0, "", 0], [method]]}))
    session.request("call", 1)
    assert session.signals == ({wire.CAST: 1} if is_cast else {})


def test_plain_data_is_no_crossing() -> None:
    values = [1, "a", None, [1.5, True], {"tuple": [1]}, {"dict": [["a"], [1]]}]
    session, _ = session_with(
        *map(returned, values),
        ["raise", ["builtins.ValueError", "builtins.Exception"], ["no"], "no", None],
    )
    for _ in values:
        session.request("call", [{"a": (1, {2})}])
    with pytest.raises(ValueError, match="no"):
        session.request("call", 1)
    assert not session.crossed


class OwnError(Exception):
    """Of the tests', by its module."""


def test_an_ended_session_stays_ended() -> None:
    session, link = session_with(["nonsense"], returned(1))
    with pytest.raises(SessionEnded) as first:
        session.request("call", 1)
    with pytest.raises(SessionEnded) as second:
        session.request("call", 1)
    assert first.value is second.value
    assert first.value.cause is Cause.FORGED
    assert session.signals == {"tampering": 1}
    assert len(link.sent) == 1


def test_nothing_is_asked_before_the_solution_is_loaded() -> None:
    session, link = session_with(returned(1))
    session.loaded = False
    with pytest.raises(NotLoaded):
        session.request("call", 1)
    assert session.asked_early
    assert link.sent == []


@pytest.mark.parametrize(
    "answer", [{"set": [OBJECT]}, {"frozenset": [OBJECT]}, {"dict": [[OBJECT], [1]]}]
)
def test_an_answer_that_needs_an_answer_is_forged(answer: object) -> None:
    session, link = session_with(returned(answer), returned(7))
    with pytest.raises(SessionEnded) as ended:
        session.request("call", 1)
    assert ended.value.cause is Cause.FORGED
    assert len(link.sent) == 1


@pytest.mark.parametrize("limit", [1000, 10**6])
@pytest.mark.parametrize("opening", ["[", '{"tuple":[', '{"a":'])
def test_a_frame_that_is_nested_deeply_is_forged(limit: int, opening: str) -> None:
    session, _ = session_with(opening * 100_000)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, before))
    try:
        with pytest.raises(SessionEnded) as ended:
            session.request("call", 1)
    finally:
        sys.setrecursionlimit(before)
    assert ended.value.cause is Cause.FORGED


def test_a_frame_that_came_before_the_question_is_forged() -> None:
    session, link = session_with(returned(1))
    link.buffered = True
    with pytest.raises(SessionEnded) as ended:
        session.request("call", 1)
    assert ended.value.cause is Cause.FORGED
    assert link.sent == []


def test_a_frame_that_came_after_the_last_answer_is_forged() -> None:
    session, _ = session_with(returned(1), returned(1))
    assert session.request("call", 1) == 1
    session.finish()
    assert session.ended is not None
    assert session.ended.cause is Cause.FORGED


@pytest.mark.parametrize(
    "answer",
    [
        [],
        ["return"],
        ["return", 1],
        ["return", 1, None, "0"],
        ["return", 1, [[], {}], 0],
        ["return", None, 5, 0],
        ["raise", "ValueError", [], "", None],
        ["raise", [1], [], "", None],
        ["raise", ["builtins.ValueError"], None, "", None],
        ["raise", ["builtins.ValueError"], [], 5, None],
        ["large", 5],
        ["ask", "call", []],
        ["ask", "call", 5],
        ["ask", "call", [5, [], {"dict": [[], []]}]],
        ["ask", "get", ["text", "format"]],
        ["ask", "get", [OBJECT, "name"]],
        ["stop"],
        ["loaded"],
        {"tuple": ["return", 1, None, 0]},
        "return",
        5,
    ],
)
def test_another_answer_is_forged(answer: object) -> None:
    session, _ = session_with(answer, returned(1))
    with pytest.raises(SessionEnded) as ended:
        session.request("call", 1)
    assert ended.value.cause is Cause.FORGED
    assert session.signals == {"tampering": 1}


@pytest.mark.parametrize("operation", ["next", "anext"])
def test_an_iteration_ends_only_where_its_next_element_was_asked_for(operation: str) -> None:
    session, _ = session_with(["stop"])
    with pytest.raises(StopIteration):
        session.request(operation, 1)
    assert session.ended is None


def test_a_closed_channel_is_the_candidates_end() -> None:
    session, _ = session_with()
    with pytest.raises(SessionEnded) as ended:
        session.request("call", 1)
    assert ended.value.cause is Cause.CLOSED


@pytest.mark.parametrize(("calls", "cause"), [(11, Cause.CLOSED), (10, Cause.CALLS)])
def test_requests_in_both_directions_are_counted(calls: int, cause: Cause) -> None:
    session, _ = session_with(*[ASK] * 10, calls=calls)
    with pytest.raises(SessionEnded) as ended:
        session.request("call", len)
    assert ended.value.cause is cause


# ------------------------------------------------------------------------------- exceptions


def raised_by(*names: str, error: object = None, text: str = "text") -> BaseException:
    session, _ = session_with(["raise", list(names), [text], text, error])
    with pytest.raises(BaseException) as caught:  # noqa: PT011  # which one is the question
        session.request("call", ValueError("the tests' own"), KeyError("as well"))
    assert session.ended is None
    return caught.value


BASES = ("builtins.Exception", "builtins.BaseException", "builtins.object")


@pytest.mark.parametrize(
    "names",
    [
        ("builtins.StopIteration", *BASES),
        ("builtins.StopAsyncIteration", *BASES),
        ("solution.Stop", "builtins.StopIteration", *BASES),
        ("unittest.case.SkipTest", *BASES),
        ("unittest.case._ShouldStop", *BASES),
        ("_pytest.fixtures.FixtureLookupError", *BASES),
        ("pluggy.PluginValidationError", *BASES),
        ("pickle._Stop", *BASES),
        ("tokenize.StopTokenizing", *BASES),
        ("inspect.EndOfBlock", *BASES),
        ("tests.unit.runner.judge.test_session.OwnError", *BASES),
        ("json.JSONDecodeError", *BASES),
        ("json.decoder.scanner.json.decoder.JSONDecodeError", *BASES),
        ("." * 500, *BASES),
        ("reward_server.runner.judge.session.NotLoaded", *BASES),
        ("solution.Mine", *BASES),
        ("builtins.NoSuchError", *BASES),
        ("builtins.print", *BASES),
        ("builtins.ExceptionGroup", *BASES),
        ("re.compile", *BASES),
        ("os.system", *BASES),
        ("no identifier", *BASES),
        ("", *BASES),
    ],
)
def test_an_exception_without_a_counterpart_is_a_candidate_error(names: tuple[str, ...]) -> None:
    error = raised_by(*names)
    assert isinstance(error, exceptions.CandidateError)
    assert not isinstance(error, (StopIteration, StopAsyncIteration))
    assert str(error) == "text"
    assert type(error).__mro__[1:] == exceptions.CandidateError.__mro__


@pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "GeneratorExit", "Whatever"])
def test_what_is_no_exception_there_is_none_here(name: str) -> None:
    error = raised_by(f"builtins.{name}", "builtins.BaseException", "builtins.object")
    assert type(error) is exceptions.CandidateExit
    assert not isinstance(error, Exception)


def test_a_known_exception_is_itself_and_a_subclass_is_caught_by_its_base() -> None:
    assert type(raised_by("builtins.ValueError", *BASES)) is ValueError
    error = raised_by("solution.Mine", "builtins.KeyError", "builtins.LookupError", *BASES)
    assert isinstance(error, KeyError)
    assert type(error).__name__ == "Mine"


def test_only_what_the_tests_raised_comes_back_as_it_was() -> None:
    reference = {"@": ["test", 0]}
    error = raised_by("solution.Mine", *BASES, error=reference)
    assert isinstance(error, exceptions.CandidateError)


def test_an_exception_of_a_callback_comes_back_as_it_was() -> None:
    class OwnError(Exception):
        pass

    own = OwnError("own")

    def fail() -> None:
        raise own

    answer = ["raise", ["x.RaisedByTestsError", *BASES], [], "", {"@": ["test", 1]}]
    session, _ = session_with(ASK, answer)
    session.own.add_namespace(globals(), has_classes=False)
    with pytest.raises(OwnError) as caught:
        session.request("call", fail)
    assert caught.value is own


@pytest.mark.parametrize(
    "answer",
    [
        *(
            [["ask", "call", [{"@": ["test", 0]}, [{"type": name}], {}]]]
            for name in ("type", "int")
        ),
        [["return", {"type": "type"}, None, 0]],
        [["return", [{"type": "object"}], None, 0]],
        [["return", {"type": "BaseException"}, None, 0]],
        [["raise", ["builtins.ValueError"], [{"type": "super"}], "", None]],
    ],
)
def test_a_type_that_could_build_something_here_is_forged(answer: list[object]) -> None:
    session, _ = session_with(*answer, returned(1))
    session.own.add_namespace(globals(), has_classes=False)
    with pytest.raises(SessionEnded) as ended:
        session.request("call", returned)
    assert ended.value.cause is Cause.FORGED


def test_an_ask_in_another_form_is_forged() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        link = Link(ours, Outputs(None, None, kept_bytes=0, limit_bytes=0))
        session = Session(link, proxy.make, result_bytes=1000, calls=1)
        frame = b'[ "ask", "call", [{"type":"type"}]]'
        theirs.sendall(LENGTH.pack(len(frame)) + frame)
        with pytest.raises(SessionEnded) as ended:
            session.receive()
    assert ended.value.cause is Cause.FORGED


# ---------------------------------------------------------------------------------- proxies


@pytest.mark.parametrize(
    "name",
    [
        *("__array_interface__", "__array_struct__", "__array__", "__buffer__", "__mro_entries__"),
        *("_as_parameter_", "__fspath__", "__code__", "__set__"),
        *("__reduce__x__", "__array_ufunc__", "__cuda_array_interface__", "__dlpack__"),
        *("__conform__", "__isabstractmethod__", "__class_getitem__", "__args__", "__text__"),
    ],
)
def test_special_names_are_not_asked_for(name: str) -> None:
    thing, link = an_object()
    sent = len(link.sent)
    with pytest.raises(AttributeError):
        getattr(thing, name)
    assert len(link.sent) == sent


@pytest.mark.parametrize("name", ["__name__", "__qualname__", "_items", "value_", "__private"])
def test_other_names_are_asked_for(name: str) -> None:
    thing, _ = an_object(returned(7))
    assert getattr(thing, name) == 7


def an_object(*answers: object, methods: int = EVERY_METHOD) -> tuple[Proxy, ScriptedLink]:
    session, link = session_with(returned({"@": ["object", 0, "", methods]}), *answers)
    made = session.request("call", 1)
    assert isinstance(made, Proxy)
    return made, link


@pytest.mark.parametrize("number", [-1, 200_000, 1 << 70, 1.0, "1", None])
def test_an_object_has_a_number_within_bounds(number: object) -> None:
    session, _ = session_with(returned({"@": ["object", number, "", 0]}))
    with pytest.raises(SessionEnded) as ended:
        session.request("call", 1)
    assert ended.value.cause is Cause.FORGED


def test_an_object_never_equals_data_and_nobody_is_asked() -> None:
    thing, link = an_object(methods=0)
    for data in (1, "a", None, [], {}, object()):
        assert thing != data
        assert data != thing
        assert operator.eq(thing, data) is operator.eq(data, thing) is False
    assert thing not in [1, "a"]
    assert not isinstance(thing, int)
    assert len(link.sent) == 1


def test_an_equality_of_its_own_is_asked_about_other_data() -> None:
    thing, link = an_object(*[returned(False)] * 3)
    for data in (7919, [7919, {"a7919": (7919,)}], "7919"):
        assert operator.eq(thing, data) is False
    assert len(link.sent) == 4
    assert not any(b"7919" in frame for frame in link.sent)


@pytest.mark.parametrize(
    ("compare", "answer"),
    [
        *((operator.eq, True), (operator.eq, 1), (operator.ne, False), (operator.lt, True)),
        *((operator.sub, 0), (operator.iadd, 1), (lambda thing, data: data - thing, 0)),
    ],
)
def test_an_object_that_takes_data_for_its_like_is_refused(
    compare: Callable[[object, object], object], answer: object
) -> None:
    thing, _ = an_object(returned(answer))
    with pytest.raises(MixedError):
        compare(thing, 3)


@pytest.mark.parametrize(
    ("equal", "unequal", "expected"),
    [(True, False, True), (True, True, False), (False, False, False), (1, False, False)],
)
def test_equality_of_objects_is_asked_for_twice(
    equal: object, unequal: object, expected: bool
) -> None:
    thing, link = an_object(
        returned({"@": ["object", 1, "", 0]}), returned(equal), returned(unequal)
    )
    other = thing.other
    assert (thing == other) is expected
    assert link.sent[-1] != link.sent[1]


def test_the_same_object_is_the_same_proxy() -> None:
    thing, _ = an_object(returned(OBJECT))
    assert thing.itself is thing


@pytest.mark.parametrize("answer", [1, "yes", [1], OBJECT])
def test_only_true_is_true(answer: object) -> None:
    thing, _ = an_object(returned(answer))
    assert not thing


@pytest.mark.parametrize("ways", [-1, 1 << len(SPECIAL), 1.0, None, "call"])
def test_an_object_has_known_methods_only(ways: object) -> None:
    session, _ = session_with(returned({"@": ["object", 0, "", ways]}))
    with pytest.raises(SessionEnded) as ended:
        session.request("call", 1)
    assert ended.value.cause is Cause.FORGED


@pytest.mark.parametrize("answer", ["3", None, 2.0, True])
def test_a_length_is_an_integer(answer: object) -> None:
    thing, _ = an_object(returned(answer))
    with pytest.raises(TypeError):
        len(thing)


def test_a_block_does_not_swallow_what_is_raised_in_it() -> None:
    thing, _ = an_object(returned(0), returned(True))
    with pytest.raises(AssertionError), thing:
        raise AssertionError


# -------------------------------------------------------------------------------- callbacks


def test_only_what_was_handed_over_can_be_asked() -> None:
    things = Callbacks(Membrane(Own()))
    things.refer(len)
    for operands in ([], ["text", "format"], [5], [[]], None):
        with pytest.raises(ProtocolViolation):
            things.perform("get", operands)
    with pytest.raises(ProtocolViolation):
        things.perform("get", [len, "__self__"])
    assert things.perform("call", [len, [[1]], {}]) == 1


# ------------------------------------------------------------------------------------- link


def test_a_frame_that_is_too_large_is_refused_before_it_is_read() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        link = Link(ours, Outputs(None, None, kept_bytes=0, limit_bytes=0))
        theirs.sendall(LENGTH.pack(1001))
        with pytest.raises(OversizeFrameError):
            link.receive(1000)


def test_an_answer_that_is_too_large_is_forged() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        link = Link(ours, Outputs(None, None, kept_bytes=0, limit_bytes=0))
        session = Session(link, proxy.make, result_bytes=1000, calls=1)
        session.loaded = True
        theirs.sendall(LENGTH.pack(1 << 31))
        with pytest.raises(SessionEnded) as ended:
            session.request("call", 1)
    assert ended.value.cause is Cause.FORGED
