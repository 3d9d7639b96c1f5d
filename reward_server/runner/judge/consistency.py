"""Checks whether an object that the solution returned always answers a question in the same way.

An object stays with the candidate, and the tests examine it by questions: an iteration, its length,
an element, a field. Nothing forces the answers of one object to be consistent.

What this stops: an object that has one content when it is iterated, for one assertion, and another
when it is indexed or counted, for the next assertion. No real value does this. The module compares
the answers of the values that the solution's functions and methods returned, and of the objects in
them. It compares two answers to the same question: an iteration, the length, an element, a field,
the text, or the result of an operator. It also compares conversions to numbers with each other, and
a copy with its original. If the tests only ask for numbered elements, it compares iterations with
numbered elements, slices and the length. A contradiction is counted, and the pass loses the label
ISOLATED, unless the tests also pass in a run in which the first answer to a question is repeated
(`evaluation.confirmation`).

What it does not stop: different answers before and after an event that may honestly change the
object. All answers are forgotten when anything is called except a function of the solution with
plain data, and when anything is set. After the tests have passed an object of their own to the
solution, no answers are stored any more. If the name of a function looks like that of a class, the
answers of the objects that it makes are forgotten at any call. If the tests call methods of an
object, it has a state, and its answers are not compared; `keys()`, `values()` and `items()` count
as questions. An iterator may be exhausted when it is iterated again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, ValuesView
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

from ..channel.codec import Foreign
from ..channel.encoding import cast_down
from ..channel.extended import Extended
from ..values import arrays

# The operations that change nothing, and whose answers are compared. The first few are compared
# only until an element is requested, since an object may compute its elements lazily.
_VIEWS = frozenset(("get", "str", "repr", "format", "bool"))
_WHOLE = frozenset(("int", "float", "index", "trunc", "floor", "ceil"))  # they differ by at most 1
_COMPUTED = frozenset(
    (
        *("neg", "pos", "abs", "invert", "add", "sub", "mul", "truediv", "floordiv", "mod"),
        *("divmod", "pow", "matmul", "and", "or", "xor"),
    )
)
_COPIES = frozenset(("copy", "deepcopy"))
_TEXTS = frozenset(("str", "repr", "format"))
_COMPARED = (
    _VIEWS
    | _WHOLE
    | _COMPUTED
    | _COPIES
    | frozenset(
        ("len", "item", "contains", "iter", "next", "aiter", "anext", "complex", "round"),
    )
)
_HARMLESS = frozenset(
    (
        *("value", "setting", "signature", "kind", "class_names", "isinstance", "issubclass"),
        *("dir", "hash", "eq", "ne", "lt", "le", "gt", "ge", "dataclass", "await", "case"),
    )
)
_MAPPING_VIEWS = frozenset(("keys", "values", "items"))  # methods without side effects
_ITERATIONS = {"aiter": "iter", "anext": "next"}
_REPRESENTED = frozenset(
    (
        *("builtins", "collections", "datetime", "decimal", "fractions"),
        *("array", "ipaddress", "pathlib", "uuid"),
    )
)
_DIGEST_BYTES = 16
_SIMPLE = frozenset((bool, float, str, type(None)))
_EXACT = 1 << 53
END = object()
NOTHING = object()  # there is no answer
# An operation, a digest of its operands, and the numbers of the objects in them.
_Question = tuple[str, bytes, tuple[int, ...]]


@dataclass(slots=True, kw_only=True)
class _Record:
    """The answers of one object.

    Args:
        number: the object's number.
        answers: digests by question.
        views: digests by question, for answers that may change as more elements are computed.
        elements: digests of the elements that iterations gave.
        size: the number of elements, after an iteration has come to its end.
        objects: numbers of the objects in an answer, by question; an iteration may make others of
            the same content each time.
        parts: digests of slices and of elements from the end, by key.
        number_told: its answer to a conversion to a number.
        first: the first answers themselves, by question.
        iterated: the elements themselves that the first iteration gave.
    """

    number: int
    answers: dict[_Question, bytes] = field(default_factory=dict)
    views: dict[_Question, bytes] = field(default_factory=dict)
    elements: list[bytes] = field(default_factory=list)
    size: int | None = None
    objects: dict[_Question, list[int]] = field(default_factory=dict)
    parts: list[tuple[int | slice, bytes | list[bytes]]] = field(default_factory=list)
    number_told: float | None = None
    first: dict[_Question, object] = field(default_factory=dict)
    iterated: list[object] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class _Pass:
    """One iteration: its object, its position, and the length that was announced for it."""

    record: _Record
    place: int = 0
    hint: object = None
    may_be_over: bool = False
    is_over: bool = False


class Consistency:
    """The answers of one session's objects.

    Attributes:
        repeats: whether answers are kept for reuse; see `heard`.
    """

    def __init__(self) -> None:
        self.repeats = False
        self._is_kept = True
        self._results: set[int] = set()
        self._made: set[int] = set()
        self._attributes: dict[int, tuple[int | None, str]] = {}
        self._records: dict[int, _Record] = {}
        self._passes: dict[int, _Pass] = {}
        self._contradictions = 0
        self._disputed: set[int] = set()
        self._with_more: set[int] = set()
        self._question: tuple[str, tuple[object, ...]] = "", ()
        self._last: tuple[str, int | None] = "", None

    @property
    def contradictions(self) -> int:
        """How often objects contradicted themselves."""
        return self._contradictions + len(self._disputed - self._with_more)

    def stop(self) -> None:
        """Ends the comparison: the solution has an object of the tests, which may change."""
        self._is_kept = False
        self._forget()

    def changed(self) -> None:
        """Forgets answers, because the tests changed something that the solution holds."""
        self._forget()

    def asks(self, operation: str, operands: tuple[object, ...]) -> None:
        """Forgets answers that the next request may change, and objects whose state the tests
        use."""
        self._question = operation, operands
        if not self._results or operation in _COMPARED or operation in _HARMLESS:
            return
        owner = _number(operands[0]) if operands else None
        if operation == "call" and owner is not None:
            owner, name = self._attributes.get(owner, (owner, ""))
            if name in _MAPPING_VIEWS and operands[1:] == ([], None):
                return
        if owner is not None:
            self._results.discard(owner)
        if operation != "call" or owner is not None or _objects_in(operands[1:]):
            self._forget()
        for number in self._made & self._records.keys():
            del self._records[number]

    def meets(self, number: int, *, is_new: bool) -> None:
        """Registers an object that comes with an answer."""
        operation, operands = self._question
        name = ""
        owner = _number(operands[0]) if operands else None
        if operation in ("get", "value"):
            name = str(operands[1]) if operation == "get" else self._name(operands[0])
            if is_new or _is_function(name):  # one object may be used as class and function
                self._attributes[number] = owner, name
        if operation == "call":
            is_result, name = True, self._name(operands[0])
            if name and not _is_function(name):
                self._made.add(number)
        elif operation == "value":
            is_result = name.isupper()
        else:
            is_result = owner in self._results
        if is_result:
            self._results.add(number)

    def hears(self, operation: str, operands: tuple[object, ...], answer: object) -> None:
        """Compares and records an answer; `END` is the end of an iteration."""
        operation = _ITERATIONS.get(operation, operation)
        number = _number(operands[0]) if operands else None
        last, self._last = self._last, (operation, number)
        if operation == "call" and number is not None and operands[1:] == ([], None):
            number, name = self._attributes.get(number, (None, ""))
            operation, operands = ("get" if name in _MAPPING_VIEWS else ""), (None, f"{name}()")
        if number is None or not self._is_kept or operation not in _COMPARED:
            return
        if operation == "next":
            self._hear_next(number, answer)
        elif operation == "len" and last == ("iter", number):
            self._take_hint(number, answer)
        elif number in self._results:
            self._hear_of_result(number, operation, operands, answer)

    def heard(self, operation: str, operands: tuple[object, ...]) -> object:
        """Returns the first answer to a question, or `NOTHING` if none is valid."""
        number = _number(operands[0]) if self.repeats and operands else None
        record = self._records.get(number) if number is not None else None
        if record is None or operation not in _COMPARED:
            return NOTHING
        if operation == "iter":
            is_whole = record.size is not None and len(record.iterated) == record.size
            return list(record.iterated) if is_whole else NOTHING
        question = _question(operation, operands[1] if len(operands) > 1 else None)
        digest = record.answers.get(question) or record.views.get(question)
        first = record.first.get(question, NOTHING)
        is_same = digest is not None and first is not NOTHING and _digest(first)[0] == digest
        return first if is_same else NOTHING

    def raises(self, operation: str, operands: tuple[object, ...], error: Exception) -> None:
        """Records an exception, which is an answer except to an iteration."""
        if _ITERATIONS.get(operation, operation) not in ("iter", "next"):
            self.hears(operation, operands, error)

    def _forget(self) -> None:
        self._records.clear()
        self._passes.clear()

    def _name(self, callee: object) -> str:
        """Returns the name by which the tests call an object, or ""."""
        number = _number(callee)
        if number is not None:
            return self._attributes.get(number, (None, ""))[1]
        reference = callee.runner_reference() if isinstance(callee, Foreign) else [""]
        return str(reference[-1]).rpartition(".")[2]

    def _record(self, number: int) -> _Record:
        return self._records.setdefault(number, _Record(number=number))

    # ---------------------------------------------------------------------------- questions

    def _hear_of_result(
        self, number: int, operation: str, operands: tuple[object, ...], answer: object
    ) -> None:
        record = self._record(number)
        if operation == "iter":
            self._begin(record, number, answer)
            return
        key = operands[1] if len(operands) > 1 else None
        if operation == "get" or (operation == "item" and type(key) not in (int, slice)):
            self._with_more.add(record.number)
        if operation in _COPIES:
            self._copied(record, answer)
            return
        is_view = operation in _VIEWS
        if not is_view:
            record.views.clear()
        question = _question(operation, key)
        digest, objects = _digest(answer)
        answers = record.views if is_view else record.answers
        if operation == "get" and question not in answers:
            self._forget_texts(record)
        if self.repeats and question not in answers:
            record.first[question] = answer
        if answers.setdefault(question, digest) != digest:
            self._contradictions += 1
        if operation == "item":
            self._compare_item(record, operands[0], key, digest, answer)
        elif operation in _WHOLE:
            self._compare_number(record, answer)
        elif operation == "get" and key == "__dict__" and isinstance(answer, dict):
            self._compare_fields(record, answer)
        self._identify(record, question, objects)
        self._compare_size(record)

    def _compare_item(
        self, record: _Record, subject: object, key: object, digest: bytes, answer: object
    ) -> None:
        if isinstance(subject, Extended) and _contradicts(subject, key, digest):
            self._disputed.add(record.number)
        if type(key) is int and 0 <= key < len(record.elements) and record.elements[key] != digest:
            self._disputed.add(record.number)
        elif type(key) is int and key < 0:
            record.parts.append((key, digest))
        elif type(key) is slice and isinstance(answer, (list, tuple)):
            record.parts.append((key, [_digest(one)[0] for one in answer]))
        elif type(key) not in (int, slice):
            record.answers.pop(_LENGTH, None)  # a mapping may create the requested element
        self._compare_parts(record)

    def _compare_parts(self, record: _Record) -> None:
        """Compares slices, and elements from the end, with an iteration that has ended."""
        if record.size is None:
            return
        for key, told in record.parts:
            try:
                found = record.elements[key]
            except IndexError:
                continue
            if found != told:
                self._disputed.add(record.number)

    def _compare_number(self, record: _Record, answer: object) -> None:
        if isinstance(answer, (int, float)) and abs(answer) < _EXACT:
            told, record.number_told = record.number_told, float(answer)
            self._contradictions += told is not None and abs(told - answer) > 1

    def _compare_fields(self, record: _Record, fields: Mapping[object, object]) -> None:
        for name, value in fields.items():
            digest, question = _digest(value)[0], _question("get", name)
            self._contradictions += record.views.setdefault(question, digest) != digest

    def _copied(self, record: _Record, answer: object) -> None:
        """Gives a copy the answers of its original, except those that may differ."""
        number = _number(answer)
        if number is not None and number != record.number:
            self._records[number] = replace(record, number=number, views={})

    @staticmethod
    def _forget_texts(record: _Record) -> None:
        """Forgets an object's texts, because a request for a field may compute what they show."""
        for question in [one for one in record.views if one[0] in _TEXTS]:
            del record.views[question]

    def _take_hint(self, number: int, answer: object) -> None:
        """Records the length that `list` requests before the elements."""
        record = self._records.get(number)
        for iteration in self._passes.values():
            if iteration.record is record and not iteration.place:
                iteration.hint = answer

    def _compare_size(self, record: _Record) -> None:
        told = record.answers.get(_LENGTH)
        if record.size is not None and told not in (None, _digest(record.size)[0]):
            self._disputed.add(record.number)

    def _identify(self, record: _Record, question: _Question, objects: list[int]) -> None:
        """Identifies the objects in an answer with those of the earlier answer."""
        before = record.objects.setdefault(question, objects)
        for number, first in zip(objects, before, strict=False):
            target = self._record(first)
            if self._records.setdefault(number, target) is not target:
                self._contradictions += 1  # it is another object, which has answered before

    # --------------------------------------------------------------------------- iterations

    def _begin(self, record: _Record, number: int, answer: object) -> None:
        iterator = _number(answer)
        if iterator is None:
            self._hear_all(record, answer)
            return
        previous = self._passes.get(iterator)
        is_itself = iterator == number
        if is_itself and previous is not None and not (previous.place or previous.is_over):
            return  # it was made for another object, and has not begun
        if is_itself and previous is not None and previous.place and not previous.is_over:
            record = _Record(number=number)  # it continues or restarts
        ended = is_itself and previous is not None and previous.is_over
        self._passes[iterator] = _Pass(record=record, may_be_over=ended)

    def _hear_all(self, record: _Record, answer: object) -> None:
        iteration = _Pass(record=record)
        for element in answer if isinstance(answer, list) else ():
            self._hear_element(iteration, element)
        self._hear_end(iteration)

    def _hear_next(self, number: int, answer: object) -> None:
        if number not in self._passes and number not in self._results:
            return
        iteration = self._passes.get(number)
        if iteration is None:
            iteration = self._passes[number] = _Pass(record=self._record(number))
        if answer is END:
            self._hear_end(iteration)
        else:
            self._hear_element(iteration, answer)

    def _hear_element(self, iteration: _Pass, element: object) -> None:
        record, place = iteration.record, iteration.place
        digest, objects = _digest(element)
        record.views.clear()
        if place < len(record.elements):
            self._contradictions += record.elements[place] != digest
        elif record.size is not None:
            self._contradictions += 1
        else:
            record.elements.append(digest)
            if self.repeats:
                record.iterated.append(element)
        if objects or record.answers:
            question = _question("item", place)
            if record.answers.get(question, digest) != digest:
                self._disputed.add(record.number)
            self._identify(record, question, objects)
        iteration.place += 1

    def _hear_end(self, iteration: _Pass) -> None:
        record, is_first = iteration.record, not iteration.is_over
        iteration.is_over = True
        if iteration.may_be_over and not iteration.place:
            return
        self._contradictions += is_first and iteration.place < len(record.elements)
        record.size = len(record.elements)
        self._compare_size(record)
        self._compare_parts(record)
        if iteration.hint not in (None, iteration.place):
            self._disputed.add(record.number)


def _number(value: object) -> int | None:
    """Returns the number of an object of the solution, or None for other values."""
    match value.runner_reference() if isinstance(value, Foreign) else None:
        case ["object", int(number), *_]:
            return number
    return None


def _is_function(name: str) -> bool:
    """Returns True for a name that is written like a function's or a method's, not a class's."""
    bare = name.lstrip("_")
    return bool(bare) and not bare[0].isupper()


def _contradicts(subject: Extended, key: object, digest: bytes) -> bool:
    """Returns True if extended data returns another element than the value that crossed."""
    try:
        own = cast_down(subject)[key]  # type: ignore[index]  # it may not be a sequence
    except (LookupError, TypeError):
        return False
    return _digest(own)[0] != digest


# ------------------------------------------------------------------------------------ digests


def _question(operation: str, key: object) -> _Question:
    digest, objects = _digest(key)
    return operation, digest, tuple(objects)


def _digest(value: object) -> tuple[bytes, list[int]]:
    """Returns a digest of a value (or its text, if shorter) and the objects in it."""
    objects = list[int]()
    if type(value) in _SIMPLE:
        text = f"{type(value).__name__}({value!r}"
    else:
        parts = list[str]()
        _write(value, parts, objects)
        text = "".join(parts)
    data = text.encode("utf-8", "surrogatepass")
    if len(data) < _DIGEST_BYTES:
        return data, objects
    from _blake2 import blake2b  # imported late, since it makes every fork slower

    return blake2b(data, digest_size=_DIGEST_BYTES).digest(), objects


def _objects_in(value: object) -> list[int]:
    return _digest(value)[1]


def _write(value: object, parts: list[str], objects: list[int]) -> None:
    if isinstance(value, Foreign):
        number = _number(value)
        objects.append(-1 if number is None else number)
        parts.append("@")
        if not isinstance(value, Extended):
            return
        value = cast_down(value)
    parts.append(f"{type(value).__name__}(")
    if isinstance(value, Mapping):
        for key, one in sorted(value.items(), key=lambda item: _text(item[0])):
            _write(key, parts, objects)
            _write(one, parts, objects)
    elif isinstance(value, AbstractSet):
        parts += sorted(map(_text, value))
    elif (elements := _elements(value)) is not None:
        for one in elements:
            _write(one, parts, objects)
    else:
        parts.append(_scalar(value))
    parts.append(")")


def _elements(value: object) -> Iterable[object] | None:
    if isinstance(value, slice):
        return value.start, value.stop, value.step
    if isinstance(value, (list, tuple, deque, ValuesView)):
        return value
    return arrays.parts(value)


def _text(value: object) -> str:
    parts = list[str]()
    _write(value, parts, [])
    return "".join(parts)


def _scalar(value: object) -> str:
    """Returns the text of data, or "" for other values, whose text might need the solution."""
    if isinstance(value, int):
        return hex(value)
    if isinstance(value, memoryview):
        return value.tobytes().hex()
    is_data = type(value).__module__ in _REPRESENTED and not isinstance(value, BaseException)
    return repr(value) if is_data else ""


_LENGTH = _question("len", None)
