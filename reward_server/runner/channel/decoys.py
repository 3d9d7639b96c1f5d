"""Data that stands in the place of what a test expects, so that an object is told nothing of it."""

from __future__ import annotations

from typing import Any

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


def is_data(value: Any) -> bool:
    """Returns True for data of which there is other data of the same form."""
    kind = type(value)
    if kind in _ROWS:
        return all(map(is_data, value))
    if kind is dict:
        return all(map(is_data, value)) and all(map(is_data, value.values()))
    return kind in _OTHER_DATA


def other_data(value: Any) -> object:
    """Returns data of the same form, which tells nothing of a value."""
    kind = type(value)
    if kind in _ROWS:
        return kind(map(other_data, value))
    if isinstance(value, dict):
        return {other_data(key): other_data(one) for key, one in value.items()}
    return _OTHER_DATA[kind]
