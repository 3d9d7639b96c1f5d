"""Finds the bearer token in the headers of a request.

Clients that cannot send `Authorization: Bearer` have other places for it: the password of a URL
(`http://any:TOKEN@host`, sent as `Authorization: Basic`), and the headers of E2B's client.
"""

from __future__ import annotations

import base64
import binascii

from starlette.datastructures import Headers

_OWN_HEADERS = ("x-api-key", "x-access-token", "e2b-traffic-access-token")


def shown_token(headers: Headers) -> str | None:
    """Returns the one token that a request shows; None if it shows none or several."""
    shown = {token for value in headers.getlist("authorization") if (token := _token(value))}
    shown.update(token for name in _OWN_HEADERS for token in headers.getlist(name) if token)
    return shown.pop() if len(shown) == 1 else None


def _token(authorization: str) -> str:
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[2]
    except (binascii.Error, ValueError):
        return ""
