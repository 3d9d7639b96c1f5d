"""Sends JSON to a service over HTTP."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import Any

FAILURES = (OSError, ValueError, http.client.HTTPException, urllib.error.URLError)
"""What `post` raises, and what a reader of its answer raises."""

_MOST_BYTES = 8 << 20


def post(url: str, body: Any, timeout_seconds: float) -> bytes:
    """Returns the answer to a request with a body of JSON.

    Args:
        url: an address of HTTP, which was checked to be one.
        body: an object for JSON.
        timeout_seconds: greatest time of each step of the conversation.
    """
    request = urllib.request.Request(
        url,
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
        method="POST",
    )
    with urllib.request.urlopen(request, timeout=timeout_seconds) as answer:
        read: bytes = answer.read(_MOST_BYTES)
    return read
