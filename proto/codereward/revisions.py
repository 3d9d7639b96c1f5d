"""The revisions of the contract: which of them added each field, value and method.

The table `v1/revisions.txt` has a line for each; `make proto` adds lines to it. A server tells its
revision in its description and in its answers, and refuses what it does not know. One that tells
none is older than 0.2.0: it ignores what it does not know, so its answer to a request with such a
field is worth nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from typing import Any, NamedTuple

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_MOST_NAMES = 6
_PACKAGE = "codereward.v1."


class _Table(NamedTuple):
    """The revision that added each name, and each request's method, by the request's name."""

    added: Mapping[str, int]
    methods: Mapping[str, int]


@functools.cache
def revision() -> int:
    """Returns the revision of this side's contract."""
    return max(_table().added.values())


def added_in(name: str) -> int:
    """Returns the revision that added something, by its full name."""
    return _table().added[name]


def unread(request: Message, stated: int) -> str:
    """Returns why an answer is worth nothing, or "" if its server knows the whole request.

    Args:
        request: the request of a method.
        stated: the revision that the server states, or 0 if it states none. A server that has a
            method knows all that is older than the method.
    """
    if stated >= revision():
        return ""
    known = stated or _table().methods[request.DESCRIPTOR.full_name]
    newer = dict.fromkeys(_newer(request, known, ""))
    return _older_server(stated, newer) if newer else ""


def difference(stated: int) -> str:
    """Returns a sentence about the side that is older, or "" if both have the same revision.

    Args:
        stated: the revision that a server states, or 0 if it states none.
    """
    own = revision()
    if not stated:
        return _older_server(0, ["the fields"])
    if stated < own:
        newer = [name for name, since in _table().added.items() if since > stated]
        return _older_server(stated, (name.removeprefix(_PACKAGE) for name in newer))
    if stated > own:
        return (
            f"this client is older than the server: its contract has revision {own} and the "
            f"server's {stated}; it is served, but cannot ask for what is newer"
        )
    return ""


def _older_server(stated: int, lacking: Iterable[str]) -> str:
    said = f"has revision {stated}" if stated else "states no revision, as before version 0.2.0"
    knows = "does not have" if stated else "may not have"
    return (
        f"the server is older than this client: its contract {said}, and {knows} "
        f"{_some(lacking)} of this client's revision {revision()}; upgrade the server"
    )


@functools.cache
def _table() -> _Table:
    text = resources.files("codereward").joinpath("v1", "revisions.txt").read_text("ascii")
    lines = [line.split() for line in text.splitlines()]
    return _Table(
        added={name: int(since) for since, name, *_ in lines},
        methods={kind: int(since) for since, _, kind, *_ in lines if kind.startswith(_PACKAGE)},
    )


def _newer(message: Message, known: int, path: str) -> Iterator[str]:
    """Yields the paths, without indices, of what a revision of the contract does not have."""
    for field, value in message.ListFields():
        place = f"{path}{field.name}"
        if _table().added.get(field.full_name, 0) > known:
            yield place
        elif field.enum_type is not None:
            yield from (f"{place} {name}" for name in _newer_values(field, value, known))
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for item in [value] if isinstance(value, Message) else value:
                yield from _newer(item, known, f"{place}.")


def _newer_values(field: FieldDescriptor, value: Any, known: int) -> Iterator[str]:
    kind = field.enum_type
    for number in [value] if isinstance(value, int) else value:
        name = kind.values_by_number[number].name if number in kind.values_by_number else ""
        if _table().added.get(f"{kind.full_name}.{name}", 0) > known:
            yield name


def _some(names: Iterable[str]) -> str:
    """Lists the first of many names."""
    found = list(names)
    rest = len(found) - _MOST_NAMES
    return ", ".join(found[:_MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
