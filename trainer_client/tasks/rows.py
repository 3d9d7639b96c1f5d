"""Reads fields of data-set rows, and names the wrong field in errors."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from typing import Any

from trainer_client.errors import TaskError
from trainer_client.tasks import source
from trainer_client.text import well_formed

Row = Mapping[str, Any]


class Reader:
    """Reads the fields of one row; a field that is None counts as absent.

    Args:
        task: name of the format, for messages.
        row: the row, or an object within it.
        path: path of that object in the row, for messages.
    """

    def __init__(self, task: str, row: Row, path: str = "") -> None:
        if not isinstance(row, Mapping):
            raise TaskError(task, path or "row", f"must be an object, not {type(row).__name__}")
        self._task = task
        self._row = row
        self._path = path

    def error(self, field: str, problem: str) -> TaskError:
        """Returns an error that names a field."""
        return TaskError(self._task, f"{self._path}.{field}".lstrip("."), problem)

    def within(self, field: str, value: Any) -> Reader:
        """Returns a reader of an object within this one."""
        return Reader(self._task, value, f"{self._path}.{field}".lstrip("."))

    def has(self, field: str) -> bool:
        """Returns True if a field is present and not empty."""
        value = self._row.get(field)
        return value is not None and not (isinstance(value, str | Sequence) and len(value) == 0)

    def text(self, field: str) -> str:
        """Reads a text that must be present and not blank."""
        value = self.optional_text(field)
        if not value.strip():
            raise self.error(field, "is absent or blank")
        return value

    def python(self, field: str) -> ast.Module:
        """Reads Python code that must be present."""
        try:
            return source.parsed(self.text(field))
        except ValueError as error:
            raise self.error(field, str(error)) from error

    def optional_text(self, field: str) -> str:
        """Reads a text; returns "" if it is absent."""
        value = self._row.get(field)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.error(field, f"must be text, not {type(value).__name__}")
        return well_formed(value)

    def texts(self, field: str) -> list[str]:
        """Reads a list of texts; returns an empty one if it is absent."""
        value = self._row.get(field)
        if value is None:
            return []
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise self.error(field, f"must be a list, not {type(value).__name__}")
        for index, item in enumerate(value):
            if not isinstance(item, str):
                raise self.error(f"{field}[{index}]", f"must be text, not {type(item).__name__}")
        return [well_formed(item) for item in value]

    def decoded(self, field: str) -> Any:
        """Reads a value that may be written as JSON text."""
        value = self._row.get(field)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError as error:
            raise self.error(field, f"is not JSON: {error}") from error

    def mapping(self, field: str) -> Reader:
        """Reads an object that may be written as JSON text; an absent one counts as empty."""
        value = self.decoded(field)
        return self.within(field, {} if value is None else value)

    def value(self, field: str) -> Any:
        """Returns a value as it is, or None if it is absent."""
        return self._row.get(field)


def pairs(reader: Reader, inputs: str, outputs: str) -> list[tuple[Any, Any]]:
    """Reads two lists of equal length as pairs; an absent list counts as empty."""
    first, second = reader.value(inputs) or [], reader.value(outputs) or []
    for field, value in ((inputs, first), (outputs, second)):
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise reader.error(field, f"must be a list, not {type(value).__name__}")
    if len(first) != len(second):
        raise reader.error(outputs, f"has {len(second)} items for {len(first)} {inputs}")
    return list(zip(first, second, strict=True))
