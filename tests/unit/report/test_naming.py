from __future__ import annotations

import dataclasses

import pytest

from tests.support.training_runs import Plan, write_run
from trainer_client.report.naming import data_name, heading, model_name
from trainer_client.report.runs import read_runs

SHA = "0123456789abcdef" * 2 + "01234567"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("HuggingFaceTB/SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct"),
        ("/srv/models/tiny/", "tiny"),
        ("runs/first/checkpoint-40", "first"),
        (f"/home/x/hub/models--Qwen--Qwen2.5-0.5B/snapshots/{SHA}", "Qwen2.5-0.5B"),
        ("C:\\models\\small.gguf", "small"),
        ("..", ".."),
    ],
)
def test_a_model_is_named_by_what_tells_it_from_others(model, name):
    assert model_name(model) == name


def test_data_are_named_by_their_kind_and_requests_by_their_file():
    assert data_name("mbpp=data/mbpp.jsonl") == "mbpp"
    assert data_name("requests=data/own.jsonl") == "own.jsonl"


def test_a_heading_has_model_data_and_seeds_in_words(tmp_path):
    for seed in range(3):
        folder = write_run(tmp_path / str(seed), Plan(seed=seed, steps=1))
        folder.write_info(dataclasses.replace(folder.info(), model="models/x", data="mbpp=a/b"))
    runs = read_runs([tmp_path / str(seed) for seed in range(3)])
    assert heading(runs) == "x on mbpp, seeds 0, 1 and 2"
    assert heading(runs[:1]) == "x on mbpp, seed 0"
