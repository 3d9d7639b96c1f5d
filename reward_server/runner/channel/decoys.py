"""Data that stands in the place of what a test expects, so that an object is told nothing of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

_OTHER_DATA: dict[type, object] = {
    type(None): None,
    bool: True,
    int: 7,
    float: 0.5,
    complex: 2j,
    str: "other",
    bytes: b"other",
}
_ROWS = (list, tuple, set, frozenset)


def is_data(value: object) -> bool:
    """Returns True for data of which there is other data of the same form."""
    kind = type(value)
    if kind in _ROWS:
        return all(map(is_data, cast("Collection[object]", value)))
    if kind is dict:
        items = cast("dict[object, object]", value)
        return all(map(is_data, items)) and all(map(is_data, items.values()))
    return kind in _OTHER_DATA


def other_data(value: object) -> object:
    """Returns data of the same form, which tells nothing of a value."""
    kind = type(value)
    if kind in _ROWS:
        return kind(map(other_data, cast("Collection[object]", value)))
    if isinstance(value, dict):
        return {other_data(key): other_data(one) for key, one in value.items()}
    return _OTHER_DATA[kind]
