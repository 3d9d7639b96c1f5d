"""Composes the doors: their paths, what each request passes first, and the port."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from reward_server.http import openapi
from reward_server.http.boundary import BODY_SECONDS, Boundary, Edge
from reward_server.http.e2b.commands import command_routes
from reward_server.http.e2b.control import control_routes
from reward_server.http.e2b.files import file_routes
from reward_server.http.e2b.interpreter import interpreter_routes
from reward_server.http.e2b.sandboxes import Sandboxes
from reward_server.http.nemo_gym import nemo_gym_routes
from reward_server.http.parts import Parts
from reward_server.http.sandbox_fusion.notebooks import notebook_routes
from reward_server.http.sandbox_fusion.programs import PING, program_routes
from reward_server.http.sandbox_fusion.submissions import submission_routes
from reward_server.http.scoring import scoring_routes
from reward_server.http.server import HttpEndpoint, HttpServer
from reward_server.http.sockets import is_loopback
from reward_server.rpc.convert import MEBIBYTE
from reward_server.rpc.json.scoring import JsonScoring
from reward_server.rpc.strangers import Strangers

_PUBLIC = frozenset({openapi.DOCUMENT, openapi.PAGE, PING})
# JSON and base64 take more room than the message that they hold, whose size is checked later.
_HEADROOM = 2


def http_server(parts: Parts, endpoint: HttpEndpoint, *, expects_strangers: bool) -> HttpServer:
    """Returns the server of all doors.

    Args:
        parts: what the doors use.
        endpoint: where it listens.
        expects_strangers: whether callers have to show a credential.
    """
    strangers = Strangers(parts.telemetry)
    edge = Edge(
        _router(parts),
        callers=parts.callers,
        strangers=strangers,
        telemetry=parts.telemetry,
        public=_PUBLIC,
        serves_machine=not expects_strangers and is_loopback(endpoint.host),
    )
    return HttpServer(endpoint, edge, strangers if expects_strangers else None)


def _router(parts: Parts) -> ASGIApp:
    boundary = Boundary(
        parts.gate,
        parts.telemetry,
        maximum_body_bytes=_HEADROOM * parts.bounds.maximum_request_bytes + MEBIBYTE,
        body_seconds=BODY_SECONDS,
    )
    scoring = JsonScoring(parts.service, parts.bounds)
    sandboxes = Sandboxes(parts.sessions, parts.bounds)
    routes = [
        *scoring_routes(scoring, boundary),
        *nemo_gym_routes(scoring, boundary, parts.telemetry),
        *program_routes(parts.evaluation, parts.bounds, boundary),
        *notebook_routes(parts.sessions, parts.bounds, boundary),
        *submission_routes(scoring, parts.bounds, boundary),
        *control_routes(sandboxes, boundary),
        *command_routes(sandboxes, boundary),
        *file_routes(sandboxes, boundary),
        *interpreter_routes(sandboxes, boundary),
        *_description(parts.version),
    ]
    return Router(routes, redirect_slashes=False, default=_NOT_FOUND)


_NOT_FOUND = JSONResponse({"code": 404, "status": "NOT_FOUND", "message": "no such path"}, 404)


def _description(version: str) -> list[Route]:
    """Returns the routes of the doors' description, which needs no credential."""
    described = openapi.document(version)
    document, page = json.dumps(described), openapi.page(described)

    async def show_document(_: Request) -> Response:
        return Response(document, media_type="application/json")

    async def show_page(_: Request) -> Response:
        return HTMLResponse(page)

    return [
        Route(openapi.DOCUMENT, show_document, methods=["GET"]),
        Route(openapi.PAGE, show_page, methods=["GET"]),
    ]
