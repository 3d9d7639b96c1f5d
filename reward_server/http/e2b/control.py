"""E2B's API of sandboxes: create, list, describe, connect, keep and end them."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reward_server.errors import InvalidRequestError, UnsupportedError
from reward_server.http.bodies import read_body
from reward_server.http.boundary import Behaviour, Boundary, Call
from reward_server.http.credentials import shown_token
from reward_server.http.e2b.listing import page_of, query_of
from reward_server.http.e2b.sandboxes import Sandbox, Sandboxes
from reward_server.rpc.interceptors import Work

SANDBOXES, SANDBOX = "/v2/sandboxes", "/sandboxes/{sandbox_id}"
DEFAULT_SECONDS = 300.0
_MOST_METADATA_BYTES = 16 * 1024
_CREATED, _NOTHING = 201, 204
# Of a network, what holds for every sandbox here: nothing goes out, and nobody comes in.
_HELD = ("allowPublicTraffic", "denyOut")
_TOKEN, _TOTAL = "X-Next-Token", "X-Total-Running"

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class NewSandbox(BaseModel):
    """The body of a request to create a sandbox."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    templateID: str = "base"  # noqa: N815  # the names in E2B's API
    timeout: Seconds = DEFAULT_SECONDS
    metadata: dict[str, str] = {}
    envVars: dict[str, str] = {}  # noqa: N815
    # All access needs the credential, and no sandbox has a network, whatever these two say.
    secure: bool = True
    allow_internet_access: bool = True
    # Nothing is paused here, so this has no effect without `autoPause`.
    autoPauseMemory: bool = True  # noqa: N815
    # These are refused unless they ask for nothing.
    autoPause: bool = False  # noqa: N815
    autoResume: dict[str, bool] | None = None  # noqa: N815
    network: dict[str, Any] | None = None
    mcp: dict[str, Any] | None = None
    iam: dict[str, Any] | None = None
    volumeMounts: list[dict[str, Any]] | None = None  # noqa: N815


class Lifetime(BaseModel):
    """The body of a request to keep a sandbox, in seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    timeout: Seconds


class Connection(BaseModel):
    """The body of a request to connect to a sandbox, and to keep it for at least some seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    timeout: Seconds = 0.0
    memory: bool | None = None  # of a sandbox that was paused, which none is here


def control_routes(sandboxes: Sandboxes, boundary: Boundary) -> list[Route]:
    """Returns the routes of the API."""

    async def create(call: Call) -> Response:
        wanted = read_body(NewSandbox, call.body)
        _check(wanted)
        sandbox = await sandboxes.open(
            call.owner,
            template=wanted.templateID,
            lifetime_seconds=wanted.timeout,
            environment=wanted.envVars,
            metadata=wanted.metadata,
        )
        return JSONResponse(_opened(sandbox, call), _CREATED)

    async def show_all(call: Call) -> Response:
        query = query_of(call.request.query_params)
        page = page_of(sandboxes.of_owner(call.owner), query)
        headers = {_TOTAL: str(page.total)}
        if page.next_token:
            headers[_TOKEN] = page.next_token
        return JSONResponse([one.told() for one in page.sandboxes], headers=headers)

    async def show(call: Call) -> Response:
        return JSONResponse(_opened(_found(call), call))

    async def connect(call: Call) -> Response:
        sandbox = _found(call)
        seconds = read_body(Connection, call.body).timeout
        if seconds > sandbox.session.remaining_seconds:
            sandboxes.live_for(sandbox, seconds)
        return JSONResponse(_opened(sandbox, call))

    async def keep(call: Call) -> Response:
        sandboxes.live_for(_found(call), read_body(Lifetime, call.body).timeout)
        return Response(status_code=_NOTHING)

    async def end(call: Call) -> Response:
        await sandboxes.end(call.owner, call.request.path_params["sandbox_id"])
        return Response(status_code=_NOTHING)

    def _found(call: Call) -> Sandbox:
        return sandboxes.find(call.owner, call.request.path_params["sandbox_id"])

    def route(method: str, path: str, behaviour: Behaviour) -> Route:
        door = boundary.door(f"{method} {path}", behaviour, work=Work.BODY)
        return Route(path, door, methods=[method])

    return [
        route("POST", SANDBOXES, create),
        route("POST", "/sandboxes", create),
        route("GET", SANDBOXES, show_all),
        route("GET", "/sandboxes", show_all),
        route("GET", SANDBOX, show),
        route("DELETE", SANDBOX, end),
        route("POST", f"{SANDBOX}/timeout", keep),
        route("POST", f"/v2{SANDBOX}/connect", connect),
        route("POST", f"{SANDBOX}/connect", connect),
    ]


def _opened(sandbox: Sandbox, call: Call) -> dict[str, Any]:
    """Returns a description with the credential of calls to the sandbox: the caller's own.

    The client shows the one to commands, files and code, and the other to contexts of code.
    """
    token = shown_token(call.request.headers)
    tokens = {} if token is None else {"envdAccessToken": token, "trafficAccessToken": token}
    return {**sandbox.told(), **tokens}


def _check(wanted: NewSandbox) -> None:
    for name in ("autoPause", "mcp", "iam", "volumeMounts"):
        if getattr(wanted, name):
            raise UnsupportedError(f"{name}: sandboxes of this server do not have it")
    if any((wanted.autoResume or {}).values()):
        raise UnsupportedError("autoResume: sandboxes of this server are never paused")
    for name, value in (wanted.network or {}).items():
        if value and name not in _HELD:
            raise UnsupportedError(f"network.{name[:64]}: sandboxes of this server have no network")
    if len(json.dumps(wanted.metadata)) > _MOST_METADATA_BYTES:
        raise InvalidRequestError("metadata", f"has more than {_MOST_METADATA_BYTES} bytes")
