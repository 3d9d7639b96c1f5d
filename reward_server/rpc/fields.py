"""Reads single fields of a request; each function names the wrong field and the limit in errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TypeVar

from google.protobuf.message import Message

from reward_server.errors import InvalidRequestError

# Only the form counts: the time to convert a long number is quadratic in its length.
_JSON = json.JSONDecoder(parse_int=len)

_T = TypeVar("_T")
_U = TypeVar("_U")


def at_most(field: str, count: int, maximum: int) -> None:
    """Checks the number of items."""
    if count > maximum:
        raise InvalidRequestError(field, f"are {count}; at most {maximum} are allowed")


def text(field: str, value: str, maximum_bytes: int) -> str:
    """Returns a text that is not too long."""
    # Few texts come near their limit, so few have to be encoded to measure them.
    if 4 * len(value) > maximum_bytes:
        data(field, value.encode(), maximum_bytes)
    return value


def data(field: str, value: bytes, maximum_bytes: int) -> bytes:
    """Returns bytes, of which there are not too many."""
    if len(value) > maximum_bytes:
        raise InvalidRequestError(
            field, f"has {len(value)} bytes; at most {maximum_bytes} are allowed"
        )
    return value


def data_or_text(message: Message, name: str, maximum_bytes: int) -> bytes:
    """Returns bytes from a field of bytes, or from the text field `NAME_text`."""
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
    """Returns a number between two bounds; NaN is refused."""
    if not least <= value <= greatest:
        raise InvalidRequestError(field, f"is {value}; it must be from {least:g} to {greatest:g}")
    return value


def choice(field: str, value: int, kind: Callable[[int], _T]) -> _T:
    """Returns the member of an enumeration with the given number."""
    try:
        return kind(value)
    except ValueError:
        raise InvalidRequestError(field, f"{value} is not known") from None


def each(field: str, items: Iterable[_T], read: Callable[[_T], _U]) -> tuple[_U, ...]:
    """Reads a repeated field; prepends its name and the index to the name of a wrong field."""
    values: list[_U] = []
    for item in items:
        try:
            values.append(read(item))
        except InvalidRequestError as error:
            path = f"{field}[{len(values)}].{error.field}".removesuffix(".")
            raise InvalidRequestError(path, error.problem) from None
    return tuple(values)


def within(field: str, read: Callable[[], _T]) -> _T:
    """Reads a message field; prepends its name to the name of a wrong field."""
    try:
        return read()
    except InvalidRequestError as error:
        raise InvalidRequestError(f"{field}.{error.field}", error.problem) from None
