"""Terminal output of `reward-train` besides the lines of its steps."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console

from trainer_client.grpo import mean_pass_at_k, standardized_advantages
from trainer_client.run_folder import TaskTally
from trainer_client.text import well_formed

if TYPE_CHECKING:
    from trainer_client.trl.monitoring.samples import Sample


# The terminal would execute control sequences from a model; line breaks and tabs are text.
_CONTROLS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}


class Terminal(Console):
    """A console that never ends a training, even if its output is closed or the disk is full."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Prints, if possible."""
        with suppress(OSError):
            super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Stops all further output."""
        self.quiet = True
        # Buffered output would raise an error when the program ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_evaluation(console: Console, step: int, found: Mapping[str, TaskTally]) -> None:
    """Prints pass@1 and the number of its tasks and samples, in one line."""
    passed = mean_pass_at_k(((task.samples, task.passed) for task in found.values()), 1)
    samples = sum(task.samples for task in found.values())
    unjudged = sum(task.unjudged for task in found.values())
    solved = sum(task.passed > 0 for task in found.values())
    text = "none" if passed is None else f"{passed:.3f}"
    console.print(
        f"held out, after {step} steps: pass@1 {text}, {solved} of {len(found)} tasks solved, "
        f"{samples} samples judged, {unjudged} not",
        highlight=False,
        soft_wrap=True,
    )


def print_group(console: Console, prompt: str, samples: Sequence[Sample]) -> None:
    """Prints a group as the model and the server see it: prompt, completions, rewards."""
    console.rule("the prompt, as the model sees it")
    console.print(_shown(prompt), markup=False, highlight=False, soft_wrap=True)
    advantages = standardized_advantages([sample.reward for sample in samples])
    for number, (sample, advantage) in enumerate(zip(samples, advantages, strict=True), 1):
        reward = "none" if sample.reward is None else f"{sample.reward:.3f}"
        console.rule(
            f"completion {number}: {sample.verdict}, reward {reward}, advantage {advantage:+.3f}"
        )
        console.print(_shown(sample.completion), markup=False, highlight=False, soft_wrap=True)
        console.print(
            _shown(sample.message), style="dim", markup=False, highlight=False, soft_wrap=True
        )


def _shown(text: str) -> str:
    return well_formed(text).translate(_CONTROLS)
