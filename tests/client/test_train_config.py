from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import ConfigError, TaskError
from trainer_client.trl.config import check_names, load_config
from trainer_client.trl.data import load_tasks, read_rows

ROWS = [
    {
        "task_id": f"HumanEval/{number}",
        "prompt": f"def f{number}(x):\n" + "    # long\n" * number,
        "test": "def check(candidate):\n    assert candidate(1) == 1\n",
        "entry_point": f"f{number}",
        "canonical_solution": "    return x\n",
    }
    for number in range(4)
]
MBPP = {
    "task_id": 11,
    "text": "Write f.",
    "code": "def f(x): return x",
    "test_list": ["assert f(1) == 1"],
}


@pytest.fixture
def data_file(tmp_path: Path) -> Path:
    file = tmp_path / "HumanEval.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in ROWS))
    return file


@pytest.fixture
def flags(data_file) -> dict[str, object]:
    return {"model.path": "m", "data.kind": "humaneval", "data.path": str(data_file)}


def tasks_of(flags: dict[str, object], *, chat: bool = False):
    return load_tasks(load_config(None, flags).data, chat=chat, count_tokens=len)


# --------------------------------------------------------------------------------- settings


@pytest.mark.parametrize("suffix", [".toml", ".yaml"])
def test_a_file_is_read_and_flags_go_over_it(tmp_path, data_file, suffix):
    toml = f"""
        [model]
        path = "m"
        [data]
        kind = "humaneval"
        path = "{data_file}"
        [training]
        max_steps = 3
        learning_rate = 1e-5
    """
    yaml = (
        f"model: {{path: m}}\ndata: {{kind: humaneval, path: {data_file}}}\n"
        "training: {max_steps: 3, learning_rate: 0.00001}\n"
    )
    file = tmp_path / f"config{suffix}"
    file.write_text(toml if suffix == ".toml" else yaml)
    config = load_config(file, {"training.max_steps": 5, "server.target": "far:1"})
    assert config.training == {"max_steps": 5, "learning_rate": 1e-5}
    assert (config.model.path, config.server.target) == ("m", "far:1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data.kind": "humanevl"}, "data.kind: input should be 'humaneval' or 'mbpp'"),
        ({"data.path": "/no/such/file"}, "data.path: path does not point to a file"),
        ({"data.knd": 1}, "data.knd: no such setting; did you mean kind?"),
        ({"serve.target": "x"}, "serve: no such setting; did you mean server?"),
        ({"model.dtype": "int4"}, "model.dtype: input should be 'float32'"),
        ({"reward.failure_budget": 0}, "reward.failure_budget: input should be greater than 0"),
        ({"model.path": None}, "model.path: input should be a valid string"),
    ],
)
def test_a_wrong_setting_is_named(flags, change, message):
    with pytest.raises(ConfigError) as caught:
        load_config(None, {**flags, **change})
    assert str(caught.value).startswith(message)


def test_all_wrong_settings_are_named_at_once():
    with pytest.raises(ConfigError) as caught:
        load_config(None, {"model.dtype": "float32"})
    assert str(caught.value).splitlines() == [
        "model.path: field required",
        "data: field required",
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("absent.toml", None, "cannot read"),
        ("a.toml", "= 1", "a.toml: Invalid"),
        ("a.yaml", "a: [", "a.yaml: is not YAML"),
        ("a.yaml", "- 1", "a.yaml: must hold sections"),
        ("a.toml", "model = 1", "a.toml: must hold sections"),
    ],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path, name, content, message):
    file = tmp_path / name
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError, match=message):
        load_config(file, {})


def test_names_of_the_training_section_that_are_gone_are_explained():
    training = {"max_prompt_length": 1, "num_generation": 2, "learnig_rate": 3, "beta": 0.1}
    with pytest.raises(ConfigError) as caught:
        check_names(training, ["learning_rate", "beta", "num_generations"])
    assert str(caught.value).splitlines() == [
        "training.max_prompt_length: is gone; set max_prompt_tokens in [data] to leave long "
        "prompts out",
        "training.num_generation: is num_generations",
        "training.learnig_rate: no field of GRPOConfig; did you mean learning_rate?",
    ]


def test_reward_settings_become_fields_of_every_request(flags):
    more = {"reward.policy": "fraction", "reward.cpu_time_seconds": 2.5}
    defaults = load_config(None, {**flags, **more}).reward.defaults
    assert defaults.reward_policy.kind == pb.REWARD_POLICY_KIND_FRACTION
    assert defaults.limits.cpu_time_seconds == 2.5
    assert not load_config(None, flags).reward.defaults.HasField("limits")


def test_secrets_and_certificates_are_read_from_files(flags, tmp_path):
    for name in ("token", "ca", "certificate", "key"):
        (tmp_path / name).write_text(f"{name}\n")
    files = {f"server.{name}_file": tmp_path / name for name in ("ca", "certificate", "key")}
    files["server.token_file"] = tmp_path / "token"
    options = load_config(None, {**flags, **files}).server.options
    assert options["token"] == "token"
    assert options["tls"].root_certificates == b"ca\n"
    assert options["tls"].private_key == b"key\n"
    assert load_config(None, flags).server.options["tls"] is None


# -------------------------------------------------------------------------------------- data


def test_tests_stay_out_of_the_data_set(flags):
    found = tasks_of(flags)
    assert found.records[0] == {"prompt": "def f0(x):\n", "task_id": "HumanEval/0"}
    assert found.templates["HumanEval/0"].function.entry_point == "f0"
    assert found.references["HumanEval/0"] == "    return x\n"


def test_chat_prompts_quote_the_function_and_ask_for_a_block(flags):
    (message,) = tasks_of(flags, chat=True).records[0]["prompt"]
    assert message["role"] == "user"
    assert "```python\ndef f0(x):\n```" in message["content"]


@pytest.mark.parametrize("chat", [False, True])
def test_mbpp_prompts_show_text_and_tests(tmp_path, chat):
    file = tmp_path / "mbpp.json"
    file.write_text(json.dumps([MBPP, {**MBPP, "task_id": 12, "text": None, "prompt": "Make f."}]))
    flags = {"model.path": "m", "data.kind": "mbpp", "data.path": str(file)}
    first, second = (str(record["prompt"]) for record in tasks_of(flags, chat=chat).records)
    assert "Write f." in first
    assert "assert f(1) == 1" in first
    assert "Make f." in second


def test_tasks_are_chosen_by_id_in_the_order_given_and_limited(flags):
    chosen = {"data.ids": ["HumanEval/2", "HumanEval/0", "HumanEval/1"], "data.limit": 2}
    found = tasks_of({**flags, **chosen})
    assert [record["task_id"] for record in found.records] == ["HumanEval/2", "HumanEval/0"]


def test_prompts_that_are_too_long_are_left_out(flags):
    found = tasks_of({**flags, "data.max_prompt_tokens": 25})
    assert [record["task_id"] for record in found.records] == ["HumanEval/0", "HumanEval/1"]


def test_ids_that_are_not_there_are_named(flags):
    with pytest.raises(ConfigError, match=r"has no task HumanEval/9, 7"):
        tasks_of({**flags, "data.ids": ["HumanEval/9", "HumanEval/1", "7"]})


def test_no_task_left_is_an_error(flags):
    with pytest.raises(ConfigError, match=r"no task of .* is left"):
        tasks_of({**flags, "data.max_prompt_tokens": 1})


def test_a_row_of_another_kind_is_an_error(flags):
    with pytest.raises(TaskError, match="test_list"):
        tasks_of({**flags, "data.kind": "mbpp"})


def test_a_compressed_file_is_read_as_well(tmp_path, data_file):
    packed = tmp_path / "HumanEval.jsonl.gz"
    packed.write_bytes(gzip.compress(data_file.read_bytes()))
    assert read_rows(packed) == read_rows(data_file) == ROWS


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.jsonl", b"{"), ("a.gz", b"{}"), ("a.json", b"\xff\xfe"), ("a.json", b"[1]")],
)
def test_a_file_without_rows_is_an_error(tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"data\.path"):
        read_rows(file)
