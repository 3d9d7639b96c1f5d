"""Reads compressed pickles that hold one text, without loading them.

A pickle is a program: to load it is to run its author's code. The pickles of LiveCodeBench hold one
text each. This module interprets the few opcodes of a pickled text, and refuses all others.
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
        ValueError: the result would be larger than allowed.
        zlib.error: the data is not compressed.
    """
    decompressor = zlib.decompressobj()
    result = decompressor.decompress(data, maximum_bytes)
    if decompressor.unconsumed_tail:
        raise ValueError(f"the tests have more than {maximum_bytes} bytes")
    return result


def pickled_text(data: bytes) -> str:
    """Reads the text that a pickle holds, without loading the pickle.

    Raises:
        ValueError: the pickle holds anything else.
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
