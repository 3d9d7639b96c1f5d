"""Data that crosses between a test program and a solution, as JSON.

JSON's lists are tagged, as `["tuple", items]`. Values of numpy, pandas, scipy and torch cross as
the arrays that they consist of. No code of the solution's classes runs where values are decoded,
and nothing is unpickled.
"""

from __future__ import annotations

import base64
import datetime
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

_SHOWN_CHARACTERS = 200
_PLAIN = (type(None), bool, int, float, str)
_ARRAY = re.compile(r"[<>|=]?(?:[biufc]\d{1,2}|[SU]\d+|[mM]8\[\d*\w+\])")
_EXTENSION = re.compile(r"U?Int(?:8|16|32|64)|Float(?:32|64)|boolean|string|str")
_ZONE = re.compile(r"(?!dateutil)[\w+:/-]{1,64}")  # dateutil would open a file
_FREQUENCY = re.compile(r"[\w-]{1,32}")
_SPARSE = re.compile(r"(?:bsr|coo|csc|csr|dia|dok|lil)_(?:matrix|array)")


class UncrossableError(Exception):
    """A value cannot cross; the message names its class."""


def encode(value: Any) -> Any:
    """Returns JSON of a value.

    Raises:
        UncrossableError: it holds something that cannot cross.
    """
    if type(value) in _PLAIN:
        return value
    for base in type(value).__mro__:
        encoder = _ENCODERS.get((base.__module__.partition(".")[0], base.__name__))
        if encoder is not None and (encoded := encoder(value)) is not None:
            return encoded
    raise UncrossableError(f"{type(value).__module__}.{type(value).__qualname__}")


def decode(value: Any) -> Any:
    """Returns the value of its JSON.

    Raises:
        Exception: it is none.
    """
    if type(value) in _PLAIN:
        return value
    return _DECODERS[value[0]](*value[1:])


def _items(tag: str) -> Callable[[Any], Any]:
    return lambda value: [tag, [encode(item) for item in value]]


def _decoded(items: Any) -> list[Any]:
    return [decode(item) for item in items]


def _matched(pattern: re.Pattern[str], text: str) -> str:
    if pattern.fullmatch(text) is None:
        raise ValueError(f"no such type: {text[:_SHOWN_CHARACTERS]}")
    return text


def _array(array: Any) -> Any:
    if array.dtype.kind == "O":
        return ["objects", list(array.shape), [encode(item) for item in array.ravel()]]
    if _ARRAY.fullmatch(array.dtype.str) is None or type(array).__name__ not in _ARRAYS:
        return None
    packed = base64.b64encode(array.tobytes()).decode()
    return [_ARRAYS[type(array).__name__], array.dtype.str, list(array.shape), packed]


_ARRAYS = {"ndarray": "array", "matrix": "matrix"}


def _to_array(dtype: str, shape: list[int], packed: str) -> Any:
    import numpy as np

    flat = np.frombuffer(base64.b64decode(packed), np.dtype(_matched(_ARRAY, dtype)))
    return flat.reshape(shape).copy()


def _to_matrix(dtype: str, shape: list[int], packed: str) -> Any:
    import numpy as np

    return np.asmatrix(_to_array(dtype, shape, packed))


def _to_objects(shape: list[int], items: list[Any]) -> Any:
    import numpy as np

    array = np.empty(len(items), object)
    for place, item in enumerate(items):
        array[place] = decode(item)
    return array.reshape(shape)


def _scalar(value: Any) -> Any:
    import numpy as np

    array = _array(np.asarray(value))
    return None if array is None or array[0] != "array" else ["scalar", array]


def _tensor(tensor: Any) -> Any:
    if tensor.layout != sys.modules["torch"].strided or type(tensor).__name__ != "Tensor":
        return None
    try:
        array = _array(tensor.detach().cpu().numpy())
    except TypeError:  # numpy has no such type
        return None
    return ["tensor", array, bool(tensor.requires_grad)]


def _to_tensor(array: Any, requires_grad: bool) -> Any:
    import torch

    return torch.from_numpy(decode(array)).requires_grad_(requires_grad)


def _sparse(matrix: Any) -> Any:
    name = type(matrix).__name__
    if _SPARSE.fullmatch(name) is None:
        return None
    points = matrix.tocoo()
    parts = [encode(part) for part in (points.row, points.col, points.data)]
    return ["sparse", name, list(matrix.shape), *parts]


def _to_sparse(name: str, shape: list[int], row: Any, column: Any, data: Any) -> Any:
    import scipy.sparse

    points = scipy.sparse.coo_matrix((decode(data), (decode(row), decode(column))), tuple(shape))
    return getattr(scipy.sparse, _matched(_SPARSE, name))(points)


# ------------------------------------------------------------------------- values of pandas


def _column(values: Any) -> Any:
    """Returns JSON of the values of a column or an index, an array of numpy or of pandas."""
    kind = type(values.dtype).__name__
    if kind == "CategoricalDtype":
        codes, categories = encode(values.codes.astype("int64")), encode(values.categories)
        return ["categorical", codes, categories, bool(values.ordered)]
    if kind == "DatetimeTZDtype":
        dtype = values.dtype
        return ["zoned", encode(values.asi8), dtype.unit, _zone(dtype.tz)]
    if kind == "PeriodDtype":
        return ["periods", encode(values.asi8), str(values.dtype)]
    if kind == "IntervalDtype":
        return ["intervals", encode(values.left), encode(values.right), values.closed]
    if _EXTENSION.fullmatch(str(values.dtype)) is not None:
        missing, items = values.isna().tolist(), values.tolist()
        kept = [None if gone else item for item, gone in zip(items, missing, strict=True)]
        return ["extension", str(values.dtype), kept]
    if kind not in ("NumpyEADtype", "PandasDtype") and not hasattr(values.dtype, "char"):
        raise UncrossableError(f"a column of {values.dtype}")
    return encode(values.to_numpy())


def _zone(zone: Any) -> str:
    name = str(zone)
    if _ZONE.fullmatch(name) is None:
        raise UncrossableError(f"the time zone {name[:_SHOWN_CHARACTERS]}")
    return name


def _to_extension(dtype: str, items: list[Any]) -> Any:
    import pandas as pd

    return pd.array(_decoded(items), dtype=_matched(_EXTENSION, dtype))


def _to_categorical(codes: Any, categories: Any, ordered: bool) -> Any:
    import pandas as pd

    return pd.Categorical.from_codes(decode(codes), decode(categories), ordered=ordered)


def _to_zoned(stamps: Any, unit: str, zone: str) -> Any:
    import pandas as pd

    dtype = pd.DatetimeTZDtype(unit, _matched(_ZONE, zone))
    times = decode(stamps).view(f"M8[{dtype.unit}]")
    return pd.DatetimeIndex(times).tz_localize("UTC").tz_convert(dtype.tz).array


def _to_periods(ordinals: Any, dtype: str) -> Any:
    import pandas as pd

    frequency = dtype.removeprefix("period[").removesuffix("]")
    kind = pd.PeriodDtype(_matched(_FREQUENCY, frequency))
    return pd.arrays.PeriodArray(decode(ordinals), dtype=kind)


def _to_intervals(left: Any, right: Any, closed: str) -> Any:
    import pandas as pd

    return pd.arrays.IntervalArray.from_arrays(decode(left), decode(right), closed=closed)


def _index(index: Any) -> Any:
    kind = type(index).__name__
    if kind == "RangeIndex":
        return ["range_index", index.start, index.stop, index.step, encode(index.name)]
    if kind == "MultiIndex":
        levels = [_column(index.get_level_values(place).array) for place in range(index.nlevels)]
        return ["multi_index", levels, [encode(name) for name in index.names]]
    frequency = getattr(index, "freqstr", None) if kind != "PeriodIndex" else None
    return ["index", _column(index.array), encode(index.name), frequency]


def _to_range_index(start: int, stop: int, step: int, name: Any) -> Any:
    import pandas as pd

    return pd.RangeIndex(start, stop, step, name=decode(name))


def _to_multi_index(levels: list[Any], names: list[Any]) -> Any:
    import pandas as pd

    return pd.MultiIndex.from_arrays([_series_of(level) for level in levels], names=_decoded(names))


def _to_index(values: Any, name: Any, frequency: str | None) -> Any:
    import pandas as pd

    series = _series_of(values)
    index = pd.Index(series, dtype=series.dtype, name=decode(name))
    if frequency is not None:
        index.freq = _matched(_FREQUENCY, frequency)
    return index


def _series_of(values: Any, index: Any = None, name: Any = None) -> Any:
    """Returns a series; pandas would make another type of an array of objects by itself."""
    import pandas as pd

    decoded = decode(values)
    return pd.Series(decoded, index=index, dtype=decoded.dtype, name=name)


def _series(series: Any) -> Any:
    if type(series).__name__ != "Series":
        return None
    return ["series", _column(series.array), encode(series.index), encode(series.name)]


def _to_series(values: Any, index: Any, name: Any) -> Any:
    return _series_of(values, decode(index), decode(name))


def _frame(frame: Any) -> Any:
    if type(frame).__name__ != "DataFrame":
        return None
    columns = [_column(frame.iloc[:, place].array) for place in range(frame.shape[1])]
    return ["frame", columns, encode(frame.index), encode(frame.columns)]


def _to_frame(columns: list[Any], index: Any, names: Any) -> Any:
    import pandas as pd

    rows = decode(index)
    found = {place: _series_of(column, rows) for place, column in enumerate(columns)}
    frame = pd.DataFrame(found, index=rows)
    frame.columns = decode(names)
    return frame


def _stamp(stamp: Any) -> Any:
    if type(stamp).__name__ == "NaTType":
        return ["nat"]
    return ["stamp", stamp.asm8.astype("int64").item(), stamp.unit, stamp.tz and _zone(stamp.tz)]


def _to_stamp(value: int, unit: str, zone: str | None) -> Any:
    import pandas as pd

    stamp = pd.Timestamp(value, unit=unit).as_unit(unit)
    return stamp if zone is None else stamp.tz_localize("UTC").tz_convert(_matched(_ZONE, zone))


def _to_span(value: int, unit: str) -> Any:
    import pandas as pd

    return pd.Timedelta(value, unit=unit).as_unit(unit)


def _missing(name: str) -> Callable[[], Any]:
    return lambda: getattr(__import__("pandas"), name)


# ------------------------------------------------------------------------------- the tables

_ENCODERS: Mapping[tuple[str, str], Callable[[Any], Any]] = {
    ("builtins", "bool"): bool,
    ("builtins", "int"): int.__int__,
    ("builtins", "float"): float.__float__,
    ("builtins", "str"): str.__str__,
    ("builtins", "complex"): lambda value: ["complex", value.real, value.imag],
    ("builtins", "bytes"): lambda value: ["bytes", base64.b64encode(value).decode()],
    ("builtins", "list"): _items("list"),
    ("builtins", "tuple"): _items("tuple"),
    ("builtins", "set"): _items("set"),
    ("builtins", "frozenset"): _items("frozenset"),
    ("builtins", "range"): lambda value: ["range", value.start, value.stop, value.step],
    ("builtins", "slice"): lambda value: [
        *("slice", encode(value.start), encode(value.stop), encode(value.step))
    ],
    ("builtins", "dict"): lambda value: [
        "dict",
        [[encode(key), encode(item)] for key, item in value.items()],
    ],
    ("datetime", "datetime"): lambda value: ["datetime", value.isoformat()],
    ("datetime", "date"): lambda value: ["date", value.isoformat()],
    ("datetime", "timedelta"): lambda value: [
        *("timedelta", value.days, value.seconds, value.microseconds)
    ],
    ("numpy", "ndarray"): _array,
    ("numpy", "generic"): _scalar,
    ("pandas", "DataFrame"): _frame,
    ("pandas", "Series"): _series,
    ("pandas", "Index"): _index,
    ("pandas", "Timestamp"): _stamp,
    ("pandas", "NaTType"): _stamp,
    ("pandas", "NAType"): lambda value: ["na"],
    ("pandas", "Timedelta"): lambda value: [
        *("span", value.asm8.astype("int64").item(), value.unit)
    ],
    ("pandas", "ExtensionArray"): lambda value: ["values", _column(value)],
    ("scipy", "spmatrix"): _sparse,
    ("scipy", "sparray"): _sparse,
    ("torch", "Tensor"): _tensor,
}
_DECODERS: Mapping[str, Callable[..., Any]] = {
    "complex": complex,
    "bytes": base64.b64decode,
    "list": _decoded,
    "tuple": lambda items: tuple(_decoded(items)),
    "set": lambda items: set(_decoded(items)),
    "frozenset": lambda items: frozenset(_decoded(items)),
    "range": range,
    "slice": lambda *parts: slice(*_decoded(parts)),
    "dict": lambda pairs: {decode(key): decode(item) for key, item in pairs},
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "timedelta": datetime.timedelta,
    "array": _to_array,
    "matrix": _to_matrix,
    "objects": _to_objects,
    "scalar": lambda array: decode(array)[()],
    "extension": _to_extension,
    "categorical": _to_categorical,
    "zoned": _to_zoned,
    "periods": _to_periods,
    "intervals": _to_intervals,
    "values": decode,
    "range_index": _to_range_index,
    "multi_index": _to_multi_index,
    "index": _to_index,
    "series": _to_series,
    "frame": _to_frame,
    "stamp": _to_stamp,
    "span": _to_span,
    "nat": _missing("NaT"),
    "na": _missing("NA"),
    "sparse": _to_sparse,
    "tensor": _to_tensor,
}
