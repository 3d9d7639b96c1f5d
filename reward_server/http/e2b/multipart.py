"""Splits a form with files (`multipart/form-data`), as E2B's client sends it."""

from __future__ import annotations

import re

from reward_server.errors import InvalidRequestError

_BOUNDARY = re.compile(r'boundary="?([^";]{1,200})"?')
_NAME = re.compile(rb'(?i)^content-disposition:[^\r\n]*?\bfilename="([^"\r\n]*)"', re.MULTILINE)
_END = b"--"
MOST_FILES = 1024
# What an HTTP client writes in place of these characters of a name.
_ESCAPES = {"%22": '"', "%0D": "\r", "%0A": "\n"}


def files_of(body: bytes, content_type: str) -> list[tuple[str, bytes]]:
    """Returns name and content of each file of a form.

    Raises:
        InvalidRequestError: it is no such form.
    """
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise InvalidRequestError("Content-Type", "names no boundary")
    delimiter = b"\r\n--" + found[1].encode()
    _, *parts = (b"\r\n" + body).split(delimiter, MOST_FILES + 2)
    if len(parts) > MOST_FILES + 1:
        raise InvalidRequestError("request", f"has more than {MOST_FILES} files")
    if not parts or not parts[-1].startswith(_END):
        raise InvalidRequestError("request", "is a form without an end")
    return [_file(part) for part in parts[:-1]]


def _file(part: bytes) -> tuple[str, bytes]:
    headers, blank, content = part.partition(b"\r\n\r\n")
    found = _NAME.search(headers)
    if not blank or found is None:
        raise InvalidRequestError("request", "has a part that is no file")
    name = found[1].decode("utf-8", "replace")
    for escape, character in _ESCAPES.items():
        name = name.replace(escape, character)
    return name, content
