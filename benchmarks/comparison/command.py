"""The command: reads its options and tasks, makes the peers, measures, and writes the page."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks.comparison.cases import read_pairs
from benchmarks.comparison.choice import chosen
from benchmarks.comparison.figures import figures
from benchmarks.comparison.measuring import Plan, compare, sound
from benchmarks.comparison.options import (
    AgainstOption,
    AttackedOption,
    DataOption,
    ImageOption,
    MinutesOption,
    OutOption,
    PackagesOption,
    RoundsOption,
    StartsOption,
    TasksOption,
    TurnOption,
    WidthOption,
)
from benchmarks.comparison.page import page
from benchmarks.comparison.peer import Peer
from benchmarks.comparison.peers import commands
from benchmarks.comparison.peers.driven import Driven
from benchmarks.comparison.peers.reward_servers import OwnServer
from benchmarks.comparison.printing import print_comparison
from benchmarks.measure.served import serve_arguments
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
from reward_server.errors import StartError
from reward_server.sandbox.host_noise import check_interpreter
from reward_server.telemetry import configure_logging

_MOST_IN_A_TURN = 82


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is compared, as the options say it.

    Args:
        data: the file of tasks.
        against: names of the peers.
        packages: folder of their packages; None for none.
        image: image of the peers that use Docker.
        out: file for the page; None for none.
        tasks: greatest number of tasks.
        widths: numbers of submissions in flight; if empty, 1, the cores, and four times the cores.
        rounds: greatest number of rounds.
        minutes: time after which no round begins.
        turn_seconds: time after which a turn begins no submission.
        starts: number of starts of each peer.
        attacked: number of tasks for the attacks.
    """

    data: Path
    against: Sequence[str]
    packages: Path | None
    image: str
    out: Path | None
    tasks: int
    widths: Sequence[int]
    rounds: int
    minutes: float
    turn_seconds: float
    starts: int
    attacked: int


def comparison(
    data: DataOption,
    against: AgainstOption,
    out: OutOption = None,
    tasks: TasksOption = 41,
    width: WidthOption = None,
    rounds: RoundsOption = 5,
    minutes: MinutesOption = 6.5,
    turn_seconds: TurnOption = 3.0,
    starts: StartsOption = 3,
    attacked: AttackedOption = 2,
    peer_packages: PackagesOption = None,
    image: ImageOption = "codereward-python",
    config: ConfigOption = None,
    backend: BackendOption = None,
    runtime: RuntimeOption = None,
    workers: WorkersOption = None,
    allow_missing: AllowMissingOption = None,
    assignments: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compares this server with other ways to judge, in turns."""
    flags = {"backend": backend, "runtime": runtime, "workers": workers}
    settings = read_settings(config, assignments, allow_missing=allow_missing, **flags)
    configure_logging("ERROR", as_json=False)
    interpreter = check_interpreter()
    if not interpreter.fine:
        typer.echo(f"{interpreter.detail}: {interpreter.remedy}", err=True)
    wanted = Wanted(
        data=data,
        against=against,
        packages=peer_packages,
        image=image,
        out=out,
        tasks=tasks,
        widths=width or (),
        rounds=rounds,
        minutes=minutes,
        turn_seconds=turn_seconds,
        starts=starts,
        attacked=attacked,
    )
    arguments = serve_arguments(config, assignments, allow_missing, flags)
    found = _found(wanted, OwnServer(arguments, settings.backend))
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        print_comparison(Console(), found)


def _found(wanted: Wanted, own: Peer) -> dict[str, Any]:
    """Compares the server of this command with its peers; returns the figures.

    Raises:
        SettingsError: a peer is unknown.
        StartError: the tasks cannot be read, or the server itself cannot be measured.
    """
    cores = len(os.sched_getaffinity(0))
    widths = sorted(set(wanted.widths)) or sorted({1, cores, 4 * cores})
    packages = str(wanted.packages.resolve()) if wanted.packages else ""
    others = chosen(wanted.against, packages, wanted.image, max(*widths, cores))
    if wanted.out is not None:
        _write(wanted.out, b"")  # a folder that is missing is told before minutes are spent
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    is_quiet = not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=is_quiet) as bar:
        line = bar.add_task("tasks", total=None)

        def say(text: str) -> None:
            bar.update(line, description=text)

        try:
            found = asyncio.run(_compared(wanted, widths, cores, own, others, say))
        except asyncio.CancelledError:
            raise StartError("the comparison was ended by SIGTERM") from None
    if wanted.out is not None:
        _write(wanted.out, page(found))
    return found


async def _compared(
    wanted: Wanted,
    widths: Sequence[int],
    cores: int,
    own: Peer,
    others: Sequence[Peer],
    say: Callable[[str], None],
) -> dict[str, Any]:
    # As SIGINT does: everything that was started ends first.
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    pairs = read_pairs(wanted.data, wanted.tasks)
    kept = await sound(pairs, Driven(commands.plain(), cores), cores)
    if not kept:
        raise StartError(
            f"{wanted.data}: a plain interpreter passes no right solution of its tasks"
        )
    plan = Plan(
        pairs=kept,
        widths=widths,
        rounds=wanted.rounds,
        minutes=wanted.minutes,
        most=_MOST_IN_A_TURN,
        turn_seconds=wanted.turn_seconds,
        starts=wanted.starts,
        attacked=wanted.attacked,
    )
    return {
        **figures(await compare(plan, own, others, say)),
        "tasks_left_out": len(pairs) - len(kept),
    }


def _write(out: Path, content: bytes) -> None:
    try:
        out.write_bytes(content)
    except OSError as error:
        raise StartError(f"--out {out}: {error.strerror}") from None
