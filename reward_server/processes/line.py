"""Lines of JSON over a pair of sockets, between the parent and one child.

The parent sends, first, the order to serve:

    {"settings": {...}, "membership": {...}, "cpus": [...] or null, "json_logs": bool}

and then `{"do": NAME}`: "reload" (read tokens and certificates again), "drain", "stop" (at once),
"metrics", or "health" with "serving" (whether any process serves). The child sends
`{"event": NAME}`:

    "serving"   with "facts": it serves; see `description.describe`
    "failed"    with "error" and "is_setting": it cannot start
    "alive"     with "serving", "admitted" and "running", each second
    "metrics"   with "text", in Prometheus's format

If the connection ends, the process at its other end has ended.
"""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any, Self

_LONGEST_LINE_BYTES = 64 << 20  # the metrics of one process

Message = dict[str, Any]


class Line:
    """One end of the connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, end: socket.socket) -> Self:
        """Uses one socket of a pair, which this object then owns."""
        return cls(*await asyncio.open_connection(sock=end, limit=_LONGEST_LINE_BYTES))

    def send(self, message: Message) -> None:
        """Sends a message; does nothing if the other side has ended."""
        if not self._writer.is_closing():
            self._writer.write(json.dumps(message).encode() + b"\n")

    async def flush(self) -> None:
        """Returns when all lines were written to the socket, or the other side has ended."""
        try:
            await self._writer.drain()
        except ConnectionError:
            return

    async def receive(self) -> Message | None:
        """Returns the next message, or None at the end."""
        try:
            line = await self._reader.readline()
        except ConnectionError:
            return None
        message: Message | None = json.loads(line) if line.endswith(b"\n") else None
        return message

    def close(self) -> None:
        """Closes this end."""
        self._writer.close()
