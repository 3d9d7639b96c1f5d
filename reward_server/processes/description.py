"""A running server's description of itself, for programs and for people."""

from __future__ import annotations

from typing import Any

from reward_server.app import App

Description = dict[str, Any]


def describe(app: App) -> Description:
    """Returns a description of the running server for programs."""
    facts = app.facts
    return {
        "address": app.address,
        "host": app.host,
        "port": app.port,
        "http_address": app.http_address,
        "version": facts.server_version,
        "backend": facts.backend,
        "slots": facts.slots,
        "walls": [
            {"name": wall.name, "standing": wall.standing, "detail": wall.detail}
            for wall in facts.walls
        ],
        "languages": [{"name": one.name, "version": one.version} for one in facts.languages],
    }


def introduce(facts: Description) -> str:
    """Returns a description of the running server for people."""
    languages = ", ".join(f"{one['name']} {one['version']}" for one in facts["languages"])
    walls = [
        f"  {'stands ' if wall['standing'] else 'MISSING'}  {wall['name']}: {wall['detail']}"
        for wall in facts["walls"]
    ]
    doors = [f"  HTTP doors on {facts['http_address']}"] if facts["http_address"] else []
    processes = [
        f"  process {one['number']}: pid {one['pid']}, port {one['port']}"
        for one in facts.get("processes", ())
    ]
    return "\n".join(
        (
            f"reward-server {facts['version']} listens on {facts['address']}",
            f"  backend {facts['backend']}, {facts['slots']} slots, languages: {languages}",
            *doors,
            *processes,
            *walls,
        )
    )
