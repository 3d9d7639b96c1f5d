"""Reads files in a request by path, or refuses them with the name of the wrong path."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping

from reward_server.errors import InvalidRequestError
from reward_server.rpc import fields

MOST_FILES = 256
FILES_BYTES = 16 << 20
PATH_BYTES = 256
DEEPEST_PATH = 16


def files(field: str, given: Mapping[str, bytes]) -> tuple[tuple[str, bytes], ...]:
    """Reads files, ordered by path.

    Raises:
        InvalidRequestError: there are too many files, or they are too large; a path does not lead
            to a file below the folder in which it is used; or a path is a folder of another one.
    """
    if not given:
        return ()
    fields.at_most(field, len(given), MOST_FILES)
    for path in given:
        check_path(named(field, path), path)
    size = sum(map(len, given.values()))
    if size > FILES_BYTES:
        raise InvalidRequestError(field, f"have {size} bytes; at most {FILES_BYTES} are allowed")
    check_apart({path: named(field, path) for path in given})
    return tuple(sorted(given.items()))


def with_text(
    field: str, given: Mapping[str, bytes], text_field: str, texts: Mapping[str, str]
) -> dict[str, bytes]:
    """Combines the files that a request has as bytes and those that it has as text.

    Raises:
        InvalidRequestError: a path occurs in both, or the path of a text does not lead to a file
            below the folder in which it is used.
    """
    if not texts:
        return dict(given)
    for path in texts:
        check_path(named(text_field, path), path)
        if path in given:
            raise InvalidRequestError(named(text_field, path), f"is in {field} too")
    return {**given, **{path: text.encode() for path, text in texts.items()}}


def size_of(*fields: Mapping[str, bytes] | Mapping[str, str]) -> int:
    """Returns the total size of the files' contents in bytes."""
    contents = (content for field in fields for content in field.values())
    return sum(len(one if isinstance(one, bytes) else one.encode()) for one in contents)


def named(field: str, path: str) -> str:
    """Returns the name of a field's file for errors."""
    return f"{field}[{json.dumps(path[:PATH_BYTES])}]"


def check_path(field: str, path: str) -> None:
    """Checks that a path leads to a file below the folder in which it is used.

    Raises:
        InvalidRequestError: the path does not.
    """
    parts = path.split("/")
    if len(path.encode()) > PATH_BYTES:
        raise InvalidRequestError(field, f"is longer than {PATH_BYTES} bytes")
    if not path.isprintable() or "\\" in path:
        raise InvalidRequestError(field, "holds a backslash, or a character that cannot be seen")
    if path.startswith("/") or ".." in parts:
        raise InvalidRequestError(field, "does not stay in the working folder")
    if "" in parts or "." in parts:
        raise InvalidRequestError(field, "has an empty part, or one that is a dot")
    if len(parts) > DEEPEST_PATH:
        raise InvalidRequestError(
            field, f"has {len(parts)} parts; at most {DEEPEST_PATH} are allowed"
        )


def check_apart(names: Mapping[str, str]) -> None:
    """Refuses a file whose path another file needs as a folder.

    Args:
        names: name of each file for errors, by path.

    Raises:
        InvalidRequestError: there is such a file.
    """
    needed = {folder for path in names for folder in folders_of(path)}
    for path, name in names.items():
        if path in needed:
            raise InvalidRequestError(name, "is a folder of another file's")


def check_disjoint(field: str, given: Collection[str], taken: Iterable[str]) -> None:
    """Refuses a file whose path is taken, is a folder of a taken one, or lies below a taken one.

    Raises:
        InvalidRequestError: there is such a file.
    """
    if not given:
        return
    others = set(taken)
    needed = {folder for path in others for folder in folders_of(path)}
    for path in given:
        if path in others or path in needed or others.intersection(folders_of(path)):
            raise InvalidRequestError(named(field, path), "is the place of another file")


def folders_of(path: str) -> list[str]:
    """Returns the folders on a path, the outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
