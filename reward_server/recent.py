"""Keeps what was made of the texts of tasks, bounded by the memory that it takes.

What this stops: a caller whose large tasks, all different, would fill the memory. A bound on the
number of values does not stop it, because a value is as large as its task.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

_OVERHEAD_BYTES = 1024
T = TypeVar("T")


class Recent(Generic[T]):
    """The values of the keys that were used last.

    Threads may use it at the same time. If two of them look for a key at once, both may make its
    value.

    Args:
        kept_bytes: greatest total size of the values and their keys.
    """

    def __init__(self, kept_bytes: int) -> None:
        self._kept_bytes = self._room = kept_bytes
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable, size_bytes: int, make: Callable[[], T]) -> T:
        """Returns the value of a key, and makes it if it is not kept.

        Args:
            key: the key.
            size_bytes: memory that key and value take.
            make: makes the value.
        """
        known = self._known(key)
        if known is not None:
            return known[0]
        value = make()
        self.put(key, size_bytes, value)
        return value

    def get(self, key: Hashable) -> T | None:
        """Returns the value of a key, or None if it is not kept."""
        known = self._known(key)
        return None if known is None else known[0]

    def put(self, key: Hashable, size_bytes: int, value: T) -> None:
        """Keeps a value, and drops those that were used least recently until it has room.

        A value without room, even if all others are dropped, is not kept.
        """
        size = _OVERHEAD_BYTES + size_bytes
        with self._lock:
            self._drop(key)
            if size > self._kept_bytes:
                return
            while size > self._room:
                self._drop(next(iter(self._kept)))
            self._kept[key] = value, size
            self._room -= size

    def _known(self, key: Hashable) -> tuple[T, int] | None:
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
            return known

    def _drop(self, key: Hashable) -> None:
        dropped = self._kept.pop(key, None)
        if dropped is not None:
            self._room += dropped[1]
