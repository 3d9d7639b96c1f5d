"""E2B's files: `/files` for contents, and the service `filesystem.Filesystem`."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reward_server.domain import MEBIBYTE
from reward_server.errors import InvalidRequestError, SessionFileError, UnsupportedError
from reward_server.http.boundary import Boundary, Call, Emit, Streamed
from reward_server.http.e2b import connect
from reward_server.http.e2b.commands import unary_routes
from reward_server.http.e2b.connect import AlreadyThereError
from reward_server.http.e2b.multipart import files_of
from reward_server.http.e2b.paths import place
from reward_server.http.e2b.sandboxes import Sandbox, Sandboxes
from reward_server.rpc.interceptors import Work
from reward_server.sandbox.sessions.values import File

FILES, SERVICE = "/files", "/filesystem.Filesystem"
_BYTES = "application/octet-stream"
_PART_BYTES = MEBIBYTE
_FORM, _METADATA = "multipart/form-data", "x-metadata-"
_NOT_FOUND = "FILE_NOT_FOUND"
# Type, type behind a link, size, mode, owner, group, time of the last change, target of a link,
# path.
_FORMAT = r"%y\0%Y\0%s\0%m\0%u\0%g\0%T@\0%l\0%p\0"
_FIELDS = 9
# Some 30,000 entries; each takes twenty times as much memory in the answer as in the output.
MOST_LIST_BYTES = 2 * MEBIBYTE
_TYPES = {"f": "FILE_TYPE_FILE", "d": "FILE_TYPE_DIRECTORY", "l": "FILE_TYPE_SYMLINK"}
_KINDS = {"d": "d", "l": "L"}
# The one user of a sandbox, by the name that E2B gives it.
_USERS = {"sandbox": "user"}


def file_routes(sandboxes: Sandboxes, boundary: Boundary) -> list[Route]:
    """Returns the routes of files."""

    async def write(call: Call) -> Response:
        files = _given_files(call)
        with sandboxes.of(call) as sandbox:
            for path, content in files:
                await _write(sandbox, path, content)
        return JSONResponse(
            [{"name": posixpath.basename(path), "type": "file", "path": path} for path, _ in files]
        )

    async def read(call: Call) -> Response:
        path = place(call.request.query_params.get("path"))
        with sandboxes.of(call) as sandbox:
            first, size = await sandbox.session.read(path, 0, _PART_BYTES)
        if size <= len(first):
            return Response(first, media_type=_BYTES)

        async def tell(emit: Emit) -> None:
            with sandbox.session.used():
                part, sent = first, 0
                while part:
                    await emit(part)
                    sent += len(part)
                    part, _ = await sandbox.session.read(path, sent, _PART_BYTES)

        return Streamed(tell, _BYTES)

    async def health(call: Call) -> Response:
        with sandboxes.of(call):
            return Response(status_code=204)

    door, refuse = boundary.door, connect.refused_file
    unary = {
        "Stat": _stat,
        "MakeDir": _make_folder,
        "Move": _move,
        "ListDir": _list,
        "Remove": _remove,
    }
    return [
        Route(FILES, door(f"POST {FILES}", write, work=Work.BODY, refuse=refuse), methods=["POST"]),
        Route(FILES, door(f"GET {FILES}", read, work=Work.BODY, refuse=refuse), methods=["GET"]),
        Route("/health", door("/health", health, work=Work.NONE, refuse=refuse), methods=["GET"]),
        *unary_routes(SERVICE, unary, sandboxes, boundary),
    ]


def _given_files(call: Call) -> list[tuple[str, bytes]]:
    """Returns absolute path and content of each file that a call brings."""
    headers, path = call.request.headers, call.request.query_params.get("path")
    if any(name.startswith(_METADATA) for name in headers):
        raise UnsupportedError("metadata: files of this server have none")
    kind, body = headers.get("content-type", ""), call.body
    if not kind.startswith(_FORM):
        return [(place(path), body)]
    files = files_of(body, kind)
    if path is not None and len(files) == 1:
        files = [(path, files[0][1])]
    return [(place(name), content) for name, content in files]


async def _write(sandbox: Sandbox, path: str, content: bytes) -> None:
    """Writes a file, and the folders above it if they are missing."""
    try:
        await sandbox.session.write(File(path=path, content=content))
    except SessionFileError as error:
        if error.reason != _NOT_FOUND:
            raise
        await sandbox.ran("mkdir", "-p", "--", posixpath.dirname(path))
        await sandbox.session.write(File(path=path, content=content))


async def _stat(sandbox: Sandbox, request: Mapping[str, Any]) -> Mapping[str, Any]:
    connect.only(request, ("path",))
    return {"entry": (await _entries(sandbox, place(request.get("path")), 0, 0))[0]}


async def _list(sandbox: Sandbox, request: Mapping[str, Any]) -> Mapping[str, Any]:
    connect.only(request, ("path", "depth"))
    path, depth = place(request.get("path")), request.get("depth", 1)
    if not isinstance(depth, int) or not 0 <= depth <= 64:
        raise InvalidRequestError("depth", "must be from 0 to 64")
    entry = (await _entries(sandbox, path, 0, 0))[0]
    if entry["type"] == _TYPES["f"]:
        raise InvalidRequestError("path", "is no folder")
    return {"entries": await _entries(sandbox, path.rstrip("/") + "/.", 1, depth or 1)}


async def _make_folder(sandbox: Sandbox, request: Mapping[str, Any]) -> Mapping[str, Any]:
    connect.only(request, ("path",))
    path = place(request.get("path"))
    try:
        await _entries(sandbox, path, 0, 0)
    except SessionFileError:
        await _done(sandbox, path, "mkdir", "-p", "--", path)
        return {"entry": (await _entries(sandbox, path, 0, 0))[0]}
    raise AlreadyThereError("path", f"{path} is there")


async def _move(sandbox: Sandbox, request: Mapping[str, Any]) -> Mapping[str, Any]:
    connect.only(request, ("source", "destination"))
    source, target = place(request.get("source")), place(request.get("destination"))
    await _entries(sandbox, source, 0, 0)
    await _done(sandbox, source, "mkdir", "-p", "--", posixpath.dirname(target))
    await _done(sandbox, source, "mv", "-T", "--", source, target)
    return {"entry": (await _entries(sandbox, target, 0, 0))[0]}


async def _remove(sandbox: Sandbox, request: Mapping[str, Any]) -> Mapping[str, Any]:
    connect.only(request, ("path",))
    path = place(request.get("path"))
    await _done(sandbox, path, "rm", "-rf", "--", path)
    return {}


async def _done(sandbox: Sandbox, path: str, *argv: str) -> None:
    done = await sandbox.ran(*argv)
    if not done.succeeded:
        raise SessionFileError("FILE_FAILED", _last_words(done.stderr) or f"{path}: failed")


async def _entries(sandbox: Sandbox, path: str, least: int, most: int) -> list[dict[str, Any]]:
    """Returns what is at a path, from one depth below it to another.

    Raises:
        SessionFileError: nothing is there, or too much.
    """
    depths = ("-mindepth", str(least), "-maxdepth", str(most))
    arguments = (*depths, "-printf", _FORMAT)
    done = await sandbox.ran("find", path, *arguments, output_bytes=MOST_LIST_BYTES)
    if done.is_cut:
        raise SessionFileError("FILE_FAILED", f"{path}: has too many entries")
    parts = done.stdout.decode("utf-8", "replace").split("\0")[:-1]
    whole = len(parts) - len(parts) % _FIELDS
    found = [_entry(parts[start : start + _FIELDS]) for start in range(0, whole, _FIELDS)]
    if not found and not done.succeeded:
        reason = _NOT_FOUND if b"No such file" in done.stderr else "FILE_FAILED"
        raise SessionFileError(reason, _last_words(done.stderr) or f"{path}: failed")
    return sorted(found, key=lambda one: str(one["path"]))


def _entry(told: list[str]) -> dict[str, Any]:
    kind, followed, size, mode, owner, group, changed, target, path = told
    path = posixpath.normpath(path)
    bits = int(mode, 8) if mode.isdigit() else 0
    entry = {
        "name": posixpath.basename(path),
        "type": _TYPES.get(followed) or _TYPES.get(kind, "FILE_TYPE_UNSPECIFIED"),
        "path": path,
        "size": size,
        "mode": bits,
        "permissions": _KINDS.get(kind, "-") + _letters(bits),
        "owner": _USERS.get(owner, owner),
        "group": _USERS.get(group, group),
        "modifiedTime": _moment(changed),
    }
    if kind != "l":
        return entry
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return {**entry, "symlinkTarget": target}


def _letters(bits: int) -> str:
    return "".join(
        letter if bits >> (8 - position) & 1 else "-" for position, letter in enumerate("rwxrwxrwx")
    )


def _moment(seconds: str) -> str:
    try:
        moment = datetime.fromtimestamp(float(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat().replace("+00:00", "Z")


def _last_words(stderr: bytes) -> str:
    return stderr.decode("utf-8", "replace").strip()[-300:]
