"""What code shows: its values in the formats of notebooks, by MIME type.

A value tells its formats by the methods that notebooks call, such as `_repr_html_`. Its text is
always there. `display` is a built-in function of the code, and can be imported as in notebooks.
"""

from __future__ import annotations

import base64
import builtins
import importlib.util
import io
import json
import math
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from . import wire

Bundle = dict[str, Any]

TEXT, PNG = "text/plain", "image/png"
_METHODS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "text/latex": "_repr_latex_",
    "image/svg+xml": "_repr_svg_",
    PNG: "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "application/pdf": "_repr_pdf_",
    "application/json": "_repr_json_",
    "application/javascript": "_repr_javascript_",
}
# The classes of `IPython.display` that hold what they show, with the method that notebooks call.
_HOLDERS = {
    "HTML": "_repr_html_",
    "Markdown": "_repr_markdown_",
    "Latex": "_repr_latex_",
    "SVG": "_repr_svg_",
    "JSON": "_repr_json_",
    "Javascript": "_repr_javascript_",
}
_DATA = "e2b/data"  # the columns of a table, as E2B's code interpreter tells them


def formats_of(value: object) -> Bundle:
    """Returns a value in all of its formats.

    Raises:
        Exception: its `repr` does.
    """
    found: Bundle = {TEXT: repr(value)}
    if isinstance(value, type):
        return found  # its methods are those of its instances
    bundle = _asked(value, "_repr_mimebundle_")
    found |= bundle if isinstance(bundle, dict) else {}
    for kind, method in _METHODS.items():
        shown = _asked(value, method)
        if shown is not None:
            found[kind] = shown
    if isinstance(value, (dict, list)):
        found["application/json"] = value
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, pandas.DataFrame):
        found[_DATA] = value.to_dict(orient="list")
    return found


def sendable(bundle: Bundle) -> Bundle:
    """Returns the formats that can be sent: texts, JSON, and bytes in base64, none of them too
    long."""
    told = {kind: _plain(kind, value) for kind, value in bundle.items()}
    return {kind: value for kind, value in told.items() if value is not None}


def figures() -> Iterator[Bundle]:
    """Yields the open figures of matplotlib, and closes them."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    try:
        for number in pyplot.get_fignums():
            drawn, figure = io.BytesIO(), pyplot.figure(number)
            figure.savefig(drawn, format="png", bbox_inches="tight")
            yield {TEXT: repr(figure), PNG: drawn.getvalue()}
    finally:
        pyplot.close("all")


def offer(show: Callable[[Bundle], None]) -> None:
    """Gives the code `display`, and `IPython.display` where IPython is not installed.

    Args:
        show: sends what is displayed.
    """

    def display(*values: object, raw: bool = False, **_: object) -> None:
        """Shows values as a notebook does; with `raw`, each is given by its formats."""
        for value in values:
            show(dict(value) if raw and isinstance(value, dict) else formats_of(value))

    builtins.display = display  # type: ignore[attr-defined]  # as in a notebook
    if importlib.util.find_spec("IPython") is None:
        _install(display)


def _install(display: Callable[..., None]) -> None:
    package, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    holders = {name: _holder(name, method) for name, method in _HOLDERS.items()}
    module.__dict__.update(holders, Image=_Image, display=display, clear_output=_do_nothing)
    # Libraries that find it ask for its version, and whether a shell runs.
    package.__dict__.update(
        __path__=[],
        __version__="9.0.0",
        version_info=(9, 0, 0),
        get_ipython=_do_nothing,
        display=module,
    )
    sys.modules.update({"IPython": package, "IPython.display": module})


def _do_nothing(*_: object, **__: object) -> None: ...


class _Image:
    """A picture, from its bytes or from a file."""

    def __init__(self, data: object = None, filename: str | None = None, **_: object) -> None:
        path = data if isinstance(data, str) else filename
        self.data = data if path is None else Path(path).read_bytes()

    def _repr_png_(self) -> object:
        return self.data


def _holder(name: str, method: str) -> type:
    def __init__(self: Any, data: object = None, **_: object) -> None:  # noqa: N807
        self.data = data

    members = {"__init__": __init__, method: lambda self: self.data}
    return type(name, (), {**members, "__module__": "IPython.display"})


def _asked(value: object, method: str) -> Any:
    """Calls a method that a value may have; it is the code's own, and may do anything."""
    try:
        told = getattr(value, method)()
    except Exception:  # noqa: BLE001 - a format that cannot be made is left out
        return None
    return told[0] if isinstance(told, tuple) and told else told


def _plain(kind: str, value: object) -> Any:
    """Returns what is sent of one format; None if nothing can be."""
    if isinstance(value, bytes):
        fits = len(value) <= wire.IMAGE_BYTES and (kind != PNG or value.startswith(wire.PNG_BEGIN))
        return base64.b64encode(value).decode() if fits else None
    if kind == TEXT:
        return _text(value)
    try:
        told = _json(value)
        return told if len(json.dumps(told)) <= wire.FORMAT_CHARACTERS else None
    except Exception:  # noqa: BLE001 - the code's own objects take part
        return None


def _text(value: object) -> str:
    return str(value).encode("utf-8", "replace").decode()


def _json(value: Any) -> Any:
    """Returns a value of JSON; numbers that JSON does not have are null, other objects texts."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {_text(name): _json(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(one) for one in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return _json(value.item()) if hasattr(value, "item") else _text(value)
