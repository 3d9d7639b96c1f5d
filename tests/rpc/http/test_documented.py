"""The OpenAPI document has every path that is served, and nothing else."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from starlette.routing import Route, Router

from reward_server.http import doors
from tests.rpc.conftest import Serve
from tests.rpc.http.conftest import url_of


async def test_every_path_and_method_that_is_served_is_documented(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    routes: list[Route] = []

    def routed(given: list[Route], **options: Any) -> Router:
        routes.extend(given)
        return Router(given, **options)

    monkeypatch.setattr(doors, "Router", routed)
    served = await serve(http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        document = (await client.get("/openapi.json")).json()
    assert {
        (path, method) for path, methods in document["paths"].items() for method in methods
    } == {
        (one.path, method.lower())
        for one in routes
        for method in one.methods or ()
        if method != "HEAD"
    }


def references(part: object) -> set[str]:
    if isinstance(part, dict):
        own = {part["$ref"]} if isinstance(part.get("$ref"), str) else set()
        return own.union(*map(references, part.values()))
    return set().union(*map(references, part)) if isinstance(part, list) else set()


async def test_every_reference_leads_to_a_schema_and_every_parameter_is_declared(
    serve: Serve,
) -> None:
    served = await serve(http_port=0)
    async with httpx.AsyncClient(base_url=url_of(served)) as client:
        document = (await client.get("/openapi.json")).json()
        page = (await client.get("/")).text
    schemas = document["components"]["schemas"]
    assert references(document) <= {f"#/components/schemas/{name}" for name in schemas}
    for path, methods in document["paths"].items():
        assert all(f"<code>{method.upper()} {path}</code>" in page for method in methods)
        for told in methods.values():
            named = {
                f"{{{one['name']}}}" for one in told.get("parameters", ()) if one["in"] == "path"
            }
            assert named == {part for part in path.split("/") if part.startswith("{")}
