"""Reads compressed pickles of one text, without loading them.

A pickle is a program: loading one runs what its author wished. Those of LiveCodeBench hold one
text each, so the few opcodes that a pickled text consists of are walked, and any other is refused.
"""

from __future__ import annotations

import pickletools
import zlib

MAXIMUM_BYTES = 256 << 20

_TEXT_OPCODES = {"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE"}
_HARMLESS_OPCODES = {"PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT", "PUT", "STOP"}


def inflated(data: bytes, maximum_bytes: int = MAXIMUM_BYTES) -> bytes:
    """Decompresses data.

    Raises:
        ValueError: it would become larger than allowed.
        zlib.error: it is no compressed data.
    """
    decompressor = zlib.decompressobj()
    result = decompressor.decompress(data, maximum_bytes)
    if decompressor.unconsumed_tail:
        raise ValueError(f"the tests have more than {maximum_bytes} bytes")
    return result


def pickled_text(data: bytes) -> str:
    """Reads the one text that a pickle holds, without loading the pickle.

    Raises:
        ValueError: it holds anything else.
    """
    texts: list[str] = []
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in _TEXT_OPCODES:
            texts.append(str(argument))
        elif opcode.name not in _HARMLESS_OPCODES:
            raise ValueError(
                f"the pickle holds more than a text ({opcode.name}); it was not loaded"
            )
    if len(texts) != 1:
        raise ValueError(f"the pickle holds {len(texts)} texts instead of one")
    return texts[0]
