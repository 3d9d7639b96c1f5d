"""The types of arguments of MBPP+, of which JSON made lists, as EvalPlus restores them by row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

_Arguments = list[Any]
_Convert = Callable[[Any], Any]


def restored(number: int, arguments: Sequence[Any]) -> _Arguments:
    """Returns the arguments of a call with their types.

    Args:
        number: the number of the row.
        arguments: as JSON has them.

    Raises:
        ValueError: they are none of this row.
    """
    try:
        return _ROWS.get(number, list)(list(arguments))
    except (TypeError, ValueError, IndexError, AttributeError):
        raise ValueError("are no arguments of this row") from None


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _deeply(value: Any) -> Any:
    return tuple(map(_deeply, value)) if isinstance(value, list) else value


def _set(value: Any) -> Any:
    return set(value) if isinstance(value, list) and value else {}


def _tuples(value: Any) -> Any:
    return [_tuple(item) for item in value]


def _sets(value: Any) -> Any:
    return [_set(item) for item in value]


def _values(value: Any) -> Any:
    return {name: _tuple(item) for name, item in value.items()}


def _each(convert: _Convert) -> Callable[[_Arguments], _Arguments]:
    return lambda arguments: [convert(one) for one in arguments]


def _at(place: int, convert: _Convert) -> Callable[[_Arguments], _Arguments]:
    def converted(arguments: _Arguments) -> _Arguments:
        arguments[place] = convert(arguments[place])
        return arguments

    return converted


def _power(arguments: _Arguments) -> _Arguments:
    return [float(arguments[0]), complex(arguments[1])]


_KINDS: tuple[tuple[Callable[[_Arguments], _Arguments], tuple[int, ...]], ...] = (
    (
        _each(_tuple),
        (
            *(2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424),
            *(429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809),
        ),
    ),
    (
        _each(_tuples),
        (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780),
    ),
    (_each(_deeply), (259, 278, 401, 445, 580, 615, 791)),
    (_at(0, _tuples), (75, 413, 444, 753)),
    (_at(0, _tuple), (250, 307, 405, 446, 617, 720, 763, 808)),
    (_at(1, _tuple), (106, 750)),
    (_at(0, _sets), (115,)),
    (_at(0, _values), (722,)),
    (_at(0, complex), (252,)),
    (_power, (124,)),
)
_ROWS: Mapping[int, Callable[[_Arguments], _Arguments]] = MappingProxyType(
    {number: convert for convert, numbers in _KINDS for number in numbers}
)
