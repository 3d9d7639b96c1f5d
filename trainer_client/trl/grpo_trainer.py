"""TRL's GRPO trainer, with evaluation by rewards alone.

For an evaluation, TRL samples completions, scores them and computes a loss. This trainer only
measures pass@k of the held-out tasks. It uses the same seed each time, so that two evaluations
differ because of the model and not by chance. It leaves out the loss, which halves the time.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from accelerate.utils import gather_object
from transformers.integrations import TensorBoardCallback
from trl import GRPOTrainer

from trainer_client.grpo import mean_pass_at_k
from trainer_client.run_folder import HELD_OUT, TaskTally
from trainer_client.trl.monitoring.samples import Listener, Sample, tallies
from trainer_client.trl.monitoring.tensorboard import write_samples


class RewardTrainer(GRPOTrainer):  # type: ignore[misc]  # imported lazily, so without a type
    """A GRPO trainer whose evaluation measures pass@k.

    Args:
        listener: receives the scores of the reward function.
        evaluated: called on every process with the step and the tallies of each evaluation.
        evaluation_seed: seed of the sampling.
    """

    log_completions: bool  # TRL's
    _logs: Any  # TRL's

    def __init__(
        self,
        *,
        listener: Listener,
        evaluated: Callable[[int, dict[str, TaskTally]], None],
        evaluation_seed: int,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._listener = listener
        self._evaluated = evaluated
        self._evaluation_seed = evaluation_seed
        self._samples: list[Sample] = []

    def evaluate(
        self,
        eval_dataset: Any = None,
        ignore_keys: list[str] | None = None,
        metric_key_prefix: str = "eval",
    ) -> dict[str, float]:
        """Samples and judges the held-out tasks; logs `held_out/pass@1` and `held_out/pass@k`.

        The result also has both with the prefix `eval_`, for `metric_for_best_model`.
        """
        # TRL keeps one table for each step. An evaluation must not overwrite the training's table.
        # It must also keep the table's data: a step that trains on older completions writes them
        # again.
        logs_completions, self.log_completions = self.log_completions, False
        rows, self._logs = self._logs, copy.deepcopy(self._logs)
        try:
            found = tallies(self._sampled(eval_dataset, ignore_keys, metric_key_prefix))
            self._evaluated(self.state.global_step, found)
            metrics = pass_metrics(found, self.num_generations_eval)
            self.log(dict(metrics))
        finally:
            self.log_completions, self._logs = logs_completions, rows
        return metrics | {f"{metric_key_prefix}_{name}": value for name, value in metrics.items()}

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Logs metrics and tables as TRL does, and completions and histograms for TensorBoard."""
        super().log(logs, start_time)
        # A step that trains on older completions has no reward.
        is_of_completions = "reward" in logs and self.log_completions
        if not is_of_completions or not self.accelerator.is_main_process:
            return
        for callback in self.callback_handler.callbacks:
            if isinstance(callback, TensorBoardCallback) and callback.tb_writer is not None:
                step, size = self.state.global_step, self.num_generations
                write_samples(callback.tb_writer, step, self._logs, size)

    def sample(self, records: Sequence[dict[str, Any]]) -> list[Sample]:
        """Samples and judges some tasks as in training; returns this process's samples.

        Use it only with a trainer that is not used for training; it logs nothing.
        """
        from datasets import Dataset

        self.num_generations_eval = self.num_generations
        # TRL compares the completions of a batch by groups, so a batch must hold whole groups.
        self.args.per_device_eval_batch_size = self.num_generations_eval
        with self._listener.listening() as heard:
            for batch in self.get_eval_dataloader(Dataset.from_list(list(records))):
                self.model.eval()
                self._prepare_inputs(batch)
        self._metrics["eval"].clear()
        return heard

    def prediction_step(
        self,
        model: Any,
        inputs: Any,
        prediction_loss_only: bool,
        ignore_keys: list[str] | None = None,
    ) -> tuple[None, None, None]:
        """Samples and scores a batch; computes no loss."""
        with self._listener.listening() as heard:
            self._prepare_inputs(inputs)
        self._samples += gather_object(heard)
        return None, None, None

    def _sampled(
        self, eval_dataset: Any, ignore_keys: list[str] | None, prefix: str
    ) -> list[Sample]:
        """Returns the samples of all processes, each of them once."""
        self._samples = []
        devices = [self.accelerator.device] if self.accelerator.device.type != "cpu" else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(self._evaluation_seed + self.accelerator.process_index)
            super().evaluate(eval_dataset, ignore_keys, prefix)
        # If the tasks do not divide evenly among processes, the last batches repeat first tasks.
        records = self.eval_dataset if eval_dataset is None else eval_dataset
        return self._samples[: len(records) * self.num_generations_eval]


def pass_metrics(found: dict[str, TaskTally], samples: int) -> dict[str, float]:
    """Returns pass@1 and pass@`samples`, as means over the tasks with that many judged samples."""
    metrics = {}
    for k in sorted({1, samples}):
        mean = mean_pass_at_k(((task.samples, task.passed) for task in found.values()), k)
        if mean is not None:
            metrics[f"{HELD_OUT}/pass@{k}"] = mean
    return metrics
