"""Builds the requests of sessions from Python values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

from codereward.request_json import RequestJsonError, parse_request
from codereward.v1 import reward_service_pb2 as reward_pb
from codereward.v1 import session_service_pb2 as pb
from trainer_client.errors import TaskError

_PART_BYTES = 1 << 20  # of a file, in one message
_MOST_FILES = 256  # in one message
_LIMITS = ("memory_bytes", "processes", "disk_bytes", "file_size_bytes", "open_files")

Content = bytes | str


class SessionOptions(TypedDict, total=False):
    """The options of a session.

    Args:
        language: language name or alias, which decides the variables that its tools need.
        image: name of the image of its sandbox, one of `server_info().sessions.images`; the first
            that has the language if absent.
        memory_bytes: memory of all processes and files.
        processes: processes and threads alive at once.
        disk_bytes: size of all files together.
        file_size_bytes: size of one file.
        open_files: open descriptors of one process.
        environment: variables of all commands.
        files: files to write first, by path.
        lifetime_seconds: time after which the session ends, also if it is in use.
        idle_seconds: time after which it ends if nothing happens.
        loopback: whether it gets a loopback network of its own.
    """

    language: str
    image: str
    memory_bytes: int
    processes: int
    disk_bytes: int
    file_size_bytes: int
    open_files: int
    environment: Mapping[str, str]
    files: Mapping[str, Content]
    lifetime_seconds: float
    idle_seconds: float
    loopback: bool


class ExecOptions(TypedDict, total=False):
    """The options of a command.

    Args:
        stdin: standard input; at most 16 MiB with `keep_stdin_open` and for `start`.
        keep_stdin_open: whether standard input stays open after `stdin`.
        cwd: the folder to run it in; the working folder if absent.
        environment: variables in addition to those of the session.
        time_limit_seconds: wall time after which it is killed.
        output_bytes: bytes of each output stream that are sent; 16 MiB if absent.
    """

    stdin: Content
    keep_stdin_open: bool
    cwd: str
    environment: Mapping[str, str]
    time_limit_seconds: float
    output_bytes: int


class CodeOptions(TypedDict, total=False):
    """The options of code in an interpreter.

    Args:
        context: name of the context; each has an interpreter of its own.
        restart: whether the context's interpreter is replaced by another one first.
        time_limit_seconds: wall time after which the code is interrupted.
        output_bytes: bytes of each output stream that are sent; 16 MiB if absent.
    """

    context: str
    restart: bool
    time_limit_seconds: float
    output_bytes: int


def open_request(options: SessionOptions) -> pb.OpenSessionRequest:
    """Builds the request that opens a session, without its files."""
    limits = {name: options[name] for name in _LIMITS if name in options}  # type: ignore[literal-required]  # keys of SessionOptions
    loopback = options.get("loopback", False)
    return pb.OpenSessionRequest(
        language=options.get("language", ""),
        image=options.get("image", ""),
        limits=pb.SessionLimits(**limits),
        environment=options.get("environment"),
        lifetime_seconds=options.get("lifetime_seconds"),
        idle_seconds=options.get("idle_seconds"),
        network=reward_pb.NETWORK_LOOPBACK if loopback else reward_pb.NETWORK_UNSPECIFIED,
    )


def exec_request(session_id: str, argv: list[str], options: ExecOptions) -> pb.ExecRequest:
    """Builds the request that runs a command."""
    return pb.ExecRequest(
        session_id=session_id,
        argv=argv,
        stdin=as_bytes(options.get("stdin", b"")),
        keep_stdin_open=options.get("keep_stdin_open", False),
        cwd=options.get("cwd", ""),
        environment=options.get("environment"),
        time_limit_seconds=options.get("time_limit_seconds"),
        output_bytes=options.get("output_bytes"),
    )


def code_request(session_id: str, code: str, options: CodeOptions) -> pb.RunCodeRequest:
    """Builds the request that runs code."""
    return pb.RunCodeRequest(
        session_id=session_id,
        code=code,
        context=options.get("context", ""),
        restart=options.get("restart", False),
        time_limit_seconds=options.get("time_limit_seconds"),
        output_bytes=options.get("output_bytes"),
    )


def write_requests(
    session_id: str, files: Mapping[str, Content], *, executable: bool
) -> Iterator[pb.WriteFilesRequest]:
    """Yields the requests that write files; large files are written part by part."""
    run: list[pb.SessionFile] = []
    size = 0
    for part in _parts(files, executable=executable):
        if run and (size + len(part.content) > _PART_BYTES or len(run) == _MOST_FILES):
            yield pb.WriteFilesRequest(session_id=session_id, files=run)
            run, size = [], 0
        run.append(part)
        size += len(part.content)
    if run:
        yield pb.WriteFilesRequest(session_id=session_id, files=run)


def score_request(
    given: reward_pb.ScoreRequest | Mapping[str, Any],
) -> reward_pb.ScoreRequest:
    """Converts an object to a request that judges a session.

    Raises:
        TaskError: the object is no such request; the message names the field.
    """
    if isinstance(given, reward_pb.ScoreRequest):
        return given
    try:
        return parse_request(given)
    except RequestJsonError as error:
        raise TaskError("request", error.field, error.problem) from None


def as_bytes(content: Content) -> bytes:
    """Returns bytes; text is encoded in UTF-8."""
    return content.encode() if isinstance(content, str) else bytes(content)


def _parts(files: Mapping[str, Content], *, executable: bool) -> Iterator[pb.SessionFile]:
    for path, given in files.items():
        content = as_bytes(given)
        for start in range(0, len(content) or 1, _PART_BYTES):
            yield pb.SessionFile(
                path=path,
                content=content[start : start + _PART_BYTES],
                append=start > 0,
                executable=executable,
            )
