"""Finds what a request has and the server does not know: fields, and values of enumerations.

protobuf keeps both without a word. A server that ignored them would judge a request without the
fields that decide it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from codereward.revisions import revision


class Found(NamedTuple):
    """A part of a message that cannot be read.

    Args:
        path: where it is, such as `stdio.cases[0].100`.
        problem: what is wrong with it.
    """

    path: str
    problem: str


class _Plan(NamedTuple):
    """The fields of a message that have to be looked at, by kind, so that a look is quick."""

    enums: tuple[tuple[str, frozenset[int]], ...]
    enum_lists: tuple[tuple[str, frozenset[int]], ...]
    messages: tuple[str, ...]
    message_lists: tuple[str, ...]


def first_unknown(message: Message, most: Callable[[str], int]) -> Found | None:
    """Returns a part of a message that is not known, at any depth, or None.

    Args:
        message: the message.
        most: returns how many messages a repeated field may hold, by its name. A field with more of
            them is returned as well, because a look at millions of them would take seconds.
    """
    plan = _plan(message.DESCRIPTOR)
    if found := unknown_here(message):
        return found
    for name in plan.messages:
        if message.HasField(name) and (found := first_unknown(getattr(message, name), most)):
            return Found(f"{name}.{found.path}", found.problem)
    for name in plan.message_lists:
        if found := _in_list(name, getattr(message, name), most):
            return found
    return None


def unknown_here(message: Message) -> Found | None:
    """Returns a part of a message that is not known, leaving out the messages within it."""
    plan = _plan(message.DESCRIPTOR)
    strangers = UnknownFieldSet(message)
    if len(strangers):
        return _stranger(strangers[0].field_number, message.DESCRIPTOR)
    for name, known in plan.enums:
        if (value := getattr(message, name)) not in known:
            return _unknown(name, f"the value {value}")
    for name, known in plan.enum_lists:
        for key, value in _items(getattr(message, name)):
            if value not in known:
                return _unknown(f"{name}[{key!r}]", f"the value {value}")
    return None


@functools.cache
def _plan(kind: Descriptor) -> _Plan:
    repeated = repeated_fields(kind)
    enums = [
        (field.name, frozenset(content.enum_type.values_by_number))
        for field in kind.fields
        if (content := _content(field)).enum_type is not None
    ]
    messages = [field.name for field in kind.fields if _content(field).message_type is not None]
    return _Plan(
        enums=tuple((name, known) for name, known in enums if name not in repeated),
        enum_lists=tuple((name, known) for name, known in enums if name in repeated),
        messages=tuple(name for name in messages if name not in repeated),
        message_lists=tuple(name for name in messages if name in repeated),
    )


def repeated_fields(kind: Descriptor) -> frozenset[str]:
    """Returns the names of a message's repeated fields and maps, on every version of protobuf."""
    described = DescriptorProto()
    kind.CopyToProto(described)
    label = FieldDescriptorProto.LABEL_REPEATED
    return frozenset(field.name for field in described.field if field.label == label)


def _content(field: FieldDescriptor) -> FieldDescriptor:
    """Returns the field that describes a field's values; of a map, that of its entries."""
    kind = field.message_type
    is_map = kind is not None and kind.GetOptions().map_entry
    return kind.fields_by_name["value"] if is_map else field


def _in_list(name: str, items: Any, most: Callable[[str], int]) -> Found | None:
    if len(items) > most(name):
        return Found(name, f"are {len(items)}; at most {most(name)} are allowed")
    for key, item in _items(items):
        if found := first_unknown(item, most):
            return Found(f"{name}[{key!r}].{found.path}", found.problem)
    return None


def _items(values: Any) -> Iterable[tuple[object, Any]]:
    return values.items() if isinstance(values, Mapping) else enumerate(values)


def _stranger(number: int, kind: Descriptor) -> Found:
    field = kind.fields_by_number.get(number)
    if field is None:
        return _unknown(str(number), f"field {number}")
    return _unknown(field.name, f"this type of field {number}")


def _unknown(path: str, what: str) -> Found:
    known = f"is not known to this server (contract revision {revision()})"
    return Found(path, f"{what} {known}")
