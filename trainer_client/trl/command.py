"""The command `reward-train`: GRPO on coding tasks, with Reward Server's verdicts as the reward."""

from __future__ import annotations

import signal
import sys
import threading
import tomllib
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console

from codereward import build
from trainer_client.errors import ConfigError, RewardClientError

if TYPE_CHECKING:
    from trainer_client.trl.settings.configuration import TrainConfig

ConfigArgument = Annotated[Path | None, typer.Argument(help="TOML or YAML file")]
ModelOption = Annotated[str | None, typer.Option("--model", help="folder, .gguf file or name")]
DataOption = Annotated[str | None, typer.Option("--data", help="KIND=PATH, such as mbpp=F.jsonl")]
TargetOption = Annotated[str | None, typer.Option("--target", help="HOST:PORT of the server")]
OutputOption = Annotated[str | None, typer.Option("--output-dir", help="the run's folder")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="SECTION.KEY=VALUE, as often as needed")
]


_app = typer.Typer(
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown"
)


def main() -> None:
    """Runs the command; arguments that do not begin with a command are those of `train`."""
    signal.signal(signal.SIGTERM, _terminated)
    arguments = sys.argv[1:]
    names = {command.name for command in _app.registered_commands}
    is_named = bool(arguments) and arguments[0] in names | {"--help", "--version"}
    _app(arguments if is_named else ["train", *arguments])


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"reward-train {build.described()}")
        raise typer.Exit


@_app.callback()
def _reward_train(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Trains models with GRPO on coding tasks that a reward server judges.

    `reward-train CONFIG.toml` is short for `reward-train train CONFIG.toml`.
    """


@_app.command("train")
def _train(
    config: ConfigArgument = None,
    model: ModelOption = None,
    data: DataOption = None,
    target: TargetOption = None,
    output_dir: OutputOption = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="optimizer steps")] = None,
    settings: SetOption = None,
    dry_run: Annotated[bool, typer.Option(help="score one group, train nothing")] = False,
    resume: Annotated[bool, typer.Option(help="continue from the last checkpoint")] = False,
) -> None:
    """Trains a model, and evaluates held-out tasks before, during and after training.

    The file has the sections model, data, reward, server, evaluation, watch and training; the last
    one takes any field of TRL's GRPOConfig. Flags override the file.
    """
    from trainer_client.trl import run
    from trainer_client.trl.monitoring.printing import Terminal

    with _errors_told():
        more = {"training.max_steps": max_steps}
        read = _configured(config, model, data, target, output_dir, settings, more)
        if dry_run:
            run.dry_run(read, Terminal())
        else:
            run.train(read, Terminal(), resume=resume)


@_app.command("init")
def _init(
    file: Annotated[Path, typer.Argument(help="a TOML file that does not exist")],
    model: ModelOption = None,
    data: DataOption = None,
    target: TargetOption = None,
) -> None:
    """Writes a configuration with each setting, its meaning and default, and a JSON schema."""
    from trainer_client.trl.settings.template import write_template

    with _errors_told():
        flags = {"model.path": model, **_data_flags(data), "server.target": target}
        given = {path: value for path, value in flags.items() if value is not None}
        schema = write_template(file, given)
        Console().print(f"{file}, and {schema} for editors", highlight=False, soft_wrap=True)


@_app.command("evaluate")
def _evaluate(
    config: ConfigArgument = None,
    model: ModelOption = None,
    data: DataOption = None,
    target: TargetOption = None,
    output_dir: OutputOption = None,
    settings: SetOption = None,
) -> None:
    """Evaluates held-out tasks with the model as it is, without training."""
    from trainer_client.trl import run
    from trainer_client.trl.monitoring.printing import Terminal

    with _errors_told():
        read = _configured(config, model, data, target, output_dir, settings, {})
        run.evaluate(read, Terminal())


@_app.command("report")
def _report(
    runs: Annotated[list[Path], typer.Argument(help="folders of runs, such as seeds of one")],
    out: Annotated[Path | None, typer.Option(help="the page; report.html in the first")] = None,
    png: Annotated[bool, typer.Option(help="also write each figure as PNG")] = True,
) -> None:
    """Writes a page about one run, or about several that differ by their seed."""
    from trainer_client.report import write_report

    with _errors_told():
        found = write_report(runs, out or runs[0] / "report.html", pngs=png)
        Console().print(
            f"{found.page}: {found.runs} runs, {found.steps} steps, "
            f"{found.shown} of {found.completions} completions",
            highlight=False,
            soft_wrap=True,
        )


@_app.command("view")
def _view(
    runs: Annotated[list[Path], typer.Argument(help="folders of runs; they may appear later")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any free port")] = 0,
    open_page: Annotated[bool, typer.Option("--open", help="open it in a browser")] = False,
) -> None:
    """Serves a page about runs that grows while they go on, on this machine only."""
    from trainer_client.view import served_view

    with _errors_told(), suppress(KeyboardInterrupt), served_view(runs, port) as url:
        Console().print(f"{url}  (Ctrl-C ends it)", highlight=False, soft_wrap=True)
        if open_page:
            webbrowser.open(url)
        threading.Event().wait()


@_app.command("tasks")
def _tasks(
    out: Annotated[Path, typer.Option(dir_okay=False, help="file for the rows, as JSON lines")],
    config: ConfigArgument = None,
    data: DataOption = None,
    settings: SetOption = None,
) -> None:
    """Writes the tasks of the section [data] for `reward-server audit`, and trains nothing."""
    from trainer_client.trl.tasks.data import read_tasks
    from trainer_client.trl.tasks.export import write_rows

    with _errors_told():
        no_model = {"model.path": "none"} if config is None else {}
        section = _configured(config, None, data, None, None, settings, no_model).data
        count = write_rows(section, read_tasks(section), out)
        Console().print(f"{count} tasks are in {out}", highlight=False, soft_wrap=True)


def _terminated(number: int, frame: object) -> NoReturn:
    # Raises an exception, so that servers and scratch folders are cleaned up too.
    raise SystemExit(128 + number)


def _configured(
    config: Path | None,
    model: str | None,
    data: str | None,
    target: str | None,
    output_dir: str | None,
    settings: list[str] | None,
    more: dict[str, Any],
) -> TrainConfig:
    from trainer_client.trl.settings.configuration import load_config

    flags = {
        "model.path": model,
        **_data_flags(data),
        "server.target": target,
        "training.output_dir": output_dir,
        **more,
        **dict(_setting(text) for text in settings or ()),
    }
    return load_config(config, {path: value for path, value in flags.items() if value is not None})


@contextmanager
def _errors_told() -> Iterator[None]:
    """Ends the command with one line and a status: 2 for a wrong setting, 1 for a failure."""
    try:
        yield
    except RewardClientError as error:
        typer.secho(f"error: {error}", fg=typer.colors.RED, err=True)
        raise typer.Exit(2 if isinstance(error, ConfigError) else 1) from error


def _data_flags(data: str | None) -> dict[str, Any]:
    if data is None:
        return {}
    kind, equals, path = data.partition("=")
    if not equals:
        raise ConfigError(f"--data {data}: must be KIND=PATH, such as mbpp=FILE")
    return {"data.kind": kind, "data.path": path}


def _setting(text: str) -> tuple[str, Any]:
    """Parses SECTION.KEY=VALUE; a value that is not TOML is text."""
    path, equals, value = text.partition("=")
    if not equals or "." not in path:
        raise ConfigError(f"--set {text}: must be SECTION.KEY=VALUE")
    try:
        return path, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return path, value
