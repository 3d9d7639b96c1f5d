"""Callbacks that control a run of TRL's GRPOTrainer: they steer its KL, end it, or warn.

    trainer = GRPOTrainer(..., callbacks=[CollapseStop(), HackingWarning(HackingRule(...))])
    KLController(KLRule(target=0.05)).attach(trainer)

Each restores its state from the logs that transformers keeps in a checkpoint, so that a resumed run
continues as if it had not been interrupted. All processes see the same logs and decide the same;
the first one reports.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from trainer_client.errors import ConfigError
from trainer_client.trl.monitoring.hacking import HackingRule
from trainer_client.trl.monitoring.rules import CollapseRule, KLRule, require

if TYPE_CHECKING:
    from trl import GRPOTrainer

# Receives the step, the kind of the event ("kl", "collapse", "hacking") and a sentence for people.
Tell = Callable[[int, str, str], None]

COEFFICIENT = "kl_coefficient"

_logger = logging.getLogger(__name__)


class KLController(TrainerCallback):  # type: ignore[misc]  # imported lazily, so without a type
    """Adjusts the trainer's KL coefficient after each logged step, so that the KL reaches a target.

    It logs the coefficient of a step as `kl_coefficient`. It reports an event when the coefficient
    reaches a bound, because the target may then be out of reach.

    Args:
        rule: computes the next coefficient.
        tell: receives events, in addition to the log of this module.
    """

    def __init__(self, rule: KLRule, *, tell: Tell | None = None) -> None:
        self._rule = rule
        self._tell = tell
        self._trainer: GRPOTrainer | None = None
        self._start = 0.0
        self._seen_step = 0

    def attach(self, trainer: GRPOTrainer) -> Self:
        """Takes control of the trainer's `beta`, which is the first coefficient.

        Raises:
            ConfigError: `beta` is 0 or out of the rule's bounds.
        """
        beta, rule = trainer.beta, self._rule
        if beta == 0.0:
            raise ConfigError(
                "beta: is 0, so TRL has no reference model and no KL; must be above 0"
            )
        limit = f"within the controller's bounds, {rule.lowest} to {rule.highest}"
        require(rule.lowest <= beta <= rule.highest, "beta", limit, beta)
        self._trainer, self._start = trainer, beta
        # It precedes other callbacks, such as TensorBoard's, so that they log the coefficient.
        trainer.callback_handler.callbacks.insert(0, self)
        return self

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **more: Any
    ) -> None:
        """Restores the coefficient from the end of a resumed run's log."""
        trainer = self._attached()
        trainer.beta, self._seen_step = self._start, 0
        for logs in state.log_history:
            if COEFFICIENT in logs:
                trainer.beta = logs[COEFFICIENT]
                self._move(trainer, logs["step"], logs["kl"])

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Logs the coefficient and sets the next one; ignores logs without a KL."""
        if logs is None or "kl" not in logs:
            return
        trainer = self._attached()
        # The logs that callbacks receive are a copy of those that a checkpoint keeps.
        logs[COEFFICIENT] = state.log_history[-1][COEFFICIENT] = before = trainer.beta
        self._move(trainer, state.global_step, logs["kl"])
        bounds = {self._rule.lowest: "lowest", self._rule.highest: "highest"}
        if trainer.beta != before and trainer.beta in bounds:
            message = (
                f"the KL coefficient reached its {bounds[trainer.beta]}, {trainer.beta:.3g}: "
                f"the KL is {logs['kl']:.3g} and its target {self._rule.target:.3g}"
            )
            _report(self._tell, state, "kl", message)

    def _move(self, trainer: GRPOTrainer, step: int, kl: float | None) -> None:
        trainer.beta = self._rule.next(trainer.beta, kl, step - self._seen_step)
        self._seen_step = step

    def _attached(self) -> GRPOTrainer:
        if self._trainer is None:
            raise ConfigError("KLController: is not attached; call attach(trainer)")
        return self._trainer


class CollapseStop(TrainerCallback):  # type: ignore[misc]  # imported lazily, so without a type
    """Ends training when the reward has collapsed, and reports why.

    Args:
        rule: decides what a collapse is.
        key: name under which the reward is logged; "rewards/NAME/mean" is that of one function.
        tell: receives events, in addition to the log of this module.
    """

    def __init__(
        self, rule: CollapseRule | None = None, *, key: str = "reward", tell: Tell | None = None
    ) -> None:
        self._fresh = rule or CollapseRule()
        self._rule = copy.deepcopy(self._fresh)
        self._key = key
        self._tell = tell

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **more: Any
    ) -> None:
        """Restores the rewards of a resumed run, without repeating what was reported before."""
        self._rule = copy.deepcopy(self._fresh)
        for logs in state.log_history:
            self._rule.see(logs.get(self._key))

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Checks the reward of a step; ignores logs without one."""
        reason = self._rule.see((logs or {}).get(self._key))
        if reason is not None:
            control.should_training_stop = True
            _report(self._tell, state, "collapse", f"{reason}; training ends")


class HackingWarning(TrainerCallback):  # type: ignore[misc]  # imported lazily, so without a type
    """Warns when the logs suggest that the model learns to exploit the tests; see `hacking`.

    The held-out pass rate must be logged as `held_out/pass@1`, for example by `trainer.log`.

    Args:
        rule: decides what is worth a warning.
        tell: receives events, in addition to the log of this module.
    """

    def __init__(self, rule: HackingRule, *, tell: Tell | None = None) -> None:
        self._fresh = rule
        self._rule = copy.deepcopy(rule)
        self._tell = tell

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **more: Any
    ) -> None:
        """Restores the logs of a resumed run, without repeating what was reported before."""
        self._rule = copy.deepcopy(self._fresh)
        for logs in state.log_history:
            self._rule.see(logs["step"], logs)

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """Checks the logged values."""
        for message in self._rule.see(state.global_step, logs or {}):
            _report(self._tell, state, "hacking", message)


def _report(tell: Tell | None, state: TrainerState, kind: str, message: str) -> None:
    if not state.is_world_process_zero:
        return
    _logger.warning("step %d: %s", state.global_step, message)
    if tell is not None:
        tell(state.global_step, kind, message)
