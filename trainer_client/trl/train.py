"""`reward-train`: GRPO on coding tasks, with Reward Server's verdicts as the reward."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from trainer_client.blocking import RewardClient
from trainer_client.errors import CallError, ConfigError, RewardClientError
from trainer_client.tasks import fill
from trainer_client.trl.config import TrainConfig, load_config
from trainer_client.trl.data import TrainingTasks
from trainer_client.trl.trainer import grpo_arguments, load_tokenizer, make_trainer, tasks_for

_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Runs the command."""
    _app()


@_app.command()
def _train(
    config: Annotated[Path | None, typer.Argument(help="TOML or YAML file")] = None,
    model: Annotated[str | None, typer.Option(help="folder, .gguf file or name")] = None,
    data: Annotated[str | None, typer.Option(help="humaneval=PATH or mbpp=PATH")] = None,
    target: Annotated[str | None, typer.Option(help="HOST:PORT of the reward server")] = None,
    max_steps: Annotated[int | None, typer.Option(help="optimizer steps")] = None,
    output_dir: Annotated[str | None, typer.Option(help="where checkpoints go")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="SECTION.KEY=VALUE, as often as needed")
    ] = None,
    dry_run: Annotated[bool, typer.Option(help="check everything, train nothing")] = False,
) -> None:
    """Trains a model with GRPO on coding tasks that a reward server judges.

    The file has the sections model, data, reward, server and training; the last one takes any
    field of TRL's GRPOConfig. Flags go over the file.
    """
    console = Console()
    try:
        flags = {
            "model.path": model,
            **_data_flags(data),
            "server.target": target,
            "training.max_steps": max_steps,
            "training.output_dir": output_dir,
            **dict(_setting(text) for text in settings or ()),
        }
        given = {path: value for path, value in flags.items() if value is not None}
        run(load_config(config, given), console, dry_run=dry_run)
    except RewardClientError as error:
        typer.secho(f"error: {error}", fg=typer.colors.RED, err=True)
        raise typer.Exit(2 if isinstance(error, ConfigError) else 1) from error


def run(config: TrainConfig, console: Console, *, dry_run: bool = False) -> None:
    """Trains, or only tries everything that training needs.

    Raises:
        ConfigError: a setting is wrong.
        CallError: the server cannot be reached.
        RewardLostError: rewards stayed away for too long.
    """
    arguments = grpo_arguments(config)
    tokenizer = load_tokenizer(config)
    training_tasks = tasks_for(config, tokenizer)
    _try_server(config, training_tasks, console)
    if dry_run:
        console.print(f"{len(training_tasks.records)} tasks; the first prompt:")
        console.print(training_tasks.records[0]["prompt"], markup=False)
        return
    trainer = make_trainer(config, arguments, tokenizer, training_tasks, console)
    trainer.train()
    trainer.save_model()
    console.print(f"the trained model is in {arguments.output_dir}", soft_wrap=True)


def _try_server(config: TrainConfig, training_tasks: TrainingTasks, console: Console) -> None:
    """Has the first task's reference solution judged, before minutes are spent on a model.

    Raises:
        CallError: it was not judged.
    """
    task_id = training_tasks.records[0]["task_id"]
    request = fill(training_tasks.templates[task_id], training_tasks.references[task_id])
    with RewardClient(config.server.target, **config.server.options) as client:
        info = client.server_info()
        (score,) = client.score([request])
    if score.error is not None:
        raise CallError(score.error.status, score.error.message)
    verdict = score.verdict.name if score.verdict is not None else ""
    console.print(
        f"reward server {info.server_version} at {config.server.target}, {info.slots} slots; "
        f"the reference solution of {task_id}: {verdict}",
        highlight=False,
        soft_wrap=True,
    )


def _data_flags(data: str | None) -> dict[str, Any]:
    if data is None:
        return {}
    kind, equals, path = data.partition("=")
    if not equals:
        raise ConfigError(f"--data {data}: must be humaneval=PATH or mbpp=PATH")
    return {"data.kind": kind, "data.path": path}


def _setting(text: str) -> tuple[str, Any]:
    """Reads SECTION.KEY=VALUE; a value that is no TOML is text."""
    path, equals, value = text.partition("=")
    if not equals or "." not in path:
        raise ConfigError(f"--set {text}: must be SECTION.KEY=VALUE")
    try:
        return path, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return path, value
