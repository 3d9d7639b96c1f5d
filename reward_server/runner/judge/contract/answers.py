"""Makes values and exceptions of the solution's answers.

    ["return", value, rows, changed, cast]       changed: [[place, row], ...] of the question's
                                      containers; cast: whether a value was cast down
    ["raise", tree, arguments, text, fields, rows, changed, cast]    see `raised`

See `channel.data` for values and rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...channel.data import FIXED, TYPES, BadDataError
from ...channel.reading import Reader
from .objects import Handle, drawn, like
from .raised import Raised


class Told(NamedTuple):
    """One answer; an exception that was raised is its `error`."""

    result: object
    error: Exception | None
    changed: list[Any]  # containers of the question
    has_cast: bool
    containers: list[Any]
    texts: list[str]
    is_narrow: bool
    meets_object: bool
    holds_object: bool  # in a container, or in an exception


class Answers:
    """Reads answers.

    Attributes:
        handle: makes the stand-in for a reference; its second argument is whether it is a member.
        raised: the solution's exceptions.
        records: the prompt's classes whose objects cross as data.
        nan: the tests' own object that is not a number, which answers then are, too.
    """

    def __init__(self, handle: Callable[[object, bool], Handle], nan: float) -> None:
        self.handle = handle
        self.raised = Raised()
        self.records: Mapping[str, Any] = {}
        self.nan = nan

    def read(self, answer: list[Any], known: list[Any]) -> Told:
        """Reads an answer, and gives the question's containers their content.

        Raises:
            BadDataError: it is not an answer.
        """
        try:
            return _Answer(self).read(answer, known)
        except BadDataError:
            raise
        except Exception as error:  # noqa: BLE001  # tests must not see it as the solution's
            raise BadDataError(f"an answer that raises {type(error).__name__}") from None

    def copies(self, rows: list[Any]) -> list[Any]:
        """Returns copies of a question's containers."""
        return _Answer(self).applied([], rows, []).containers


class _Answer:
    """One answer; while it is read, the solution may be asked for another, as for a hash."""

    def __init__(self, of: Answers) -> None:
        self._of = of
        self._meets_object = self._holds_object = False
        self._heard: list[str] = []
        self._changed: list[Any] = []

    def read(self, answer: list[Any], known: list[Any]) -> Told:
        match answer:
            case ["return", value, rows, list(changed), bool(has_cast)]:
                reader = self.applied(known, rows, changed)
                return self._told(reader, reader.value(value), None, has_cast)
            case ["raise", tree, arguments, text, fields, rows, list(changed), bool(has_cast)]:
                reader = self.applied(known, rows, changed)
                error = self._error(reader, tree, arguments, text, fields)
                return self._told(reader, None, error, has_cast)
        raise BadDataError("not an answer")

    def _told(
        self,
        reader: Reader,
        result: object,
        error: Exception | None,
        has_cast: bool,
    ) -> Told:
        met, holds = self._meets_object, self._holds_object or error is not None
        return Told(
            *(result, error, self._changed, has_cast, reader.containers),
            *([*reader.texts, *self._heard], reader.narrow, met, met and holds),
        )

    def applied(self, known: list[Any], rows: Any, changed: list[Any]) -> Reader:
        places = {int(place): row for place, row in changed}
        if not all(0 <= place < len(known) for place in places):
            raise BadDataError("a change of no container")
        of = self._of
        reader = Reader(self._resolve, rows, known=known, records=of.records, nan=of.nan)
        for place, row in places.items():
            reader.replace(known[place], row)
            self._changed.append(known[place])
        self._holds_object = self._meets_object
        return reader

    def _error(
        self, reader: Reader, tree: object, arguments: object, text: object, fields: object
    ) -> Exception:
        match arguments, text, fields:
            case list(), str(), dict():
                values = list(map(reader.value, arguments))
                known = {name: reader.value(one) for name, one in fields.items()}
                self._heard.append(text)
                return self._of.raised.made(tree, values, text, known)
        raise BadDataError("an exception without arguments")

    def _resolve(self, reference: Any) -> object:
        match reference:
            case ["like", base, ["object", int() as place]] if type(base) in FIXED:
                return like(base, self._of.handle(["object", place], True))
            case ["object", int()] | ["name", str()]:
                self._meets_object = True
                return self._of.handle(reference, False)
            case ["type", str(name)] if name in TYPES:
                self._meets_object = True
                return TYPES[name]
            case ["rest", ["object", int() as place]]:
                return drawn(self._of.handle(["object", place], False))
            case ["error" | "end" as how, tree, arguments, text]:
                self._meets_object |= how == "error"
                reader = Reader(self._resolve, [])
                error = self._error(reader, tree, arguments, text, {})
                self._heard += reader.texts
                return error
        raise BadDataError("an unknown reference")
