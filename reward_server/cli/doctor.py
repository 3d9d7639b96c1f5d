"""`reward-server doctor`: which walls are in effect on this host, and what will disturb timings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from reward_server.backends import compiler_circumstances, examine, shared_languages
from reward_server.cli.options import (
    AllowMissingOption,
    BackendOption,
    ConfigOption,
    JsonOption,
    RuntimeOption,
    SetOption,
    WorkersOption,
    read_settings,
)
from reward_server.domain import Wall
from reward_server.processes.doors import DoorFinding, examine_doors
from reward_server.sandbox.container_options import ContainerOptions, container_options
from reward_server.sandbox.host_noise import Circumstance, circumstances
from reward_server.sandbox.local.cpu_quota import usable_cpus
from reward_server.sandbox.pod_options import PodOptions, pod_options
from reward_server.sandbox.walls import KINDS, Need, is_refused, require


def doctor(
    config: ConfigOption = None,
    backend: BackendOption = None,
    runtime: RuntimeOption = None,
    workers: WorkersOption = None,
    allow_missing: AllowMissingOption = None,
    assignments: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Prints which protections stand on this host; exits with 1 if a needed one is missing."""
    settings = read_settings(
        *(config, assignments),
        backend=backend,
        runtime=runtime,
        workers=workers,
        allow_missing=allow_missing,
    )
    require((), settings.allow_missing)
    walls = asyncio.run(examine(settings))
    noise = circumstances(
        cores=usable_cpus(),
        slots=settings.workers,
        memory_bytes=settings.limits.memory_bytes,
    )
    noise += compiler_circumstances(settings)
    doors, shared = examine_doors(settings), shared_languages(settings)
    shut = [one.name for one in doors if not one.fine]
    if as_json:
        described = describe(walls, noise, settings.allow_missing, doors)
        typer.echo(json.dumps({**described, "shared": shared}, indent=2))
    else:
        show(Console(), walls, noise, settings.allow_missing, doors)
        if shared:
            typer.echo(f"Integrity: {shared}.")
    raise typer.Exit(1 if shut or refused(walls, settings.allow_missing) else 0)


def refused(walls: Sequence[Wall], allow_missing: Sequence[str]) -> list[str]:
    """Returns the names of the walls that keep a server from starting."""
    return [wall.name for wall in walls if is_refused(wall, allow_missing)]


def describe(
    walls: Sequence[Wall],
    noise: Sequence[Circumstance],
    allow_missing: Sequence[str],
    doors: Sequence[DoorFinding] = (),
) -> dict[str, Any]:
    """Returns the report for programs."""
    return {
        "ok": not refused(walls, allow_missing) and all(one.fine for one in doors),
        "refused": refused(walls, allow_missing),
        "walls": [
            {
                "name": wall.name,
                "standing": wall.standing,
                "need": KINDS[wall.name].need.name.lower(),
                "protects": KINDS[wall.name].protects,
                "detail": wall.detail,
            }
            for wall in walls
        ],
        "timings": [
            {"name": one.name, "fine": one.fine, "detail": one.detail, "remedy": one.remedy}
            for one in noise
        ],
        "http_doors": [
            {"name": one.name, "fine": one.fine, "detail": one.detail, "remedy": one.remedy}
            for one in doors
        ],
        "container": _described(container_options(refused(walls, allow_missing))),
        "pod": _described_pod(pod_options(refused(walls, allow_missing))),
    }


def _described_pod(pod: PodOptions | None) -> dict[str, Any] | None:
    if pod is None:
        return None
    return {
        "profile": pod.profile,
        "lines": list(pod.lines),
        "allow_missing": list(pod.allow_missing),
    }


def _described(container: ContainerOptions | None) -> dict[str, Any] | None:
    if container is None:
        return None
    return {
        "options": list(container.options),
        "allow_missing": list(container.allow_missing),
        "command": container.command,
    }


def show(
    console: Console,
    walls: Sequence[Wall],
    noise: Sequence[Circumstance],
    allow_missing: Sequence[str],
    doors: Sequence[DoorFinding] = (),
) -> None:
    """Prints tables and a verdict for people."""
    console.print(_wall_table(walls, allow_missing))
    console.print(_noise_table(noise))
    console.print(_door_table(doors))
    if shut := [one.name for one in doors if not one.fine]:
        console.print(f"[red]The HTTP doors would not open: {', '.join(shut)}.[/]")
    missing = refused(walls, allow_missing)
    if not missing:
        console.print("[green]Programs can be run safely on this host.[/]")
        return
    console.print(f"[red]The server would refuse to start: {', '.join(missing)} missing.[/]")
    if pod := pod_options(missing):
        console.print(f"The server is in a pod, which allows the profile {pod.profile}.")
        if pod.text:
            console.print("For the profile local, or as a runner of restricted, it also needs:")
            console.print(pod.text, soft_wrap=True, markup=False, highlight=False)
    elif container := container_options(missing):
        console.print("The server is in a container. Start that container so:")
        console.print(container.command, soft_wrap=True, markup=False, highlight=False)
    waivable = [name for name in missing if KINDS[name].need is Need.WAIVABLE]
    if waivable:
        console.print(f"To accept the risk: --allow-missing {','.join(waivable)}", soft_wrap=True)


def _wall_table(walls: Sequence[Wall], allow_missing: Sequence[str]) -> Table:
    table = Table("wall", "", Column("what it is, or what to do", overflow="fold"), title="Walls")
    for wall in walls:
        detail = wall.detail if wall.standing else f"{wall.detail}\n{_loss(wall)}"
        table.add_row(wall.name, _mark(wall, allow_missing), Text(detail))
    return table


def _loss(wall: Wall) -> str:
    kind = KINDS[wall.name]
    return f"It is there so that {kind.protects}; {kind.need.value}."


def _mark(wall: Wall, allow_missing: Sequence[str]) -> str:
    if wall.standing:
        return "[green]stands[/]"
    if is_refused(wall, allow_missing):
        return "[red]missing[/]"
    return "[yellow]missing, accepted[/]"


def _noise_table(noise: Sequence[Circumstance]) -> Table:
    table = Table("circumstance", "", "what was seen", "what to do", title="Timings")
    for one in noise:
        mark = "[green]fine[/]" if one.fine else "[yellow]noise[/]"
        table.add_row(one.name, mark, Text(one.detail), Text(one.remedy))
    return table


def _door_table(doors: Sequence[DoorFinding]) -> Table:
    table = Table("part", "", "what was seen", "what to do", title="HTTP doors")
    for one in doors:
        mark = "[green]fine[/]" if one.fine else "[red]wrong[/]"
        table.add_row(one.name, mark, Text(one.detail), Text(one.remedy))
    return table
