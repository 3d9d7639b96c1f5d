"""Executes identical submissions once, and gives a repeated id the same answer."""

from __future__ import annotations

import asyncio
import enum
import functools
import hashlib
import operator
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Generic, TypeAlias, TypeVar, cast

from reward_server.domain import Assessment, Submission, Tests
from reward_server.errors import BudgetSpentError, DeadlineError, InvalidRequestError

KEPT_ANSWER_BYTES = 64 << 20
_ANSWER_OVERHEAD_BYTES = 2048
_TEST_OVERHEAD_BYTES = 200
_FINGERPRINT_BYTES = 20
_TASK = ("tests", "data_files")
_BESIDES = ("id", "tags", "task_fingerprint")
_CONTENT = tuple(one.name for one in fields(Submission) if one.name not in _BESIDES)

_content_of = operator.attrgetter(*_CONTENT)
_other_content_of = operator.attrgetter(*(name for name in _CONTENT if name not in _TASK))

Name: TypeAlias = tuple[str, str]  # an owner, and an id among those that it chose

T = TypeVar("T")


def identity(submission: Submission, owner: str = "") -> Hashable:
    """Returns a submission's owner and everything that its answer depends on."""
    return owner, _content_of(submission)


def fingerprint(submission: Submission, owner: str = "") -> bytes:
    """Returns a digest of `identity`, which is kept for longer than the submission itself."""
    task = submission.task_fingerprint
    task = task or task_fingerprint(submission.tests, submission.data_files)
    return _digest(owner, _other_content_of(submission), task)


def task_fingerprint(tests: Tests, data_files: tuple[tuple[str, bytes], ...]) -> bytes:
    """Returns a digest of the large parts of a task, the same however the task was sent."""
    return _digest(tests, data_files)


def _digest(*values: object) -> bytes:
    pieces: list[bytes] = []
    _collect(pieces, values)
    return hashlib.blake2b(b"".join(pieces), digest_size=_FINGERPRINT_BYTES).digest()


def _collect(pieces: list[bytes], value: object) -> None:
    """Appends bytes that no different value appends."""
    kind = type(value)
    if kind is str:
        data = cast("str", value).encode("utf-8", "surrogatepass")
        pieces += (b"s%d:" % len(data), data)
    elif kind is bytes:
        pieces += (b"b%d:" % len(cast("bytes", value)), cast("bytes", value))
    elif kind is tuple:
        items = cast("tuple[object, ...]", value)
        pieces.append(b"t%d:" % len(items))
        for item in items:
            _collect(pieces, item)
    elif kind in (int, float, bool):
        pieces.append(b"n%a;" % value)
    elif isinstance(value, enum.Enum):
        pieces.append(b"e%a;" % value.name)
    else:
        pieces.append(b"o%a;" % kind.__name__)
        for name in _names_of(cast("Hashable", kind)):
            _collect(pieces, getattr(value, name))


@functools.cache
def _names_of(kind: Any) -> tuple[str, ...]:
    """Returns the names of a dataclass's fields; every other value is a dataclass."""
    return tuple(field.name for field in fields(kind))


@dataclass(slots=True, eq=False)
class _Call(Generic[T]):
    task: asyncio.Task[T]
    waiters: int = 0


class SingleFlight(Generic[T]):
    """Work in progress, shared by all callers that ask for the same while it lasts.

    The work belongs to all callers that wait for it. It is cancelled when the last of them is
    cancelled, and not before.
    """

    def __init__(self) -> None:
        self._calls: dict[Hashable, _Call[T]] = {}

    async def join(
        self, key: Hashable, start: Callable[[], Coroutine[None, None, T]]
    ) -> tuple[T, bool]:
        """Waits for the work under a key, starting it if there is none.

        The deadline and the budget that end the work are those of the caller that started it. If
        they end it, the other callers start it again.

        Returns:
            The result of the work, and whether another caller had started it.

        Raises:
            Exception: the exception that the work raised.
        """
        while True:
            call = self._calls.get(key)
            shared = call is not None and not call.task.done()
            if call is None or not shared:
                call = self._launch(key, start())
            try:
                return await self._wait(key, call), shared
            except (DeadlineError, BudgetSpentError):
                if not shared:
                    raise

    def _launch(self, key: Hashable, work: Coroutine[None, None, T]) -> _Call[T]:
        call = _Call(asyncio.create_task(work))
        self._calls[key] = call
        call.task.add_done_callback(lambda _: self._forget(key, call))
        return call

    async def _wait(self, key: Hashable, call: _Call[T]) -> T:
        call.waiters += 1
        try:
            return await asyncio.shield(call.task)
        finally:
            call.waiters -= 1
            if not call.waiters and not call.task.done():
                self._forget(key, call)
                call.task.cancel()
                await asyncio.wait([call.task])

    def _forget(self, key: Hashable, call: _Call[T]) -> None:
        if self._calls.get(key) is call:
            del self._calls[key]


@dataclass(slots=True)
class _Answer:
    key: bytes
    assessment: Assessment
    until: float
    size_bytes: int


class IdempotencyCache:
    """Keeps the first answer for each id of an owner for a limited time.

    Args:
        count: how many answers are kept at most.
        seconds: how long one is kept at most.
        clock: returns the time in seconds.
    """

    def __init__(self, *, count: int, seconds: float, clock: Callable[[], float]) -> None:
        self._count = count
        self._seconds = seconds
        self._clock = clock
        self._answers: OrderedDict[Name, _Answer] = OrderedDict()
        self._size_bytes = 0
        self._claims: dict[Name, list[bytes]] = {}

    def recall(self, name: Name, key: bytes) -> Assessment | None:
        """Returns the answer that was given for an id, if it is still known.

        Raises:
            InvalidRequestError: the id belongs to other content.
        """
        self._expire()
        answer = self._answers.get(name)
        known = self._claims.get(name, [answer.key] if answer else [])
        if known and known[0] != key:
            raise InvalidRequestError("id", f"{name[1]!r} was used for other content before")
        return answer.assessment if answer else None

    @contextmanager
    def claim(self, name: Name, key: bytes) -> Iterator[None]:
        """Reserves an id for content that is being judged, for the length of the block."""
        self._claims.setdefault(name, []).append(key)
        try:
            yield
        finally:
            self._claims[name].pop()
            if not self._claims[name]:
                del self._claims[name]

    def keep(self, name: Name, key: bytes, assessment: Assessment) -> None:
        """Keeps an answer under its name, unless there is one."""
        if name in self._answers:
            return
        answer = _Answer(key, assessment, self._clock() + self._seconds, _size(assessment))
        self._answers[name] = answer
        self._size_bytes += answer.size_bytes
        self._expire()

    def _expire(self) -> None:
        now = self._clock()
        while self._answers and self._has_to_go(next(iter(self._answers.values())), now):
            _, answer = self._answers.popitem(last=False)
            self._size_bytes -= answer.size_bytes

    def _has_to_go(self, oldest: _Answer, now: float) -> bool:
        too_many = len(self._answers) > self._count or self._size_bytes > KEPT_ANSWER_BYTES
        return too_many or oldest.until <= now


def _size(assessment: Assessment) -> int:
    tests = sum(_TEST_OVERHEAD_BYTES + 2 * len(test.message) for test in assessment.tests)
    output = len(assessment.stdout.data) + len(assessment.stderr.data)
    return _ANSWER_OVERHEAD_BYTES + tests + output
