"""E2B's service `process.Process`: commands with streamed output, input and signals."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reward_server.domain import LimitKind, TerminationKind
from reward_server.errors import DeadlineError, InvalidRequestError
from reward_server.http.boundary import Boundary, Call, Emit, Streamed
from reward_server.http.e2b import connect
from reward_server.http.e2b.connect import NoMethodError
from reward_server.http.e2b.paths import place
from reward_server.http.e2b.processes import Process
from reward_server.http.e2b.sandboxes import Sandbox, Sandboxes
from reward_server.rpc.interceptors import Work
from reward_server.rpc.json.sessions import command_wanted, signal_wanted
from reward_server.sandbox.sessions.values import USER_FOLDER, Ended, Event, Output, Started

SERVICE = "/process.Process"
KEEP_ALIVE_SECONDS = 30.0
_TIMEOUT = "Connect-Timeout-Ms"
_SIGNALS = {"SIGNAL_SIGTERM": 15, "SIGNAL_SIGKILL": 9}
_KEEP_ALIVE: Mapping[str, Any] = {"event": {"keepalive": {}}}

Unary = Callable[[Sandbox, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


def command_routes(sandboxes: Sandboxes, boundary: Boundary) -> list[Route]:
    """Returns the routes of the service."""

    async def start(call: Call) -> Response:
        request = connect.stream_request(call.body)
        connect.only(request, ("process", "stdin"))
        most = sandboxes.bounds.maximum_lifetime_seconds
        wanted = command_wanted(_command(request, _seconds(call, most)), sandboxes.bounds)
        with sandboxes.of(call) as sandbox:
            sandboxes.begin_command()
            has_input = bool(request.get("stdin", True))
            process = await sandbox.processes.start(wanted, has_input=has_input)

        async def tell(emit: Emit) -> None:
            with process.heard() as events:
                sandbox.processes.follow(process)
                await _tell(events, emit)

        return Streamed(tell, connect.STREAM)

    async def reconnect(call: Call) -> Response:
        request = connect.stream_request(call.body)
        connect.only(request, ("process",))
        seconds = _seconds(call, sandboxes.bounds.maximum_lifetime_seconds)
        with sandboxes.of(call) as sandbox:
            process = _selected(sandbox, request)

        async def tell(emit: Emit) -> None:
            with process.heard() as events:
                await emit(connect.message(_event(Started(pid=process.pid))))
                await _tell(_until(events, seconds), emit)

        return Streamed(tell, connect.STREAM)

    def stream(method: str, behaviour: Callable[[Call], Awaitable[Response]]) -> Route:
        path = f"{SERVICE}/{method}"
        door = boundary.door(path, behaviour, work=Work.BODY, refuse=connect.refused_stream)
        return Route(path, door, methods=["POST"])

    unary = {
        "List": _list,
        "SendSignal": _send_signal,
        "SendInput": _send_input,
        "CloseStdin": _close_input,
    }
    return [
        stream("Start", start),
        stream("Connect", reconnect),
        *unary_routes(SERVICE, unary, sandboxes, boundary),
    ]


def unary_routes(
    service: str, methods: Mapping[str, Unary], sandboxes: Sandboxes, boundary: Boundary
) -> list[Route]:
    """Returns the routes of a service's unary methods; all others are told not to be here."""

    def route(path: str, behaviour: Callable[[Call], Awaitable[Response]]) -> Route:
        door = boundary.door(path, behaviour, work=Work.BODY, refuse=connect.refused)
        return Route(path, door, methods=["POST"])

    def answering(method: Unary) -> Callable[[Call], Awaitable[Response]]:
        async def answer(call: Call) -> Response:
            with sandboxes.of(call) as sandbox:
                return JSONResponse(await method(sandbox, connect.unary_request(call.body)))

        return answer

    async def other(call: Call) -> Response:
        raise NoMethodError(f"{call.request.url.path}: this server does not have this method")

    return [
        *(route(f"{service}/{name}", answering(method)) for name, method in methods.items()),
        route(f"{service}/{{method}}", other),
    ]


def _command(request: Mapping[str, Any], seconds: float | None) -> dict[str, Any]:
    process = request.get("process")
    if not isinstance(process, dict):
        raise InvalidRequestError("process", "is absent")
    if request.get("pty"):
        raise NoMethodError("pty: this server has no terminals")
    connect.only(process, ("cmd", "args", "envs", "cwd"), "process.")
    arguments = process.get("args", [])
    if not isinstance(arguments, list):
        raise InvalidRequestError("process.args", "is no list")
    command = {
        "argv": [process.get("cmd"), *arguments],
        "environment": process.get("envs", {}),
        "cwd": place(process.get("cwd") or USER_FOLDER),
    }
    return command if seconds is None else {**command, "time_limit_seconds": seconds}


def _seconds(call: Call, most: float) -> float | None:
    """Returns the time limit of a call, at most the longest lifetime of a sandbox."""
    given = call.request.headers.get(_TIMEOUT, "")
    if not given:
        return None
    if not given.isascii() or not given.isdigit() or len(given) > 10:
        raise InvalidRequestError(_TIMEOUT, "is no number of milliseconds")
    return min(int(given) / 1000, most)


async def _until(events: AsyncIterator[Event], seconds: float | None) -> AsyncIterator[Event]:
    """Yields events for some time.

    Raises:
        DeadlineError: the time is over.
    """
    loop = asyncio.get_running_loop()
    deadline = None if seconds is None else loop.time() + seconds
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                event = await anext(events)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise DeadlineError(f"the time limit of {seconds:g} s was reached") from None
        yield event


async def _tell(events: AsyncIterator[Event], emit: Emit) -> None:
    """Sends events; the stream ends with the command, or tells why it does not."""
    try:
        async for event in _with_pauses(events):
            if isinstance(event, Ended):
                _check_end(event)
            await emit(connect.message(_KEEP_ALIVE if event is None else _event(event)))
    except Exception as error:  # noqa: BLE001  # the stream has begun: its end tells the error
        await emit(connect.end(error))
    else:
        await emit(connect.end())


def _check_end(ended: Ended) -> None:
    """Raises an error for an end that is none of the command's own."""
    if ended.problem:
        raise InvalidRequestError("process", ended.problem)
    if LimitKind.WALL_TIME in ended.limits_hit:
        raise DeadlineError("the command ran until its time limit, and was killed")


async def _with_pauses(events: AsyncIterator[Event]) -> AsyncIterator[Event | None]:
    """Yields events, and None whenever there was none for some time."""
    awaited: asyncio.Future[Event] | None = None
    try:
        while True:
            awaited = awaited or asyncio.ensure_future(anext(events))
            done, _ = await asyncio.wait((awaited,), timeout=KEEP_ALIVE_SECONDS)
            if not done:
                yield None
                continue
            with suppress(StopAsyncIteration):
                yield awaited.result()
                awaited = None
                continue
            return
    finally:
        if awaited is not None:
            awaited.cancel()


def _event(event: Event) -> dict[str, Any]:
    match event:
        case Started():
            return {"event": {"start": {"pid": event.pid}}}
        case Output():
            name = "stderr" if event.is_error else "stdout"
            return {"event": {"data": {name: base64.b64encode(event.data).decode()}}}
        case Ended():
            return {"event": {"end": _end(event)}}


def _end(event: Ended) -> dict[str, Any]:
    ended = event.termination
    is_exit = ended.kind is TerminationKind.EXITED
    told = {
        "exitCode": ended.value if is_exit else -1,
        "exited": is_exit,
        "status": f"exit status {ended.value}" if is_exit else f"signal: {ended.value}",
    }
    problems = [f"the limit of {limit.name.lower()} was hit" for limit in event.limits_hit]
    if event.stdout_truncated or event.stderr_truncated:
        problems.append("a part of the output was dropped")
    return {**told, "error": "; ".join(problems)} if problems else told


def _selected(sandbox: Sandbox, request: Mapping[str, Any]) -> Process:
    selector = request.get("process")
    connect.only(selector if isinstance(selector, dict) else {}, ("pid",), "process.")
    pid = selector.get("pid") if isinstance(selector, dict) else None
    if not isinstance(pid, int):
        raise InvalidRequestError("process.pid", "is absent")
    return sandbox.processes.find(pid)


async def _list(sandbox: Sandbox, _: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"processes": [_process(one) for one in sandbox.processes.running]}


def _process(process: Process) -> dict[str, Any]:
    executable, *arguments = process.wanted.argv
    configuration = {
        "cmd": executable,
        "args": arguments,
        "envs": dict(process.wanted.environment),
        "cwd": process.wanted.cwd,
    }
    return {"pid": process.pid, "config": configuration}


async def _send_signal(sandbox: Sandbox, request: Mapping[str, Any]) -> Mapping[str, Any]:
    connect.only(request, ("process", "signal"))
    process = _selected(sandbox, request)
    number = _SIGNALS.get(str(request.get("signal")), 0)
    await process.command.signal(signal_wanted(number))
    return {}


async def _send_input(sandbox: Sandbox, request: Mapping[str, Any]) -> Mapping[str, Any]:
    connect.only(request, ("process", "input"))
    process, given = _selected(sandbox, request), request.get("input")
    try:
        data = base64.b64decode(given["stdin"], validate=True)  # type: ignore[index]  # checked
    except (TypeError, KeyError, ValueError):
        raise InvalidRequestError("input.stdin", "is not base64") from None
    await process.command.send_input(data, ends=False)
    return {}


async def _close_input(sandbox: Sandbox, request: Mapping[str, Any]) -> Mapping[str, Any]:
    connect.only(request, ("process",))
    await _selected(sandbox, request).command.send_input(b"", ends=True)
    return {}
