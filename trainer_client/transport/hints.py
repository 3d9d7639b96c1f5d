"""Advice on connections that fail, chosen by the text of gRPC's own messages."""

from __future__ import annotations

import re
from collections.abc import Mapping

# The first entry whose text the message contains decides. `test_hints` checks real channels.
_HINTS: Mapping[str, str] = {
    "WRONG_VERSION_NUMBER": "the server speaks plain text there: leave TLS out",
    "CERTIFICATE_VERIFY_FAILED": (
        "nobody that this client trusts vouches for the server's certificate: name its authority"
    ),
    "Hostname Verification": (
        "the server's certificate is for another name: name it as the TLS server name"
    ),
    "Socket closed": "what listens there may expect TLS, or may be no gRPC server",
    "Connection refused": (
        "nothing listens there: is `reward-server serve` running, and is this its port?"
    ),
    "Domain name not found": "no such host is known here",
}
_NO_METHOD = "Method not found!"
_CONNECTING = re.compile(r"last error:|errors resolving")


def explained(message: str) -> str:
    """Returns a failure's message, with advice if it reports that no connection was made, or that
    the server has no such method."""
    if message == _NO_METHOD:
        return f"the server is older than this client and lacks this call: upgrade it ({message})"
    if not _CONNECTING.search(message):
        return message
    hint = next((hint for text, hint in _HINTS.items() if text in message), None)
    return message if hint is None else f"{hint} ({message})"
