"""One process of a run with controllers; writes what it came to.

Usage: torchrun controlled_process.py MODEL OUTPUT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.e2e.support.tiny import tiny_trainer
from trainer_client.trl.monitoring.controllers import CollapseStop, KLController
from trainer_client.trl.monitoring.rules import CollapseRule, KLRule


def main(model: Path, output: Path) -> None:
    events, local_rewards = [], []

    def reward(completions, trainer_state, **columns):
        # A process of its own has rewards of its own; they collapse after the second step.
        if trainer_state.global_step >= 2:
            return [0.0] * len(completions)
        rank = trainer.accelerator.process_index
        local_rewards.append([float(rank + index % 3) for index in range(len(completions))])
        return local_rewards[-1]

    def tell(*event):
        events.append(event)

    stop = CollapseStop(CollapseRule(window=2, share=0.4, patience=2), tell=tell)
    trainer = tiny_trainer(
        model, output, reward, max_steps=8, beta=0.1, learning_rate=3e-3, callbacks=[stop]
    )
    KLController(KLRule(target=1e-3, horizon=1.0), tell=tell).attach(trainer)
    trainer.train()
    report = {
        "beta": trainer.beta,
        "step": trainer.state.global_step,
        "kls": [entry["kl"] for entry in trainer.state.log_history if "kl" in entry],
        "coefficients": [
            entry["kl_coefficient"] for entry in trainer.state.log_history if "kl" in entry
        ],
        "local_rewards": local_rewards,
        "events": events,
    }
    rank = trainer.accelerator.process_index
    (output / f"process-{rank}.json").write_text(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
