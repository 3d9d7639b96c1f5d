"""Reads single fields of a request; each reader names the field that is wrong and the limit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TypeVar

from google.protobuf.message import Message

from reward_server.errors import InvalidRequestError

# Only the form counts: converting a long number would cost time in its length squared.
_JSON = json.JSONDecoder(parse_int=len)

_T = TypeVar("_T")
_U = TypeVar("_U")


def at_most(field: str, count: int, maximum: int) -> None:
    """Checks how many items there are."""
    if count > maximum:
        raise InvalidRequestError(field, f"are {count}; at most {maximum} are allowed")


def text(field: str, value: str, maximum_bytes: int) -> str:
    """Returns a text that is not too long."""
    # Few texts come near their limit, so that few have to be encoded to be measured.
    if 4 * len(value) > maximum_bytes:
        data(field, value.encode(), maximum_bytes)
    return value


def data(field: str, value: bytes, maximum_bytes: int) -> bytes:
    """Returns bytes that are not too many."""
    if len(value) > maximum_bytes:
        raise InvalidRequestError(
            field, f"has {len(value)} bytes; at most {maximum_bytes} are allowed"
        )
    return value


def data_or_text(message: Message, name: str, maximum_bytes: int) -> bytes:
    """Returns bytes that came as such, or as text in the field `NAME_text`."""
    given: bytes = getattr(message, name)
    as_text: str = getattr(message, f"{name}_text")
    if given and as_text:
        raise InvalidRequestError(f"{name}_text", f"and {name} are both set")
    if as_text:
        return data(f"{name}_text", as_text.encode(), maximum_bytes)
    return data(name, given, maximum_bytes)


def json_value(field: str, value: str, maximum_bytes: int) -> object:
    """Decodes JSON, as Python writes it; an integer becomes the number of its digits."""
    try:
        return _JSON.decode(text(field, value, maximum_bytes))
    except ValueError as error:
        raise InvalidRequestError(field, f"is not JSON: {error}") from None
    except RecursionError:
        raise InvalidRequestError(field, "is nested too deeply") from None


def number(field: str, value: float, least: float, greatest: float) -> float:
    """Returns a number between two others; NaN is between none."""
    if not least <= value <= greatest:
        raise InvalidRequestError(field, f"is {value}; it must be from {least:g} to {greatest:g}")
    return value


def choice(field: str, value: int, kind: Callable[[int], _T]) -> _T:
    """Returns the member of an enumeration that has a number."""
    try:
        return kind(value)
    except ValueError:
        raise InvalidRequestError(field, f"{value} is not known") from None


def each(field: str, items: Iterable[_T], read: Callable[[_T], _U]) -> tuple[_U, ...]:
    """Reads a repeated field, putting its name and the index in front of a wrong field's name."""
    values: list[_U] = []
    for item in items:
        try:
            values.append(read(item))
        except InvalidRequestError as error:
            path = f"{field}[{len(values)}].{error.field}".removesuffix(".")
            raise InvalidRequestError(path, error.problem) from None
    return tuple(values)


def within(field: str, read: Callable[[], _T]) -> _T:
    """Reads a message field, putting its name in front of a wrong field's name."""
    try:
        return read()
    except InvalidRequestError as error:
        raise InvalidRequestError(f"{field}.{error.field}", error.problem) from None
