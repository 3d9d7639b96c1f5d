"""Nothing unknown is ignored: fields, their types, and values of enumerations."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import grpc
import httpx
import pytest
from google.protobuf import struct_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.internal import encoder
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from codereward.revisions import revision
from codereward.unknown import first_unknown, repeated_fields
from codereward.v1 import reward_service_pb2 as pb
from codereward.v1 import session_service_pb2 as session_pb
from reward_server.domain import Limits
from reward_server.errors import InvalidRequestError
from reward_server.languages import load_languages
from reward_server.rpc import convert, fields
from reward_server.rpc.convert import Bounds
from tests.rpc.conftest import Serve, Served, refused
from tests.rpc.test_stored_tasks import naming, put, task

FUZZED = 10_000
BOUNDS = Bounds(
    languages=load_languages(), default_limits=Limits(), maximum_limits=Limits(), maximum_cases=10
)
FILES = (pb.DESCRIPTOR, session_pb.DESCRIPTOR)
KINDS = [kind for file in FILES for kind in file.message_types_by_name.values()]
METHODS = [
    method
    for file in FILES
    for service in file.services_by_name.values()
    for method in service.methods
]
NUMBERS = (16, 17, 100, 2047, 18_999, 20_000, (1 << 29) - 1)
UNKNOWN = f"is not known to this server (contract revision {revision()})"


class Strange(NamedTuple):
    """A message with one part that is not known, and the path of this part."""

    message: Message
    path: str


def filled(kind: Descriptor, rng: random.Random, depth: int) -> Message:
    """Makes a message with some of its fields, down to a depth."""
    made = GetMessageClass(kind)()
    repeated = repeated_fields(kind)
    for field in kind.fields:
        if rng.random() < 0.4:
            continue
        if field.message_type is None:
            if field.name not in repeated:
                setattr(made, field.name, value(field, rng))
        elif depth and not field.message_type.GetOptions().map_entry:
            target = getattr(made, field.name)
            for _ in range(rng.randint(1, 3) if field.name in repeated else 1):
                item = target.add() if field.name in repeated else target
                item.MergeFrom(filled(field.message_type, rng, depth - 1))
                item.SetInParent()
    return made


def value(field: FieldDescriptor, rng: random.Random) -> Any:
    if field.enum_type is not None:
        return rng.choice(field.enum_type.values).number
    if field.type == FieldDescriptor.TYPE_STRING:
        return "x" * rng.randint(0, 9)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return b"x" * rng.randint(0, 9)
    return True if field.type == FieldDescriptor.TYPE_BOOL else rng.randint(0, 99)


def nodes(message: Message, path: str = "") -> Iterator[tuple[str, Message]]:
    """Yields a message and all messages in it, with their paths."""
    yield path, message
    for field, found in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        if isinstance(found, Message):
            yield from nodes(found, f"{path}{field.name}.")
            continue
        for index, item in enumerate(found):
            yield from nodes(item, f"{path}{field.name}[{index}].")


def unknown_field(number: int, rng: random.Random) -> bytes:
    """Encodes a field of any type."""
    wire_type, content = rng.choice(
        [(0, b"\x01"), (1, b"12345678"), (2, b"\x03abc"), (2, b"\x00"), (5, b"1234"), (3, b"")]
    )
    end = encoder.TagBytes(number, 4) if wire_type == 3 else b""
    return bytes(encoder.TagBytes(number, wire_type)) + content + end


def strange(kind: Descriptor, rng: random.Random) -> Strange:
    """Makes a message with one part that is not known, at a random depth."""
    message = filled(kind, rng, depth=5)
    path, node = rng.choice(list(nodes(message)))
    known = node.DESCRIPTOR.fields
    enums = [field for field in known if field.enum_type is not None]
    if enums and rng.random() < 0.5:
        return Strange(message, path + strange_value(node, rng.choice(enums), rng))
    numbers = {*NUMBERS, rng.randint(1, 15), rng.randint(16, 60)}
    number = rng.choice(sorted(numbers - {field.number for field in known}))
    node.MergeFromString(unknown_field(number, rng))
    return Strange(message, f"{path}{number}")


def strange_value(node: Message, field: FieldDescriptor, rng: random.Random) -> str:
    """Sets a value that an enumeration has not; returns the path of the value."""
    assert field.enum_type is not None
    wrong = rng.choice([-1, 77, 1 << 30, max(field.enum_type.values_by_number) + 1])
    if field.name not in repeated_fields(node.DESCRIPTOR):
        setattr(node, field.name, wrong)
        return field.name
    getattr(node, field.name).append(wrong)
    return f"{field.name}[{len(getattr(node, field.name)) - 1}]"


def checked(kind: Descriptor, body: bytes) -> Message:
    """Parses a message as the server does."""
    if kind is not pb.ScoreBatchRequest.DESCRIPTOR:
        return convert.parse(GetMessageClass(kind), body, BOUNDS)
    batch = convert.batch_request(body, BOUNDS)
    fields.each("requests", batch.requests, lambda request: convert.check_known(request, BOUNDS))
    return batch


# -------------------------------------------------------------------------------- conversion


@pytest.mark.promise(
    "An unknown field or value of a request is refused by its place.", "Compatibility"
)
def test_each_of_ten_thousand_messages_with_an_unknown_part_is_refused_by_its_path() -> None:
    rng = random.Random(27)
    for number in range(FUZZED):
        kind = KINDS[number % len(KINDS)]
        found = strange(kind, rng)
        with pytest.raises(InvalidRequestError) as raised:
            checked(kind, found.message.SerializeToString())
        assert (raised.value.field, UNKNOWN in raised.value.problem) == (found.path, True)


def test_messages_without_an_unknown_part_are_parsed() -> None:
    rng = random.Random(27)
    for kind in KINDS * 20:
        message = filled(kind, rng, depth=5)
        assert checked(kind, message.SerializeToString()) == message


@pytest.mark.parametrize(
    ("body", "path", "what"),
    [
        (b"\xa2\x06\x01x", "100", "field 100"),
        (b"\x50\x01", "function", "this type of field 10"),
        (b"\x32\x04\x0a\x00\x18\x01", "files", "this type of field 6"),  # an entry's third field
        (b"\x28\x09", "extraction", "the value 9"),
    ],
)
def test_what_is_not_known_is_told(body: bytes, path: str, what: str) -> None:
    with pytest.raises(InvalidRequestError) as raised:
        convert.score_request(body, BOUNDS)
    assert str(raised.value) == f"{path}: {what} {UNKNOWN}"


def test_the_values_of_maps_are_looked_into() -> None:
    struct = struct_pb2.Struct.FromString(b"\x0a\x08\x0a\x01k\x12\x03\x98\x06\x01")
    found = first_unknown(struct, lambda name: 1)
    assert found is not None
    assert found.path == "fields['k'].99"


def test_a_list_that_is_too_long_to_look_through_is_refused_with_the_limit() -> None:
    policy = pb.RewardPolicy(subtasks=[pb.Subtask(name="a", points=1.0)] * 1025)
    body = pb.ScoreRequest(reward_policy=policy).SerializeToString()
    with pytest.raises(InvalidRequestError, match="subtasks: are 1025; at most 1024 are allowed"):
        convert.score_request(body, BOUNDS)


# -------------------------------------------------------------------------------------- RPCs


async def answers(served: Served, method: MethodDescriptor, body: bytes) -> list[bytes]:
    """Calls a method with the bytes of a request."""
    path = f"/{method.containing_service.full_name}/{method.name}"
    if method.server_streaming:
        return [answer async for answer in served.channel.unary_stream(path)(body)]
    return [await served.channel.unary_unary(path)(body)]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
async def test_every_method_refuses_what_it_does_not_know(
    serve: Serve, method: MethodDescriptor
) -> None:
    served = await serve()
    rng = random.Random(method.full_name)
    for _ in range(8):
        message = filled(method.input_type, rng, depth=1)
        message.MergeFromString(unknown_field(101, rng))
        refusal = await refused(answers(served, method, message.SerializeToString()))
        assert refusal.code is grpc.StatusCode.INVALID_ARGUMENT
        assert refusal.violated_field == "101"
        assert UNKNOWN in refusal.details
    assert not served.executor.started


async def test_a_request_of_a_batch_is_refused_and_the_others_are_judged(serve: Serve) -> None:
    served = await serve()
    right = pb.ScoreRequest(completion="pass", function=task().function)
    wrong = pb.ScoreRequest.FromString(right.SerializeToString() + b"\xa2\x06\x01x")
    batch = pb.ScoreBatchRequest(requests=[right, wrong, right])
    found = {answer.index: answer async for answer in served.stub.ScoreBatch(batch)}
    assert [found[index].response.reward for index in (0, 2)] == [1.0, 1.0]
    assert found[1].error.code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert found[1].error.message == f"100: field 100 {UNKNOWN}"


async def test_a_case_that_holds_only_an_unknown_field_is_not_judged(serve: Serve) -> None:
    served = await serve()
    request = pb.ScoreRequest(completion="pass")
    request.stdio.cases.add().MergeFromString(b"\xa2\x06\x01x")
    refusal = await refused(served.stub.Score(request))
    assert refusal.details == f"stdio.cases[0].100: field 100 {UNKNOWN}"
    assert not served.executor.started


async def test_a_stored_task_and_a_request_that_names_one_have_no_unknown_part(
    serve: Serve,
) -> None:
    served = await serve()
    wrong = task()
    wrong.function.MergeFromString(b"\xa2\x06\x01x")
    refusal = await refused(put(served, wrong))
    assert refusal.violated_field == "function.100"
    digest = await put(served, task())
    request = naming(digest, network=7)
    refusal = await refused(served.stub.Score(request))
    assert refusal.details == f"network: the value 7 {UNKNOWN}"


# ------------------------------------------------------------------------------------- doors


@pytest.fixture
async def door(serve: Serve) -> AsyncIterator[httpx.AsyncClient]:
    served = await serve(http_port=0)
    async with httpx.AsyncClient(base_url=f"http://{served.app.http_address}") as client:
        yield client


FUNCTION = {"entry_point": "f", "asserts": ["assert f(1) == 1"]}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/score", {"completion": "", "function": FUNCTION, "exact": 1}, "exact"),
        ("/v1/score", {"completion": "", "function": {**FUNCTION, "more": 1}}, "function.more"),
        ("/v1/score", {"function": {**FUNCTION, "placement": 9}}, "function.placement"),
        ("/v1/score", {"function": FUNCTION, "extraction": "EXTRACTION_NEXT"}, "extraction"),
        ("/v1/score?timeout=3", {"function": FUNCTION}, "timeout"),
        ("/v1/score_batch", {"requests": [], "all": True}, "all"),
        ("/v1/score_batch", {"requests": [{"tagz": {}}]}, "requests[0].tagz"),
        ("/v1/score_batch?all=1", {"requests": []}, "all"),
    ],
)
async def test_the_doors_refuse_what_they_do_not_know(
    door: httpx.AsyncClient, path: str, body: Any, field: str
) -> None:
    answer = await door.post(path, json=body)
    assert (answer.status_code, answer.json()["field"]) == (400, field)
