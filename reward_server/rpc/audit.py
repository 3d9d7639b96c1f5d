"""The audit log: a line for each completion that was judged, with its caller and its result.

A line is a JSON object. It holds digests of completion and task, but neither their text nor a
credential. The file is rotated by size, and only its owner may read it.

A thread writes the lines, so that a slow disk delays no answer. If the disk fails, or is slower
than the server for a long time, lines are lost and counted, and judging continues.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import queue
import stat
import time
from collections.abc import Callable
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import QueueHandler, QueueListener, RotatingFileHandler
from pathlib import Path

import structlog

from codereward.v1 import reward_service_pb2 as pb
from reward_server.errors import SettingsError

WRITTEN, LOST = "written", "lost"
_MOST_WAITING = 10_000
_LONGEST_ID = 256
_CLOSE_SECONDS = 5.0
# A larger text is hashed in a thread: a megabyte takes a millisecond or two.
_LARGE_CHARACTERS = 1 << 20
_ACCESS_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO

_log = structlog.get_logger("audit")


class AuditLog:
    """An audit log that is open.

    Args:
        path: its file; older files have `.1`, `.2` and so on after this name.
        file_bytes: size at which a file is rotated.
        files: number of older files that are kept.
        count: counts lines, by `WRITTEN` or `LOST`.

    Raises:
        SettingsError: the file cannot be written, or users other than its owner may read it.
    """

    def __init__(
        self, path: Path, *, file_bytes: int, files: int, count: Callable[[str], None]
    ) -> None:
        self._count = count
        waiting = queue.Queue[object](_MOST_WAITING)
        try:
            self._file = _File(path, file_bytes, files, count)
        except OSError as error:
            raise SettingsError(f"audit_file {path} cannot be written: {error.strerror}") from None
        self._entry = _Entry(waiting, count)
        self._writer = _Writer(waiting, self._file)
        self._writer.start()

    async def record(
        self, owner: str, request: pb.ScoreRequest, response: pb.ScoreResponse
    ) -> None:
        """Records an answer.

        Args:
            owner: name of the tenant whose request it was.
            request: the request.
            response: its answer.
        """
        line: dict[str, object] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "tenant": owner,
            "request_id": request.id[:_LONGEST_ID],
            "completion_sha256": await _digest(request.completion),
        }
        if request.task_digest:
            line["task_sha256"] = request.task_digest.hex()
        made = response.provenance
        line |= {
            "verdict": pb.Verdict.Name(response.verdict).removeprefix("VERDICT_"),
            "reward": response.reward if response.HasField("reward") else None,
            "integrity": pb.Integrity.Name(response.integrity).removeprefix("INTEGRITY_"),
            "provenance": {field.name: value for field, value in made.ListFields()},
        }
        self._entry.handle(logging.makeLogRecord({"msg": json.dumps(line)}))

    def close(self) -> None:
        """Writes the waiting lines; gives up if the disk does not accept them within seconds."""
        self._writer.stop()
        with contextlib.suppress(OSError):  # what it could not write is counted already
            self._file.close()


class _Entry(QueueHandler):
    """The end of the queue at the event loop."""

    def __init__(self, waiting: queue.Queue[object], count: Callable[[str], None]) -> None:
        super().__init__(waiting)
        self._count = count

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return record

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        self._count(LOST)


class _Writer(QueueListener):
    """The thread at the other end."""

    def enqueue_sentinel(self) -> None:
        """Tells the thread to end, even if the queue is full."""
        deadline = time.monotonic() + _CLOSE_SECONDS
        while True:
            try:
                return super().enqueue_sentinel()
            except queue.Full:
                if time.monotonic() > deadline:
                    _log.error("the audit log's disk does not take its lines")
                    raise
                time.sleep(0.01)


class _File(RotatingFileHandler):
    def __init__(self, path: Path, size: int, files: int, count: Callable[[str], None]) -> None:
        self._count = count
        self._has_failed = False
        super().__init__(path, maxBytes=size, backupCount=files, encoding="ascii")

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self.baseFilename, flags, stat.S_IRUSR | stat.S_IWUSR)
        if os.fstat(descriptor).st_mode & _ACCESS_OF_OTHERS:
            os.close(descriptor)
            raise SettingsError(
                f"audit_file {self.baseFilename} is open to others than its owner; chmod 600 it"
            )
        return TextIOWrapper(os.fdopen(descriptor, "ab"), encoding=self.encoding)

    def emit(self, record: logging.LogRecord) -> None:
        lost = self._has_failed
        self._has_failed = False
        super().emit(record)
        if not self._has_failed:
            self._count(WRITTEN)
        elif not lost:
            _log.error("a line of the audit log could not be written", file=self.baseFilename)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        self._has_failed = True
        self._count(LOST)


async def _digest(text: str) -> str:
    if len(text) > _LARGE_CHARACTERS:
        return await asyncio.to_thread(_sha256, text)
    return _sha256(text)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
