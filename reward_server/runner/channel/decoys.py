"""Data that replaces a test's expected values in requests, so that the solution's object does not
learn them."""

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
    """Returns True for data for which other data of the same form can be made."""
    kind = type(value)
    if kind in _ROWS:
        return all(map(is_data, value))
    if kind is dict:
        return all(map(is_data, value)) and all(map(is_data, value.values()))
    return kind in _OTHER_DATA


def other_data(value: Any) -> object:
    """Returns data of the same form that reveals nothing of the value."""
    kind = type(value)
    if kind in _ROWS:
        return kind(map(other_data, value))
    if isinstance(value, dict):
        return {other_data(key): other_data(one) for key, one in value.items()}
    return _OTHER_DATA[kind]
