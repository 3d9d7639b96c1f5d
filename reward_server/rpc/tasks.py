"""Tasks that callers have stored, so that their tests are sent once and not with each completion.

Each credential has its own tasks, and can neither use, find nor displace those of another. A new
task displaces the task that the same credential has not used for the longest time. If a task would
only fit in place of tasks of other credentials, it is refused, and its caller sends it with each
request.
"""

from __future__ import annotations

import dataclasses
import hashlib
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from reward_server.errors import OverloadedError, UnknownTaskError, UnsupportedError
from reward_server.languages import Language
from reward_server.rpc.convert import Task
from reward_server.tenants.tenant import Tenants

# Memory of an entry and of the objects around a task's texts, beside the sizes of these objects.
_OVERHEAD_BYTES = 512
_RETRY_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLimits:
    """Bounds on the stored tasks.

    Args:
        owner_bytes: memory of one owner's tasks.
        owner_count: number of one owner's tasks.
        total_bytes: memory of all tasks.
        seconds: time after which an unused task is forgotten.
    """

    owner_bytes: int = 256 << 20
    owner_count: int = 4096
    total_bytes: int = 1024 << 20
    seconds: float = 3600.0


@dataclass(slots=True)
class _Entry:
    task: Task
    size_bytes: int
    used: float


class TaskStore:
    """The stored tasks of all owners.

    Args:
        limits: bounds on what is stored.
        clock: returns the time in seconds.
        tenants: quotas of owners, which apply where they are below the limits.
    """

    def __init__(
        self,
        limits: StoreLimits,
        clock: Callable[[], float] = time.monotonic,
        tenants: Tenants | None = None,
    ) -> None:
        self._limits = limits
        self._tenants = Tenants() if tenants is None else tenants
        self._clock = clock
        # The tasks of each owner by digest, the one that was not used for longest first.
        self._tasks: dict[str, OrderedDict[bytes, _Entry]] = {}
        self._sizes: dict[str, int] = {}

    @property
    def count(self) -> int:
        """Number of stored tasks."""
        return sum(map(len, self._tasks.values()))

    @property
    def size_bytes(self) -> int:
        """Memory of the stored tasks."""
        return sum(self._sizes.values())

    def find(self, owner: str, digest: bytes) -> Task:
        """Returns a stored task.

        Raises:
            UnknownTaskError: the owner has no such task.
        """
        self._expire()
        entry = self._tasks.get(owner, OrderedDict()).get(digest)
        if entry is None:
            raise UnknownTaskError(digest)
        self._use(owner, digest, entry)
        return entry.task

    def put(self, owner: str, body: bytes, read: Callable[[bytes], Task]) -> bytes:
        """Stores a task, and returns its digest.

        Args:
            owner: whose it is.
            body: the serialised task.
            read: converts it; not called if the task is stored already.

        Raises:
            UnsupportedError: the task is larger than an owner's tasks may be.
            OverloadedError: tasks of others take the room.
            Exception: what `read` raises.
        """
        self._expire()
        # Of the bytes as they were sent: protobuf has no canonical form that all languages share.
        digest = hashlib.sha256(body).digest()
        known = self._tasks.get(owner, OrderedDict()).get(digest)
        if known is not None:
            self._use(owner, digest, known)
            return digest
        task = read(body)
        size = _OVERHEAD_BYTES + memory_bytes(task)
        self._make_room(owner, size)
        self._tasks.setdefault(owner, OrderedDict())[digest] = _Entry(task, size, self._clock())
        self._sizes[owner] = self._sizes.get(owner, 0) + size
        return digest

    def _use(self, owner: str, digest: bytes, entry: _Entry) -> None:
        entry.used = self._clock()
        self._tasks[owner].move_to_end(digest)

    def _make_room(self, owner: str, size: int) -> None:
        limits = self._limits_of(owner)
        if size > limits.owner_bytes:
            raise UnsupportedError(
                f"the task takes {size} bytes of memory, and stored_tasks_bytes is "
                f"{limits.owner_bytes}; send it with each request"
            )
        others = self.size_bytes - self._sizes.get(owner, 0)
        if others + size > limits.total_bytes:
            raise OverloadedError(
                f"the task takes {size} bytes of memory, and other credentials hold {others} of "
                f"stored_tasks_total_bytes, which is {limits.total_bytes}",
                retry_after_seconds=_RETRY_SECONDS,
            )
        most = min(limits.owner_bytes, limits.total_bytes - others) - size
        while self._sizes.get(owner, 0) > most or self._count(owner) >= limits.owner_count:
            self._forget_oldest(owner)

    def _limits_of(self, owner: str) -> StoreLimits:
        limits, quotas = self._limits, self._tenants.of(owner).quotas
        count, size_bytes = quotas.stored_tasks_count, quotas.stored_tasks_bytes
        return dataclasses.replace(
            limits,
            owner_count=limits.owner_count if count is None else min(count, limits.owner_count),
            owner_bytes=limits.owner_bytes
            if size_bytes is None
            else min(size_bytes, limits.owner_bytes),
        )

    def _count(self, owner: str) -> int:
        return len(self._tasks.get(owner, ()))

    def _expire(self) -> None:
        oldest = self._clock() - self._limits.seconds
        for owner in list(self._tasks):
            while owner in self._tasks and self._first(owner).used <= oldest:
                self._forget_oldest(owner)

    def _first(self, owner: str) -> _Entry:
        return next(iter(self._tasks[owner].values()))

    def _forget_oldest(self, owner: str) -> None:
        tasks = self._tasks[owner]
        _, entry = tasks.popitem(last=False)
        self._sizes[owner] -= entry.size_bytes
        if not tasks:
            del self._tasks[owner], self._sizes[owner]


def memory_bytes(value: object) -> int:
    """Returns the memory of a value of the domain and of everything that it holds."""
    if isinstance(value, Language):
        return 0  # the same object for all tasks
    # Not the length: a text with one wide character takes four bytes for each of its characters.
    size = sys.getsizeof(value)
    if isinstance(value, tuple):
        return size + sum(map(memory_bytes, value))
    if dataclasses.is_dataclass(value):
        names = (one.name for one in dataclasses.fields(value))
        return size + sum(memory_bytes(getattr(value, name)) for name in names)
    return size
