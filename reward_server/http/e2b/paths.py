"""Paths in E2B's requests, whose home folder is the session's working folder."""

from __future__ import annotations

import posixpath

from reward_server.rpc.json.sessions import path_wanted
from reward_server.sandbox.sessions.values import WORKING_FOLDER

_HOMES = ("/home/user", "~")


def place(path: object) -> str:
    """Returns the absolute path that a request means.

    Raises:
        InvalidRequestError: it is no path.
    """
    text = path_wanted(path if isinstance(path, str) else "")
    for home in _HOMES:
        if text == home or text.startswith(f"{home}/"):
            text = WORKING_FOLDER + text.removeprefix(home)
    return posixpath.join(WORKING_FOLDER, text)
