"""A TCP proxy on loopback that counts bytes, and whose target can be exchanged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class CountingProxy:
    """Forwards connections to a target.

    Attributes:
        sent_bytes: bytes that clients sent.
        received_bytes: bytes that clients received.
    """

    def __init__(self, target: str) -> None:
        self.sent_bytes = 0
        self.received_bytes = 0
        self.port = 0
        self._target = target
        self._writers = set[asyncio.StreamWriter]()
        self._serving = set[asyncio.Task[None]]()

    @property
    def address(self) -> str:
        """The address for clients."""
        return f"127.0.0.1:{self.port}"

    def lead_to(self, target: str) -> None:
        """Ends all connections, and forwards those to come to another target."""
        self._target = target
        for writer in self._writers:
            writer.transport.abort()

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forwards one connection until an end closes it."""
        serving = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(serving)
        serving.add_done_callback(self._serving.discard)

    async def close(self) -> None:
        """Ends all connections."""
        while self._serving:
            self.lead_to(self._target)
            await asyncio.wait(self._serving, timeout=0.1)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = self._target.rpartition(":")
        with suppress(OSError):
            far_reader, far_writer = await asyncio.open_connection(host, int(port))
            self._writers |= {writer, far_writer}
            async with asyncio.TaskGroup() as group:
                group.create_task(self._forward(reader, far_writer, is_sent=True))
                group.create_task(self._forward(far_reader, writer, is_sent=False))
            self._writers -= {writer, far_writer}
        writer.close()

    async def _forward(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_sent: bool
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                if is_sent:
                    self.sent_bytes += len(data)
                else:
                    self.received_bytes += len(data)
                writer.write(data)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def counting_proxy(target: str) -> AsyncIterator[CountingProxy]:
    """Runs a proxy for the length of the block."""
    proxy = CountingProxy(target)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
