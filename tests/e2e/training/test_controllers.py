"""Controllers steer, end and warn in real runs of TRL's trainer, resumed or in two processes."""

from __future__ import annotations

import json
import logging
import math
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.support.marks import TRAINERS_WARN
from tests.e2e.support.tiny import tiny_trainer
from trainer_client.errors import ConfigError
from trainer_client.trl.monitoring.hacking import HackingRule
from trainer_client.trl.monitoring.rules import CollapseRule, KLRule

pytestmark = [
    pytest.mark.training,
    *TRAINERS_WARN,
]

KL_RULE = KLRule(target=1e-3, horizon=1.0)


def by_length(completions, **columns) -> list[float]:
    """Returns rewards that differ within a group, so that the policy moves."""
    return [float(len(text) % 5) for text in completions]


def per_step(means):
    """Makes a reward function that gives every completion of a step the same."""

    def reward(completions, trainer_state, **columns):
        return [means[trainer_state.global_step]] * len(completions)

    return reward


def logged(trainer, key: str) -> list[float]:
    return [entry[key] for entry in trainer.state.log_history if key in entry]


def test_the_coefficient_follows_the_rule_and_scales_the_loss(tiny_model, tmp_path):
    from trainer_client.trl.monitoring.controllers import KLController

    def moved_then_equal(completions, trainer_state, **columns):
        moves = trainer_state.global_step < 3
        return by_length(completions) if moves else [1.0] * len(completions)

    trainer = tiny_trainer(
        tiny_model, tmp_path, moved_then_equal, max_steps=6, beta=0.1, learning_rate=3e-3
    )
    KLController(KL_RULE).attach(trainer)
    trainer.train()
    coefficients, kls = logged(trainer, "kl_coefficient"), logged(trainer, "kl")
    expected = [0.1]
    for kl in kls:
        expected.append(KL_RULE.next(expected[-1], kl))
    assert [*coefficients, trainer.beta] == expected
    assert min(coefficients) < 0.1 < max(coefficients)
    # Where rewards are equal there are no advantages, and the loss is the KL's share alone.
    products = [beta * kl for beta, kl in zip(coefficients, kls, strict=True)]
    assert logged(trainer, "loss")[3:] == pytest.approx(products[3:], rel=1e-3)
    assert products[-1] > 0.0


def test_callbacks_that_were_there_before_see_the_coefficient(tiny_model, tmp_path):
    from transformers import TrainerCallback

    from trainer_client.trl.monitoring.controllers import KLController

    seen = []

    class Witness(TrainerCallback):
        def on_log(self, args, state, control, logs=None, **more):
            seen.append(logs.get("kl_coefficient"))

    trainer = tiny_trainer(
        tiny_model, tmp_path, by_length, max_steps=2, beta=0.1, callbacks=[Witness()]
    )
    KLController(KL_RULE).attach(trainer)
    trainer.train()
    assert seen == [0.1, pytest.approx(0.08), None]  # the last log is transformers' summary


def test_a_coefficient_at_its_bound_is_told_once(tiny_model, tmp_path):
    from trainer_client.trl.monitoring.controllers import KLController

    events = []
    rule = KLRule(target=10.0, horizon=1.0, lowest=0.05)
    trainer = tiny_trainer(tiny_model, tmp_path, by_length, max_steps=6, beta=0.1)
    KLController(rule, tell=lambda *event: events.append(event)).attach(trainer)
    trainer.train()
    assert trainer.beta == 0.05
    ((step, kind, message),) = events
    assert (step, kind) == (4, "kl")
    assert message.startswith("the KL coefficient reached its lowest, 0.05: the KL is ")


@pytest.mark.parametrize(("beta", "message"), [(0.0, "no reference model"), (2.0, "0.0001 to 1.0")])
def test_a_beta_that_cannot_be_steered_is_refused(tiny_model, tmp_path, beta, message):
    from trainer_client.trl.monitoring.controllers import KLController

    trainer = tiny_trainer(tiny_model, tmp_path, by_length, max_steps=1, beta=beta)
    with pytest.raises(ConfigError, match=f"^beta: .*{message}"):
        KLController(KL_RULE).attach(trainer)


def test_a_controller_without_a_trainer_is_refused(tiny_model, tmp_path):
    from trainer_client.trl.monitoring.controllers import KLController

    controller = KLController(KL_RULE)
    trainer = tiny_trainer(tiny_model, tmp_path, by_length, max_steps=1, callbacks=[controller])
    with pytest.raises(ConfigError, match="attach"):
        trainer.train()


def test_a_collapse_ends_training_and_says_why(tiny_model, tmp_path, caplog):
    from trainer_client.trl.monitoring.controllers import CollapseStop

    events = []
    means = [1.0, 1.0, 0.0, None, 0.0, 0.0, 0.0, 0.0]
    stop = CollapseStop(
        CollapseRule(window=2, patience=2), tell=lambda *event: events.append(event)
    )
    trainer = tiny_trainer(tiny_model, tmp_path, per_step(means), max_steps=8, callbacks=[stop])
    with caplog.at_level(logging.WARNING, "trainer_client.trl.monitoring.controllers"):
        trainer.train()
    # Means of two: 1.0, 0.5, and from the fifth step on 0.0; the fourth had no reward.
    assert trainer.state.global_step == 6
    ((step, kind, message),) = events
    assert (step, kind) == (6, "collapse")
    assert message.endswith("for 2 of them; training ends")
    assert message in caplog.text


def test_a_reward_that_rises_while_the_held_out_rate_falls_is_warned_of(tiny_model, tmp_path):
    from transformers import TrainerCallback

    from trainer_client.trl.monitoring.controllers import HackingWarning

    rewards, held_out = [0.2] * 4 + [0.6] * 4, [0.5] * 4 + [0.2] * 4
    events = []

    class Evaluation(TrainerCallback):
        def on_step_end(self, args, state, control, **more):
            if state.global_step % 2 == 0:
                trainer.log({"held_out/pass@1": held_out[state.global_step - 1]})

    def reward(completions, trainer_state, log_metric, **columns):
        log_metric("tests/signal/EARLY_EXIT", 0.5 * (trainer_state.global_step >= 4))
        return per_step(rewards)(completions, trainer_state)

    rule = HackingRule(held_out_samples=1000, window=3)
    warning = HackingWarning(rule, tell=lambda *event: events.append(event))
    trainer = tiny_trainer(
        tiny_model, tmp_path, reward, max_steps=8, callbacks=[Evaluation(), warning]
    )
    trainer.train()
    assert [(step, kind) for step, kind, _ in events] == [(7, "hacking"), (8, "hacking")]
    assert events[0][2].startswith("tests/signal/EARLY_EXIT rose from 0 to 0.5")
    assert events[1][2].startswith("held-out pass@1 fell from 0.5 to 0.2 while the training reward")


@pytest.mark.parametrize("restore", [False, True])
def test_a_resumed_run_goes_on_as_if_it_had_not_been_interrupted(tiny_model, tmp_path, restore):
    from trainer_client.trl.monitoring.controllers import CollapseStop, HackingWarning, KLController

    def make(output: Path, **more):
        events = []
        told = {"tell": lambda *event: events.append(event)}
        trainer = tiny_trainer(
            tiny_model,
            output,
            per_step([1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            max_steps=8,
            beta=0.1,
            restore_callback_states_from_checkpoint=restore,
            callbacks=[
                CollapseStop(CollapseRule(window=2, patience=3), **told),
                HackingWarning(HackingRule(held_out_samples=1000), **told),
            ],
            **more,
        )
        KLController(KL_RULE, **told).attach(trainer)
        return trainer, events

    whole, told = make(tmp_path, save_strategy="steps", save_steps=4)
    whole.train()
    resumed, told_later = make(tmp_path / "resumed")
    resumed.train(resume_from_checkpoint=str(tmp_path / "checkpoint-4"))
    assert whole.state.global_step == resumed.state.global_step == 6
    assert logged(resumed, "kl_coefficient") == pytest.approx(logged(whole, "kl_coefficient"))
    assert logged(resumed, "kl_coefficient")[-1] == pytest.approx(0.1 * 0.8**5)
    assert [event[:2] for event in told] == [event[:2] for event in told_later] == [(6, "collapse")]


PROCESSES = 2


@pytest.mark.exhaustive
def test_every_process_comes_to_the_same_coefficient_and_stops_at_the_same_step(
    tiny_model, tmp_path
):
    script = Path(__file__).parents[1] / "support" / "controlled_process.py"
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    count = f"--nproc-per-node={PROCESSES}"
    command = [*launch, count, str(script), str(tiny_model), str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as launcher:
        try:
            _, errors = launcher.communicate(timeout=200)
        except BaseException:
            launcher.terminate()  # it ends its processes, which a kill would leave behind
            raise
    assert launcher.returncode == 0, errors[-4000:]
    reports = [
        json.loads((tmp_path / f"process-{rank}.json").read_text()) for rank in range(PROCESSES)
    ]
    first, second = reports
    assert first["local_rewards"] != second["local_rewards"]
    assert first["coefficients"] == second["coefficients"]
    assert first["beta"] == second["beta"] != 0.1
    assert all(math.isfinite(value) and value > 0.0 for value in first["kls"][1:])
    assert first["step"] == second["step"] == 5
    assert [event[:2] for event in first["events"]] == [[5, "collapse"]]
    assert second["events"] == []
