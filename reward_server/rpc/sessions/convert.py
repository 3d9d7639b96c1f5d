"""Converts the requests of sessions, or refuses them with the name of the wrong field."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from codereward.v1 import session_service_pb2 as pb
from reward_server.domain import MEBIBYTE, Network, RepositoryTests, Submission
from reward_server.errors import InvalidRequestError, UnsupportedError
from reward_server.rpc import fields
from reward_server.rpc.convert import Bounds
from reward_server.runner.sessions.wire import FILE_PART_BYTES
from reward_server.sandbox.sessions.values import File, Place, SessionLimits
from reward_server.sessions.bounds import LEAST_LIMITS, SessionBounds
from reward_server.sessions.session import CodeWanted, CommandWanted, Wanted

MOST_VARIABLES, MOST_VARIABLES_BYTES = 256, 128 << 10
MOST_ARGUMENTS, MOST_ARGUMENTS_BYTES = 4096, 1536 << 10
MOST_FILES, PATH_BYTES = 1024, 4096
CODE_BYTES, CONTEXT_BYTES, IMAGE_BYTES = MEBIBYTE, 64, 512
MOST_INPUT_BYTES = 16 * MEBIBYTE
DEFAULT_OUTPUT_BYTES, MOST_OUTPUT_BYTES = 16 * MEBIBYTE, 64 * MEBIBYTE
LEAST_SECONDS = 0.05
_MOST_OFFSET = 1 << 62
_SIGNALS = (1, 64)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def wanted(
    request: pb.OpenSessionRequest, owner: str, bounds: Bounds, sessions: SessionBounds
) -> Wanted:
    """Reads a session to open.

    Raises:
        InvalidRequestError: a field is wrong.
        UnsupportedError: the language or the network is not on offer.
    """
    language = bounds.languages.find(request.language or "python")
    limits = fields.within("limits", lambda: _limits(request.limits, sessions))
    variables = environment(request.environment)
    return Wanted(
        owner=owner,
        language=language.name,
        image=fields.text("image", request.image, IMAGE_BYTES),
        place=Place(limits=limits, network=_network(request.network, bounds)),
        environment={**language.variables(limits.memory_bytes), **variables},
        files=files(request.files),
        lifetime_seconds=_seconds(
            request, "lifetime_seconds", sessions.default_lifetime_seconds, sessions
        ),
        idle_seconds=_seconds(request, "idle_seconds", sessions.default_idle_seconds, sessions),
    )


def check_score(request: pb.ScoreSessionRequest) -> None:
    """Checks that a request to judge a session brings no completion.

    Raises:
        InvalidRequestError: it does.
    """
    if not request.HasField("request"):
        raise InvalidRequestError("request", "is absent")
    for name in ("completion", "files", "text_files", "completion_size_bytes"):
        if getattr(request.request, name):
            raise InvalidRequestError(f"request.{name}", "is set; the session's files are judged")


def judged_place(request: pb.ScoreSessionRequest, asked: Submission) -> str:
    """Returns the folder or the file that is judged.

    Raises:
        InvalidRequestError: it is absent, or its place does not fit the tests.
    """
    is_repository = isinstance(asked.tests, RepositoryTests)
    wanted, other = "completion_path", "folder"
    if is_repository:
        wanted, other = other, wanted
    if getattr(request, other):
        raise InvalidRequestError(other, f"is set; these tests need {wanted}")
    value: str = getattr(request, wanted) or ("." if is_repository else "")
    return _path(wanted, value)


def command(request: pb.ExecRequest, sessions: SessionBounds) -> CommandWanted:
    """Reads a command to run.

    Raises:
        InvalidRequestError: a field is wrong.
    """
    fields.data("stdin", request.stdin, MOST_INPUT_BYTES)
    _path("cwd", request.cwd or ".")
    return CommandWanted(
        argv=_argv(request.argv),
        cwd=request.cwd,
        environment=environment(request.environment),
        time_limit_seconds=_time_limit(request, sessions),
        output_bytes=_output_bytes(request),
    )


def code(request: pb.RunCodeRequest, sessions: SessionBounds) -> CodeWanted:
    """Reads code to run.

    Raises:
        InvalidRequestError: a field is wrong.
    """
    return CodeWanted(
        source=fields.text("code", request.code, CODE_BYTES),
        context=fields.text("context", request.context, CONTEXT_BYTES),
        restart=request.restart,
        time_limit_seconds=_time_limit(request, sessions),
        output_bytes=_output_bytes(request),
    )


def lifetime(request: pb.KeepAliveRequest, sessions: SessionBounds) -> float | None:
    """Reads a new lifetime; None if there is none.

    Raises:
        InvalidRequestError: it is out of bounds.
    """
    if not request.HasField("lifetime_seconds"):
        return None
    return _seconds(request, "lifetime_seconds", 0.0, sessions)


def files(given: Sequence[pb.SessionFile]) -> tuple[File, ...]:
    """Reads files to write.

    Raises:
        InvalidRequestError: there are too many, or a path cannot be one.
    """
    fields.at_most("files", len(given), MOST_FILES)
    return fields.each("files", given, _file)


def path(value: str) -> str:
    """Reads a path of a file to read.

    Raises:
        InvalidRequestError: it cannot be one.
    """
    return _path("path", value)


def part(request: pb.ReadFileRequest) -> tuple[int, int]:
    """Reads the offset and the length of a part of a file.

    Raises:
        InvalidRequestError: they are out of bounds.
    """
    fields.number("offset", request.offset, 0, _MOST_OFFSET)
    length = request.length if request.HasField("length") else FILE_PART_BYTES
    fields.number("length", length, 1, FILE_PART_BYTES)
    return request.offset, length


def signal(request: pb.SendSignalRequest) -> int:
    """Reads the number of a signal.

    Raises:
        InvalidRequestError: there is no such signal.
    """
    fields.number("signal", request.signal, *_SIGNALS)
    return request.signal


def _time_limit(
    request: pb.ExecRequest | pb.RunCodeRequest, sessions: SessionBounds
) -> float | None:
    if not request.HasField("time_limit_seconds"):
        return None
    seconds, most = request.time_limit_seconds, sessions.maximum_lifetime_seconds
    return fields.number("time_limit_seconds", seconds, LEAST_SECONDS, most)


def _output_bytes(request: pb.ExecRequest | pb.RunCodeRequest) -> int:
    if not request.HasField("output_bytes"):
        return DEFAULT_OUTPUT_BYTES
    fields.number("output_bytes", request.output_bytes, 0, MOST_OUTPUT_BYTES)
    return request.output_bytes


def _file(given: pb.SessionFile) -> File:
    return File(
        path=_path("path", given.path),
        content=given.content,
        append=given.append,
        executable=given.executable,
    )


def _path(field: str, value: str) -> str:
    if not value:
        raise InvalidRequestError(field, "is empty")
    if "\0" in value:
        raise InvalidRequestError(field, "holds a zero byte")
    fields.data(field, value.encode(), PATH_BYTES)
    return value


def _argv(given: Sequence[str]) -> tuple[str, ...]:
    if not given or not given[0]:
        raise InvalidRequestError("argv", "names no executable")
    fields.at_most("argv", len(given), MOST_ARGUMENTS)
    _fit("argv", given, MOST_ARGUMENTS_BYTES)
    return tuple(given)


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """Reads environment variables.

    Raises:
        InvalidRequestError: there are too many, or one cannot be one.
    """
    fields.at_most("environment", len(given), MOST_VARIABLES)
    for name in given:
        if not _VARIABLE.fullmatch(name):
            raise InvalidRequestError("environment", f"{name[:64]!r} is no name of a variable")
    _fit("environment", (*given, *given.values()), MOST_VARIABLES_BYTES)
    return dict(given)


def _fit(field: str, texts: Sequence[str], most: int) -> None:
    if any("\0" in text for text in texts):
        raise InvalidRequestError(field, "holds a zero byte")
    size = sum(len(text.encode()) + 1 for text in texts)
    if size > most:
        raise InvalidRequestError(field, f"has {size} bytes; at most {most} are allowed")


def _limits(given: pb.SessionLimits, sessions: SessionBounds) -> SessionLimits:
    chosen: dict[str, int] = {field.name: value for field, value in given.ListFields()}
    for name, value in chosen.items():
        least, most = getattr(LEAST_LIMITS, name), getattr(sessions.maximum_limits, name)
        if not least <= value <= most:
            raise InvalidRequestError(name, f"is {value}; it must be from {least} to {most}")
    return replace(sessions.default_limits, **chosen)


def _network(value: int, bounds: Bounds) -> Network:
    network = fields.choice("network", value, Network)
    if network is not Network.NONE and network not in bounds.networks:
        raise UnsupportedError(f"network: {network.name} is not on offer here")
    return network


def _seconds(
    request: pb.OpenSessionRequest | pb.KeepAliveRequest,
    name: str,
    default: float,
    sessions: SessionBounds,
) -> float:
    if not request.HasField(name):  # type: ignore[arg-type]  # both messages have it
        return default
    most: float = getattr(sessions, f"maximum_{name}")
    return fields.number(name, getattr(request, name), LEAST_SECONDS, most)
