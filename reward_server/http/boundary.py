"""The steps around every HTTP request, which are those around every RPC: checks of credentials and
of free places before a body is read, bounded bodies, and the conversion of failures to answers.

Work for a caller that has gone is cancelled.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reward_server.errors import InvalidRequestError, UnauthenticatedError
from reward_server.http.bodies import unpacked
from reward_server.http.credentials import shown_token
from reward_server.http.failures import OversizeBodyError, SlowBodyError, refusal
from reward_server.rpc import status
from reward_server.rpc.callers import Callers
from reward_server.rpc.interceptors import Gate, Work, report_failure
from reward_server.rpc.strangers import Strangers
from reward_server.telemetry import Telemetry, tell_call

BODY_SECONDS = 120.0
_FLOOD_SECONDS = 1.0
_NO_CREDENTIAL = "a valid bearer token is needed in `Authorization`"
_OTHER = "http other"
_LOCALHOST = "localhost"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request that was admitted, whose body was read.

    Args:
        request: method, path, query and headers.
        owner: whose it is.
        body: its body.
    """

    request: Request
    owner: str
    body: bytes


Behaviour = Callable[[Call], Awaitable[Response]]
Emit = Callable[[bytes], Awaitable[None]]
Refuse = Callable[[Exception], Response]


class Edge:
    """Identifies the caller of each request before anything else is done with it.

    Args:
        inner: answers requests of known callers.
        callers: identifies callers.
        strangers: bounds requests without a credential.
        telemetry: counts requests that are refused.
        public: paths that need no credential.
        serves_machine: whether only programs of this machine are served, and need no credential. A
            page of the web could then bind its own name to loopback, so names are refused.
    """

    def __init__(
        self,
        inner: ASGIApp,
        *,
        callers: Callers,
        strangers: Strangers,
        telemetry: Telemetry,
        public: frozenset[str],
        serves_machine: bool,
    ) -> None:
        self._inner = inner
        self._callers = callers
        self._strangers = strangers
        self._telemetry = telemetry
        self._public = public
        self._serves_machine = serves_machine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or refuses it."""
        request, state = Request(scope, receive), scope["state"]
        state["owner"] = self._callers.owner_of(shown_token(request.headers), state["identities"])
        if state["owner"] is not None:
            self._strangers.showed_credential(state["peer"])
        elif not self._strangers.allows_call(state["peer"]):
            await asyncio.sleep(_FLOOD_SECONDS)  # until the connection is ended
        await (self._refused(request) or self._inner)(scope, receive, send)

    def _refused(self, request: Request) -> ASGIApp | None:
        if "transfer-encoding" in request.headers and "content-length" in request.headers:
            # A proxy may have ended the body elsewhere; what follows may be another caller's.
            return _closed(400, "Content-Length and Transfer-Encoding must not come together")
        if request.state.owner is None and request.scope["path"] not in self._public:
            error = UnauthenticatedError(_NO_CREDENTIAL)
            self._telemetry.call_ended(_OTHER, status.code_of(error).name, 0.0)
            self._telemetry.refused(status.cause_of(error))
            answer = refusal(error)
            answer.headers["Connection"] = "close"  # its body is not read
            return answer
        if "origin" in request.headers:
            return _closed(403, "requests of web pages are refused: any site could send them")
        if self._serves_machine and not _is_own_name(request.headers.get("host", "")):
            return _closed(
                403, "without credentials, the address must be an IP address or localhost"
            )
        return None


def _closed(code: int, message: str) -> Response:
    """Returns an answer after which the connection ends."""
    return JSONResponse({"code": code, "message": message}, code, {"Connection": "close"})


def _is_own_name(host: str) -> bool:
    """Returns True if a `Host` names no site of the web: it is an IP address or localhost."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    if name == _LOCALHOST or name.endswith(f".{_LOCALHOST}"):
        return True
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


class Boundary:
    """Makes doors of the functions that answer requests.

    Args:
        gate: the checks that a request must pass.
        telemetry: counts requests.
        maximum_body_bytes: greatest size of a body.
        body_seconds: time in which a body must arrive.
    """

    def __init__(
        self,
        gate: Gate,
        telemetry: Telemetry,
        *,
        maximum_body_bytes: int,
        body_seconds: float,
    ) -> None:
        self._gate = gate
        self._telemetry = telemetry
        self._maximum_body_bytes = maximum_body_bytes
        self._body_seconds = body_seconds

    def door(
        self, name: str, behaviour: Behaviour, *, work: Work, refuse: Refuse = refusal
    ) -> ASGIApp:
        """Wraps a function: admits a request, measures it, and answers failures.

        Args:
            name: the name of the door in the metrics.
            behaviour: answers an admitted request.
            work: the room that a request needs.
            refuse: answers a failure.
        """
        label = f"http {name}"

        async def handle(scope: Scope, receive: Receive, send: Send) -> None:
            request, sent = Request(scope, receive), _Sent(send)
            begun, code = time.perf_counter(), "CANCELLED"
            tell_call(method=label, peer=request.state.peer)
            try:
                await self._answered(request, behaviour, work, sent)
                code = "OK"
            except (ClientDisconnect, _GoneError):
                return
            except Exception as error:
                code = status.code_of(error).name
                report_failure(self._telemetry, error)
                if sent.has_begun:
                    raise
                await refuse(error)(scope, receive, send)
            finally:
                self._telemetry.call_ended(label, code, time.perf_counter() - begun)

        return _Endpoint(handle)

    async def _answered(
        self, request: Request, behaviour: Behaviour, work: Work, send: Send
    ) -> None:
        owner = request.state.owner
        with self._gate.calls.entered(owner), self._room(owner, work):
            body = await self._body(request)
            with self._gate.in_flight.body(owner, len(body)):
                call = Call(request=request, owner=owner, body=body)
                answer = await _while_connected(request, behaviour(call))
                await answer(request.scope, request.receive, send)

    @contextmanager
    def _room(self, owner: str, work: Work) -> Iterator[None]:
        if work is Work.NONE:
            yield
            return
        with self._gate.room(owner, work):
            yield

    async def _body(self, request: Request) -> bytes:
        most = self._maximum_body_bytes
        declared = request.headers.get("content-length", "0")
        if int(declared) > most:
            raise _oversize(most)
        body = bytearray()
        try:
            async with asyncio.timeout(self._body_seconds):
                async for part in request.stream():
                    body += part
                    if len(body) > most:
                        raise _oversize(most)
        except TimeoutError:
            raise SlowBodyError(
                f"the body did not arrive within {self._body_seconds:g} s"
            ) from None
        return _decoded(request, bytes(body), most)


class Streamed(Response):
    """An answer that is sent while it is made; a caller that does not read delays its making.

    Args:
        make: makes the answer, and sends its parts.
        media_type: the type of the answer.
    """

    def __init__(self, make: Callable[[Emit], Awaitable[None]], media_type: str) -> None:
        super().__init__(media_type=media_type)
        del self.headers["content-length"]
        self._make = make

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the answer; ends its making if the caller goes."""
        sending = asyncio.Lock()

        async def emit(data: bytes, *, has_more: bool = True) -> None:
            async with sending:
                await send({"type": "http.response.body", "body": data, "more_body": has_more})

        start = {"type": "http.response.start", "status": self.status_code}
        await send({**start, "headers": self.raw_headers})
        await _while_connected(Request(scope, receive), self._make(emit))
        await emit(b"", has_more=False)


class _Endpoint:
    """An ASGI application that routes take as such, and not as a function of a request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


class _GoneError(Exception):
    """The caller closed the connection."""


class _Sent:
    """Remembers whether an answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        self.has_begun = True
        await self._send(message)


async def _while_connected(request: Request, behaviour: Awaitable[_T]) -> _T:
    """Returns the result; cancels the work if the caller goes before.

    Raises:
        _GoneError: the caller has gone.
    """
    work, gone = asyncio.ensure_future(behaviour), asyncio.create_task(_gone(request))
    try:
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise _GoneError
        return work.result()
    finally:
        work.cancel()
        gone.cancel()
        await asyncio.gather(work, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _decoded(request: Request, body: bytes, most: int) -> bytes:
    """Returns a body without its compression, so that its real size is counted."""
    encoding = request.headers.get("content-encoding", "identity").lower()
    if encoding == "gzip":
        return unpacked(body, most)
    if encoding != "identity":
        raise InvalidRequestError("Content-Encoding", "must be gzip or absent")
    return body


def _oversize(most: int) -> OversizeBodyError:
    return OversizeBodyError("request", f"has a body of more than {most} bytes")
