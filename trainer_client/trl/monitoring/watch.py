"""Creates the callbacks that the section [watch] requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transformers import TrainerCallback

from trainer_client.errors import ConfigError
from trainer_client.trl.monitoring.controllers import (
    CollapseStop,
    HackingWarning,
    KLController,
    Tell,
)
from trainer_client.trl.monitoring.hacking import HackingRule
from trainer_client.trl.monitoring.rules import KLRule
from trainer_client.trl.settings.sections import WatchSection

if TYPE_CHECKING:
    from trl import GRPOTrainer


def watchers_of(
    section: WatchSection, *, held_out_samples: int, tell: Tell
) -> list[TrainerCallback]:
    """Creates the callbacks that watch the logs.

    Args:
        section: the section [watch].
        held_out_samples: number of completions in one evaluation of the held-out tasks.
        tell: receives events.
    """
    watchers: list[TrainerCallback] = []
    if section.stop_on_collapse:
        watchers.append(CollapseStop(tell=tell))
    if section.warn_of_hacking:
        rule = HackingRule(held_out_samples=max(1, held_out_samples))
        watchers.append(HackingWarning(rule, tell=tell))
    return watchers


def attach_controller(section: WatchSection, trainer: GRPOTrainer, *, tell: Tell) -> None:
    """Lets a controller steer the trainer's KL coefficient, if a target is set.

    Raises:
        ConfigError: the trainer's first coefficient is 0 or out of bounds.
    """
    if section.target_kl is not None:
        rule = KLRule(target=section.target_kl, horizon=section.kl_horizon)
        try:
            KLController(rule, tell=tell).attach(trainer)
        except ConfigError as error:
            raise ConfigError(f"training.{error}") from error
