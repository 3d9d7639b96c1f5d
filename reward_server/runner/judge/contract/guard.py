"""The second line, which reads no text: what the interpreter reports while tests hear answers.

What this stops: a judge that runs code, opens a file or imports a module because an answer said so,
through a hole in the table of what tests may say (`grading.crossing.allowed`). Any event lowers the
label. An event whose code or name came from an answer makes the pass worth nothing; that the path
of a library's file holds a short answer, as "lib", does not.

What it does not do: it sees no change of memory, and nothing that raises no audit event.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import CodeType

_LEAST = 3  # characters of an answer that are looked for in what an event tells
_LONG = 12  # characters by which an answer is known inside of a longer text, such as code
_MOST = 10_000  # texts that are kept
# The last two are pytest's own, which tells its environment the name of each test.
_HARMLESS = frozenset(
    (
        *("builtins.id", "object.__getattr__", "sys._getframe", "time.sleep"),
        *("os.putenv", "os.unsetenv"),
    )
)


class Guard:
    """Watches the events of this process; there is one, since a hook stays for ever."""

    def __init__(self) -> None:
        self._is_armed = False
        self._is_installed = False
        self._heard: set[str] = set()
        self._own: set[int] = set()
        self.events: list[str] = []
        self.is_betrayed = False

    def arm(self, own: Iterable[CodeType] = ()) -> None:
        """Forgets what was heard before; the next `watch` begins to look.

        Args:
            own: code of the tests, which may run.
        """
        if not self._is_installed:
            sys.addaudithook(self._hook)
            self._is_installed = True
        self._own = set(map(id, own))
        self._heard, self.events, self.is_betrayed = set(), [], False

    def rest(self) -> None:
        """Stops watching, while the judge works itself."""
        self._is_armed = False

    def watch(self) -> None:
        """Watches again."""
        self._is_armed = True

    def hear(self, texts: Iterable[str]) -> None:
        """Remembers the texts of an answer."""
        if len(self._heard) < _MOST:
            self._heard.update(text for text in texts if len(text) >= _LEAST)

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self._is_armed or event in _HARMLESS:
            return
        if event == "exec" and id(arguments[0]) in self._own:
            return
        self._is_armed = False
        self.events.append(event)
        for text in _texts(arguments):
            self.is_betrayed |= text in self._heard or any(
                len(one) >= _LONG and one in text for one in self._heard
            )
        self._is_armed = True


def _texts(arguments: Iterable[object]) -> Iterable[str]:
    for one in arguments:
        if isinstance(one, str):
            yield one
        elif isinstance(one, (bytes, bytearray)):
            yield bytes(one).decode("utf-8", "replace")


GUARD = Guard()
