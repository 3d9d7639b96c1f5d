"""`python -m benchmarks.measure`: the cost of judging on this machine, compared within one run."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.measure import phases, report
from benchmarks.measure.bare import bare_interpreters, preloaded
from benchmarks.measure.load import client
from benchmarks.measure.served import serve_arguments, served
from benchmarks.measure.tasks import Task, read_tasks, requests
from reward_server.app import running_app
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
from reward_server.sandbox.host_noise import check_interpreter
from reward_server.settings import Settings
from reward_server.telemetry import configure_logging

_PLACES_PER_SLOT = 4


class Phase(Enum):
    """A part of the measurement."""

    THROUGHPUT = "throughput"
    LATENCY = "latency"
    OVERLOAD = "overload"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The parts, the sizes and the lengths of the measurement."""

    tasks: Sequence[Task]
    settings: Settings
    arguments: tuple[str, ...]
    rounds: int
    seconds: float


def bench(
    data: Annotated[
        Path,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="HumanEval.jsonl, the tasks to judge.",
        ),
    ],
    rounds: Annotated[int, typer.Option(min=1, help="Passes over the tasks, in turns.")] = 5,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time for each overload step.")] = 12.0,
    only: Annotated[
        list[Phase] | None, typer.Option(help="A phase to measure; all by default.")
    ] = None,
    config: ConfigOption = None,
    backend: BackendOption = None,
    runtime: RuntimeOption = None,
    workers: WorkersOption = None,
    allow_missing: AllowMissingOption = None,
    assignments: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measures executions per second, latency and CPU per verdict, also of a bare fork."""
    flags = {"backend": backend, "runtime": runtime, "workers": workers}
    settings = read_settings(config, assignments, allow_missing=allow_missing, **flags)
    configure_logging("ERROR", as_json=False)
    interpreter = check_interpreter()
    if not interpreter.fine:
        typer.echo(f"{interpreter.detail}: {interpreter.remedy}", err=True)
    plan = Plan(
        tasks=read_tasks(data),
        settings=settings.model_copy(update={"host": "127.0.0.1", "port": 0}),
        arguments=serve_arguments(config, assignments, allow_missing, flags),
        rounds=rounds,
        seconds=seconds,
    )
    found = asyncio.run(_measure(plan, only or list(Phase), Console(stderr=True)))
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        report.show(Console(), found)


async def _measure(plan: Plan, wanted: Sequence[Phase], console: Console) -> dict[str, Any]:
    slots = plan.settings.workers
    cores = len(os.sched_getaffinity(0))
    found: dict[str, Any] = {"machine": report.machine(cores, slots, len(plan.tasks))}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeElapsedColumn(), console=console, disable=not sys.stderr.isatty()
    ) as bar:
        for phase in wanted:
            found[phase.value] = await _MEASUREMENTS[phase](plan, bar)
    return found


async def _throughput(plan: Plan, bar: Progress) -> dict[str, Any]:
    line = bar.add_task("throughput", total=plan.rounds + 1)
    programs = [task.program for task in plan.tasks]
    async with (
        served(plan.arguments) as server,
        client(server.address) as caller,
        bare_interpreters(programs, server.slots) as bare,
        bare_interpreters(programs, server.slots, preloaded()) as with_modules,
    ):
        done = await phases.rounds(
            plan.rounds,
            plan.tasks,
            requests(plan.tasks),
            bare,
            with_modules,
            server,
            caller,
            lambda: bar.advance(line),
        )
    return report.throughput(done, len(plan.tasks), server.slots)


async def _latency(plan: Plan, bar: Progress) -> dict[str, Any]:
    line = bar.add_task("latency", total=2 * len(plan.tasks))
    async with (
        running_app(plan.settings) as app,
        served(plan.arguments) as server,
        client(server.address) as caller,
    ):
        await phases.pairs(plan.tasks, app, caller, lambda: bar.advance(line))
        done = await phases.pairs(plan.tasks, app, caller, lambda: bar.advance(line))
    return report.latency(done)


async def _overload(plan: Plan, bar: Progress) -> dict[str, Any]:
    line = bar.add_task("overload", total=2 * len(phases.LOADS))
    capacity = _PLACES_PER_SLOT * plan.settings.workers
    places = plan.settings.workers + capacity
    async with (
        served((*plan.arguments, f"--queue-capacity={capacity}")) as server,
        client(server.address) as caller,
    ):
        done = await phases.steps(
            requests(plan.tasks), places, caller, plan.seconds, lambda: bar.advance(line)
        )
    return report.overload(done, places, capacity)


_MEASUREMENTS = {
    Phase.THROUGHPUT: _throughput,
    Phase.LATENCY: _latency,
    Phase.OVERLOAD: _overload,
}
