"""Paths in E2B's requests; the home folder is the session's working folder by another name."""

from __future__ import annotations

import posixpath

from reward_server.rpc.json.sessions import path_wanted
from reward_server.sandbox.sessions.values import USER_FOLDER

_HOME = "~"


def place(path: object) -> str:
    """Returns the absolute path that a request means.

    Raises:
        InvalidRequestError: it is no path.
    """
    text = path_wanted(path if isinstance(path, str) else "")
    if text == _HOME or text.startswith(f"{_HOME}/"):
        text = USER_FOLDER + text.removeprefix(_HOME)
    return posixpath.join(USER_FOLDER, text)
