"""The README's examples, as they stand, against a real server."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from tests.e2e.support.rows import times_rows
from trainer_client.local_server import LocalServer

ADDRESS = "localhost:50051"
ROWS = times_rows("HumanEval")


def example(repository: Path, imported: str, server: LocalServer) -> str:
    """Returns the one example that imports this, with another address."""
    readme = (repository / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    (found,) = [block for block in blocks if f"import {imported}" in block]
    assert ADDRESS in found
    return found.replace(ADDRESS, server.target)


def test_the_readmes_score_comes_out_as_it_says(
    repository: Path, lasting_server: LocalServer, capsys
):
    exec(example(repository, "RewardClient", lasting_server), {})
    assert capsys.readouterr().out == "('PASSED', 1.0)\n"


@pytest.mark.training
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_readmes_trainer_trains_on_chat_prompts(
    repository: Path, lasting_server: LocalServer, tiny_model: Path, tmp_path: Path, monkeypatch
):
    from trl import GRPOConfig

    monkeypatch.chdir(tmp_path)
    Path("HumanEval.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    args = GRPOConfig(
        output_dir="run",
        max_steps=1,
        num_generations=4,
        per_device_train_batch_size=4,
        max_completion_length=8,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        bf16=False,
        disable_tqdm=True,
    )
    names = {"model": str(tiny_model), "args": args}
    exec(example(repository, "remote_reward", lasting_server), names)

    (step,) = [entry for entry in names["trainer"].state.log_history if "reward" in entry]
    (unjudged,) = [value for key, value in step.items() if key.endswith("/unjudged")]
    assert unjudged == 0.0
    answers = [f"```python\ndef times_{number}(x): return x + x\n```" for number in (2, 3)]
    rewards = names["reward"](
        [record["prompt"] for record in names["records"][2:]],
        [[{"role": "assistant", "content": answer}] for answer in answers],
        task_id=[record["task_id"] for record in names["records"][2:]],
    )
    assert asyncio.run(rewards) == [1.0, 0.0]
