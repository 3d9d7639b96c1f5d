"""A name server on loopback, for clients that follow a name with several addresses."""

from __future__ import annotations

import asyncio
import ipaddress
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Self

_ADDRESS, _INTERNET, _ANSWER_OF_THE_OWNER, _SECONDS = 1, 1, 0x8580, 1
_HEADER = struct.Struct("!6H")
_QUESTION = struct.Struct("!2H")
_RECORD = struct.Struct("!3HIH4s")
_NAME_OF_THE_QUESTION = 0xC000 | _HEADER.size


class NameServer(asyncio.DatagramProtocol):
    """Answers questions for addresses of IPv4, and every other question with no record.

    Args:
        names: the addresses of each name, which may change.
    """

    def __init__(self, names: Mapping[str, Sequence[str]]) -> None:
        self.names = dict(names)
        self._transport: Any = None

    @property
    def address(self) -> str:
        """Where it listens."""
        host, port = self._transport.get_extra_info("sockname")
        return f"{host}:{port}"

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 0))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins."""
        self._transport = transport

    def datagram_received(self, data: bytes, sender: tuple[str, int]) -> None:
        """Answers a question."""
        end = data.index(b"\0", _HEADER.size) + 1
        kind, _ = _QUESTION.unpack_from(data, end)
        name = _read(data[_HEADER.size : end])
        found = self.names.get(name, ()) if kind == _ADDRESS else ()
        number = _HEADER.unpack_from(data)[0]
        head = _HEADER.pack(number, _ANSWER_OF_THE_OWNER, 1, len(found), 0, 0)
        question = data[_HEADER.size : end + _QUESTION.size]
        self._transport.sendto(head + question + b"".join(map(_record, found)), sender)


def _read(labels: bytes) -> str:
    parts, at = [], 0
    while size := labels[at]:
        parts.append(labels[at + 1 : at + 1 + size].decode("ascii"))
        at += 1 + size
    return ".".join(parts).lower()


def _record(address: str) -> bytes:
    packed = ipaddress.IPv4Address(address).packed
    kind = (_NAME_OF_THE_QUESTION, _ADDRESS, _INTERNET)
    return _RECORD.pack(*kind, _SECONDS, len(packed), packed)
