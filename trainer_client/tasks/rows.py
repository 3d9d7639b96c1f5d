"""Reads fields of data-set rows, and names the wrong field in errors."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from typing import Any

from trainer_client.errors import TaskError
from trainer_client.tasks import source
from trainer_client.text import kind_of, well_formed

Row = Mapping[str, Any]
_NAME_CHARACTERS = 256


class Reader:
    """Reads the fields of one row; a field that is None counts as absent.

    Args:
        task: name of the format, for messages.
        row: the row, or an object within it.
        path: path of that object in the row, for messages.
    """

    def __init__(self, task: str, row: Row, path: str = "") -> None:
        if not isinstance(row, Mapping):
            raise TaskError(task, path or "row", f"must be a mapping, not {kind_of(row)}")
        self._task = task
        self._row = row
        self._path = path

    def error(self, field: str, problem: str) -> TaskError:
        """Returns an error that names a field."""
        return TaskError(self._task, self._at(field), problem)

    def within(self, field: str, value: Any) -> Reader:
        """Returns a reader of an object within this one."""
        return Reader(self._task, value, self._at(field))

    def _at(self, field: str) -> str:
        return f"{self._path}.{field}" if self._path and field else self._path or field

    def has(self, field: str) -> bool:
        """Returns True if a field is present and not empty."""
        value = self.value(field)
        return value is not None and not (isinstance(value, str | Sequence) and len(value) == 0)

    def text(self, field: str) -> str:
        """Reads a text that must be present and not blank."""
        value = self.optional_text(field)
        if not value.strip():
            raise self.error(field, "is absent or blank")
        return value

    def name(self, field: str) -> str:
        """Reads the name of a function, or of a method as `Class().method`."""
        value = self.text(field).strip()
        owner, dot, name = value.rpartition(".")
        owner_is_fit = owner.endswith("()") and owner[:-2].isidentifier() if dot else True
        if not owner_is_fit or not name.isidentifier() or len(value) > _NAME_CHARACTERS:
            raise self.error(field, f"is {value[:80]!r}, and no name of a function")
        return value

    def python(self, field: str) -> ast.Module:
        """Reads Python code that must be present."""
        return self.parsed(field, self.text(field))

    def parsed(self, field: str, code: str) -> ast.Module:
        """Parses Python code that comes from a field."""
        try:
            return source.parsed(code)
        except ValueError as error:
            raise self.error(field, str(error)) from error

    def optional_text(self, field: str) -> str:
        """Reads a text; returns "" if it is absent."""
        value = self.value(field)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.error(field, f"must be text, not {kind_of(value)}")
        return well_formed(value)

    def texts(self, field: str) -> list[str]:
        """Reads a list of texts; returns an empty one if it is absent."""
        found = self.items(field)
        for index, item in enumerate(found):
            if not isinstance(item, str):
                raise self.error(f"{field}[{index}]", f"must be text, not {kind_of(item)}")
        return [well_formed(item) for item in found]

    def items(self, field: str) -> list[Any]:
        """Reads a list; returns an empty one if it is absent."""
        value = self.value(field)
        if value is None:
            return []
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            raise self.error(field, f"must be a list, not {kind_of(value)}")
        return list(value)

    def decoded(self, field: str) -> Any:
        """Reads a value that may be written as JSON text."""
        value = self.value(field)
        return self.from_json(field, value) if isinstance(value, str) else value

    def from_json(self, field: str, text: str) -> Any:
        """Decodes JSON that comes from a field."""
        try:
            return json.loads(text)
        except ValueError as error:
            raise self.error(field, f"is not JSON: {source.plainly(str(error))}") from error
        except RecursionError:
            raise self.error(field, "is nested too deeply") from None

    def json(self, field: str, value: Any) -> str:
        """Returns a value of a field as JSON."""
        try:
            return json.dumps(value)
        except TypeError:
            raise self.error(field, "holds a value for which JSON has no form") from None
        except ValueError as error:
            raise self.error(field, f"has no form in JSON: {source.plainly(str(error))}") from None
        except RecursionError:
            raise self.error(field, "is nested too deeply") from None

    def literal(self, field: str, value: Any) -> str:
        """Returns a value of a field as a literal of Python, with the names `inf` and `nan`."""
        try:
            return repr(value)
        except ValueError as error:
            raise self.error(field, f"has no literal: {source.plainly(str(error))}") from None

    def mapping(self, field: str) -> Reader:
        """Reads an object that may be written as JSON text; an absent one counts as empty."""
        value = self.decoded(field)
        return self.within(field, {} if value is None else value)

    def value(self, field: str) -> Any:
        """Returns a value, or None if it is absent; arrays of numpy become lists."""
        return plain(self._row.get(field))


def plain(value: Any) -> Any:
    """Returns a list in place of an array of numpy, which pandas makes of a column of lists."""
    if type(value).__module__ == "numpy":
        value = value.tolist()
        return [plain(item) for item in value] if isinstance(value, list) else value
    if isinstance(value, dict) and any(type(one).__module__ == "numpy" for one in value.values()):
        return {name: plain(one) for name, one in value.items()}
    return value


def pairs(reader: Reader, inputs: str, outputs: str) -> list[tuple[Any, Any]]:
    """Reads two lists of equal length as pairs; an absent list counts as empty."""
    first, second = reader.items(inputs), reader.items(outputs)
    if len(first) != len(second):
        raise reader.error(outputs, f"has {len(second)} items for {len(first)} {inputs}")
    return list(zip(first, second, strict=True))
