"""A reward for text that matches a regular expression, with a limit on the time of matching.

Python's regular expressions backtrack. A harmless pattern can take years for some text that a model
writes, and meanwhile no other thread of the process runs. So patterns are matched in a separate
process. The kernel ends this process if one text takes more CPU time than allowed.

What this limits: the CPU time and the size of each text. What it does not limit: memory, of which
backtracking takes little.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from trainer_client.rewards.columns import texts_of

Rewards = list[float | None]

_MATCHER = """
import json, re, signal, sys
pattern, flags, search, seconds = json.loads(sys.stdin.readline())
matcher = re.compile(pattern, flags)
match = matcher.search if search else matcher.fullmatch
for line in sys.stdin:
    text = json.loads(line)
    # The default action of SIGPROF ends the process, also in the middle of a match.
    signal.setitimer(signal.ITIMER_PROF, seconds)
    found = match(text) is not None
    signal.setitimer(signal.ITIMER_PROF, 0)
    print(int(found), flush=True)
"""


def pattern_reward(
    pattern: str,
    *,
    value: float = 1.0,
    search: bool = False,
    flags: int = re.DOTALL,
    name: str = "pattern_reward",
    seconds: float = 0.25,
    characters: int = 100_000,
) -> Callable[..., Rewards]:
    r"""Makes a reward function: `value` for text that matches a regular expression, 0 otherwise.

    A text that takes longer than `seconds`, or is longer than `characters`, does not match, and its
    reward is 0. If it had no reward, a model could write such texts so that they do not count in
    the baseline.

    Args:
        pattern: in Python's syntax.
        value: reward of a match.
        search: whether a match anywhere counts; otherwise the whole text must match.
        flags: flags of `re`; the dot matches line breaks by default.
        name: `__name__`, under which TRL logs.
        seconds: greatest CPU time for one text.
        characters: greatest length of a text.

    Returns:
        None if something other than its limit ended the matching process.

    Raises:
        ValueError: the pattern is wrong, or a limit is not above 0.

    Examples:
        >>> from trainer_client.rewards import pattern_reward
        >>> is_explained = pattern_reward(r"# \w+", search=True, value=0.1, name="is_explained")
        >>> is_explained(["", ""], ["x = 2  # seconds", "x = 2"])
        [0.1, 0.0]
    """
    try:
        re.compile(pattern, flags)
    except re.error as error:
        raise ValueError(f"pattern: {error}") from error
    if not (seconds > 0 and characters > 0):
        raise ValueError(f"seconds and characters must be above 0, not {seconds}, {characters}")
    matcher = _Matcher(json.dumps([pattern, int(flags), search, seconds]))

    def judge(text: str) -> float | None:
        matches = matcher.matches(text) if len(text) <= characters else False
        return None if matches is None else value * matches

    def reward(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> Rewards:
        return [judge(text) for text in texts_of(completions)]

    reward.__name__ = reward.__qualname__ = name
    return reward


class _Matcher:
    """A process that matches texts; it is started at the first use, and again after it has ended.

    Args:
        setting: its first line: pattern, flags, whether to search, and seconds.
    """

    def __init__(self, setting: str) -> None:
        self._setting = setting
        self._process: subprocess.Popen[str] | None = None
        self._owner = 0
        self._lock = threading.Lock()

    def matches(self, text: str) -> bool | None:
        """Returns True if a text matches within its time; None if the result is unknown."""
        with self._lock:
            if self._process is None or self._owner != os.getpid():
                self._process = self._start()
            try:
                answer = _ask(self._process, text)
            except BaseException:
                # Otherwise the next text would get this text's result.
                self._stop()
                raise
            if answer in _ANSWERS:
                return _ANSWERS[answer]
            status = self._process.wait()
            self._stop()
            return False if status == -signal.SIGPROF else None

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _MATCHER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="ascii",
        )
        self._owner = os.getpid()
        self._finalizer = weakref.finalize(self, _end, process, self._owner)
        _write(process, self._setting)
        return process

    def _stop(self) -> None:
        self._finalizer()
        self._process = None


_ANSWERS = {"0\n": False, "1\n": True}


def _ask(process: subprocess.Popen[str], text: str) -> str:
    assert process.stdout is not None
    _write(process, json.dumps(text))
    return process.stdout.readline()


def _write(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    # If the process has ended, reading its result detects this.
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(line + "\n")
        process.stdin.flush()


def _end(process: subprocess.Popen[str], owner: int) -> None:
    # This also runs at the exit of a forked child, but only the parent may end its process.
    if owner != os.getpid():
        return
    process.kill()
    # Closing flushes data for a process that may have ended.
    with contextlib.suppress(BrokenPipeError):
        process.communicate()
