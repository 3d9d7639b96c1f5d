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
# Values that a container with few elements, or a range of small numbers, does not hold.
_UNUSUAL_DATA: dict[type, object] = {
    **_OTHER_DATA,
    int: -982_451_653,
    float: -982_451_653.5,
    complex: -982_451_653j,
    str: "an unusual value",
    bytes: b"an unusual value",
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


def other_data(value: Any, *, is_unusual: bool = False) -> object:
    """Returns data of the same form that reveals nothing of the value.

    Args:
        value: data, see `is_data`.
        is_unusual: whether the data must be unlike what solutions answer with.
    """
    kind = type(value)
    if kind in _ROWS:
        return kind(other_data(one, is_unusual=is_unusual) for one in value)
    if isinstance(value, dict):
        return {
            other_data(key, is_unusual=is_unusual): other_data(one, is_unusual=is_unusual)
            for key, one in value.items()
        }
    return (_UNUSUAL_DATA if is_unusual else _OTHER_DATA)[kind]
