"""One run of `reward-train`, from the settings to a trained model and a folder of records."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from trainer_client.errors import ConfigError
from trainer_client.run_folder import HELD_OUT, RunFolder, RunInfo, TaskTally
from trainer_client.transport.channel import Target
from trainer_client.trl.checkpoints.resuming import check_unfinished, last_checkpoint
from trainer_client.trl.monitoring.printing import print_evaluation, print_group
from trainer_client.trl.processes import is_main_process, told_by_main
from trainer_client.trl.server import own_target, shared_target
from trainer_client.trl.settings.configuration import TrainConfig, check_names
from trainer_client.trl.settings.training_fields import training_fields
from trainer_client.trl.tasks.audits import dropped_by_audit
from trainer_client.trl.tasks.data import TaskSource, TrainingTasks, read_tasks, told_unreadable
from trainer_client.trl.tasks.references import References, check_references, placed
from trainer_client.trl.trainer import (
    execution_reward,
    grpo_arguments,
    load_tokenizer,
    make_trainer,
    output_folder,
    rendered,
    tasks_for,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase
    from trl import GRPOConfig

    from trainer_client.trl.grpo_trainer import RewardTrainer
    from trainer_client.trl.monitoring.recorder import Recorder

# As in transformers, tokens are secret; names of token files and numbers of tokens are not.
_SECRET = re.compile(r"(token|password|secret|api_?key)$", re.IGNORECASE)
# Settings that prevent a dry run from writing files.
_UNPUBLISHED = {
    "report_to": "none",
    "log_completions": False,
    "log_completions_hub_repo": None,
    "push_to_hub": False,
}
_PACKAGES = ("codereward", "torch", "transformers", "trl", "peft", "accelerate", "vllm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The parts of a run."""

    tasks: TrainingTasks
    tokenizer: PreTrainedTokenizerBase
    trainer: RewardTrainer
    recorder: Recorder


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The results of the checks before torch is imported.

    Args:
        source: the tasks.
        own_target: the servers' address, if this process knows it.
        references: results of the reference solutions; known to the main process.
        dropped: ids of the tasks that an audit drops; known to the main process.
    """

    source: TaskSource
    own_target: Target | None
    references: References
    dropped: frozenset[str]


def train(config: TrainConfig, console: Console, *, resume: bool = False) -> None:
    """Trains and evaluates.

    Args:
        config: the settings.
        console: where the main process reports progress.
        resume: whether to continue from the last checkpoint in the output folder.

    Raises:
        ConfigError: a setting is wrong, or the output folder holds another run.
        CallError: the server cannot be reached.
        RewardLostError: no reward arrived for too long.
    """
    folder = RunFolder(output_folder(config))
    checkpoint = _last_checkpoint(folder, resume=resume)
    with ExitStack() as stack:
        checked = _checked(config, folder, console, stack)
        arguments = grpo_arguments(config)
        if checkpoint is not None:
            check_unfinished(Path(checkpoint), arguments)
        # A part of the training, and no call before it: checkpoints would not keep its result, and
        # loggers and DeepSpeed are not there yet.
        arguments.eval_on_start = (
            checkpoint is None and config.evaluation.before and config.data.held_out is not None
        )
        run = _assembled(config, arguments, checked, folder, console, stack)
        _check_tasks_suffice(run.tasks, arguments)
        run.recorder.start(resumed=checkpoint is not None)
        run.trainer.train(resume_from_checkpoint=checkpoint)
        if config.evaluation.after:
            _evaluate(run)
        run.trainer.save_model()
    if arguments.process_index == 0:
        console.print(f"the trained model is in {folder.path}", soft_wrap=True, highlight=False)


def evaluate(config: TrainConfig, console: Console) -> None:
    """Evaluates the held-out tasks with the model as it is, without training.

    Raises:
        ConfigError: see `train`; or nothing is held out.
        CallError: the server cannot be reached.
    """
    if config.data.held_out is None:
        raise ConfigError("data.held_out: is absent, so there is nothing to evaluate")
    folder = RunFolder(output_folder(config))
    _last_checkpoint(folder, resume=False)
    with ExitStack() as stack:
        checked = _checked(config, folder, console, stack)
        run = _assembled(config, grpo_arguments(config), checked, folder, console, stack)
        run.recorder.start()
        _evaluate(run)


def dry_run(config: TrainConfig, console: Console) -> None:
    """Tries everything that training needs; prints one group as the model and the server see it.

    It leaves no files.

    Raises:
        ConfigError: a setting is wrong.
        CallError: the server cannot be reached.
    """
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        config = config.model_copy(
            update={"training": {**config.training, **_UNPUBLISHED, "output_dir": scratch}}
        )
        folder = RunFolder(Path(scratch))
        checked = _checked(config, folder, console, stack)
        arguments = grpo_arguments(config)
        run = _assembled(config, arguments, checked, folder, console, stack)
        _check_tasks_suffice(run.tasks, arguments)
        records = run.tasks.records[:1]
        samples = run.trainer.sample(records)
        print_group(console, rendered(config, run.tokenizer, records[0]["prompt"]), samples)


def _checked(config: TrainConfig, folder: RunFolder, console: Console, stack: ExitStack) -> Checked:
    """Checks settings, data and server before torch is imported, which takes many seconds.

    If it starts a server, the server ends with the stack.

    Raises:
        ConfigError: a setting, the data or the folder is wrong.
        CallError: the server cannot be reached.
    """
    if fields := training_fields():
        check_names("training", config.training, fields, "GRPOConfig")
    source = read_tasks(config.data)
    if is_main_process() and (told := told_unreadable(source)):
        console.print(told, markup=False, highlight=False, soft_wrap=True)
    dropped = frozenset[str]()
    if config.data.audit is not None and is_main_process():
        dropped = dropped_by_audit(config.data.audit, source, console)
    folder.make()
    own = stack.enter_context(own_target(config.server, folder.path / "server.log"))
    references = References()
    if own is not None and is_main_process():
        references = check_references(config, own, source, console)
    return Checked(source=source, own_target=own, references=references, dropped=dropped)


def _placed_by_main(checked: Checked) -> TaskSource:
    """Returns the tasks, with tests beside the solution where the main process found that."""
    beside = told_by_main(sorted(checked.references.beside))
    return replace(checked.source, templates=placed(checked.source.templates, beside))


def _assembled(
    config: TrainConfig,
    arguments: GRPOConfig,
    checked: Checked,
    folder: RunFolder,
    console: Console,
    stack: ExitStack,
) -> Run:
    """Creates the parts of a run."""
    from trainer_client.trl.monitoring.progress import StepLines
    from trainer_client.trl.monitoring.recorder import Recorder
    from trainer_client.trl.monitoring.watch import attach_controller, watchers_of

    tokenizer = load_tokenizer(config)
    target = stack.enter_context(shared_target(config.server, checked.own_target))
    left_out = told_by_main(sorted(checked.references.left_out | checked.dropped))
    source = _placed_by_main(checked)
    tasks = tasks_for(config, tokenizer, source, left_out)
    is_main = arguments.process_index == 0
    reward = execution_reward(config, target, tasks)
    recorder = Recorder(folder, _info(config, arguments, reward.__name__), writes=is_main)

    def evaluated(step: int, found: dict[str, TaskTally]) -> None:
        recorder.evaluated(step, found, split=HELD_OUT, temperature=arguments.temperature)
        if is_main:
            print_evaluation(console, step, found)

    samples = len(tasks.held_out) * config.evaluation.samples
    watchers = watchers_of(config.watch, held_out_samples=samples, tell=recorder.event)
    callbacks = [*watchers, recorder, StepLines(reward.__name__, console)]
    trainer = make_trainer(config, arguments, tokenizer, tasks, reward, evaluated, callbacks)
    attach_controller(config.watch, trainer, tell=recorder.event)
    return Run(tasks=tasks, tokenizer=tokenizer, trainer=trainer, recorder=recorder)


def _evaluate(run: Run) -> None:
    """Evaluates the held-out tasks, unless this step's model was evaluated already."""
    if run.tasks.held_out and run.recorder.last_evaluated != run.trainer.state.global_step:
        run.trainer.evaluate()


def _check_tasks_suffice(tasks: TrainingTasks, arguments: GRPOConfig) -> None:
    """Compares the number of tasks with one generation; TRL drops an incomplete generation.

    Raises:
        ConfigError: the tasks are fewer than one generation takes.
    """
    wanted = arguments.generation_batch_size // arguments.num_generations
    if wanted > len(tasks.records):
        raise ConfigError(
            f"data: one generation takes {wanted} tasks (training.generation_batch_size, "
            f"{arguments.generation_batch_size} completions of all processes, by num_generations), "
            f"and there are {len(tasks.records)} to train on"
        )


def _last_checkpoint(folder: RunFolder, *, resume: bool) -> str | None:
    """Returns the checkpoint to resume from.

    Raises:
        ConfigError: there is none, or the folder holds a run that was not requested to resume.
    """
    if not resume:
        if (folder.path / "run.json").exists():
            raise ConfigError(
                f"training.output_dir: {folder.path} holds a run; go on with it (--resume), "
                "or name another folder"
            )
        return None
    found = last_checkpoint(folder.path)
    if found is None:
        raise ConfigError(f"--resume: there is no whole checkpoint in {folder.path}")
    return str(found)


def _info(config: TrainConfig, arguments: GRPOConfig, reward_name: str) -> RunInfo:
    return RunInfo(
        started=datetime.now().astimezone().isoformat(timespec="seconds"),
        reward=reward_name,
        num_generations=arguments.num_generations,
        steps_per_generation=arguments.steps_per_generation,
        max_steps=arguments.max_steps,
        model=config.model.path,
        data=f"{config.data.kind}={config.data.source}",
        seed=arguments.seed,
        settings=redacted_settings(config),
        versions=dict(_versions()),
    )


def redacted_settings(config: TrainConfig) -> dict[str, Any]:
    """Returns a configuration's settings without secrets, because people share run.json."""
    settings: dict[str, Any] = config.model_dump(mode="json", exclude_defaults=True)
    return {section: _without_secrets(values) for section, values in settings.items()}


def _without_secrets(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        name: "<secret>" if _SECRET.search(str(name)) and item else _without_secrets(item)
        for name, item in value.items()
    }


def _versions() -> Iterator[tuple[str, str]]:
    for package in _PACKAGES:
        try:
            yield package, metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
