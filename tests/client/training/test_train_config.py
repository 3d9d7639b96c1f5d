from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from rich.console import Console

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import ConfigError
from trainer_client.trl.run import evaluate, redacted_settings
from trainer_client.trl.settings.configuration import checked, load_config


@pytest.fixture
def data_file(tmp_path: Path) -> Path:
    file = tmp_path / "HumanEval.jsonl"
    file.write_text("{}")
    return file


@pytest.fixture
def flags(data_file) -> dict[str, object]:
    return {"model.path": "m", "data.kind": "humaneval", "data.path": str(data_file)}


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
        ({"data.kind": "humanevl"}, "data.kind: input should be 'humaneval', 'mbpp', 'apps'"),
        ({"data.path": None}, "data: value error, takes exactly one of path, package and hub"),
        ({"data.hub": "a/b"}, "data: value error, takes exactly one of path, package and hub"),
        ({"data.held_out.task": 1}, "data.held_out.task: no such setting; did you mean tasks?"),
        ({"data.held_out.share": 1.0}, "data.held_out.share: input should be less than 1"),
        (
            {"data.held_out.seed": 1},
            "data.held_out: value error, takes exactly one of tasks, share",
        ),
        ({"watch.kl_horizon": 0.5}, "watch.kl_horizon: input should be greater than or equal to 1"),
        ({"reward.compile_bonus": 2}, "reward.compile_bonus: input should be less than or equal"),
        ({"evaluation.samples": 0}, "evaluation.samples: input should be greater than 0"),
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


def test_a_source_of_tasks_replaces_that_of_the_file(tmp_path, data_file):
    file = tmp_path / "config.toml"
    file.write_text('[model]\npath = "m"\n[data]\nkind = "mbpp"\npackage = "a/b.jsonl"\nlimit = 3')
    data = load_config(file, {"data.kind": "humaneval", "data.path": str(data_file)}).data
    assert (data.kind, data.path, data.package, data.limit) == ("humaneval", data_file, None, 3)
    assert load_config(file, {}).data.package == "a/b.jsonl"


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
    fields = ["learning_rate", "beta", "num_generations"]
    config = dataclasses.make_dataclass("GRPOConfig", fields)
    training = {"max_prompt_length": 1, "num_generation": 2, "learnig_rate": 3, "beta": 0.1}
    with pytest.raises(ConfigError) as caught:
        checked("training", training, config)
    assert str(caught.value).splitlines() == [
        "training.max_prompt_length: is gone; set max_prompt_tokens in [data] to leave long "
        "prompts out",
        "training.num_generation: is num_generations",
        "training.learnig_rate: no field of GRPOConfig; did you mean learning_rate?",
    ]


@dataclasses.dataclass
class Numbers:
    learning_rate: float = 1.0
    save_steps: float = 1.0
    max_steps: int = 1
    use_cpu: bool = False
    top_k: int | None = None
    output_dir: str = ""


def test_numbers_that_yaml_reads_as_text_are_numbers() -> None:
    given = {"learning_rate": "1e-5", "save_steps": 2, "top_k": None, "output_dir": "1e-5"}
    found = checked("training", given, Numbers)
    assert found == {**given, "learning_rate": 1e-5}
    assert isinstance(found["save_steps"], int)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"learning_rate": "small"}, "training.learning_rate: input should be a valid number"),
        ({"max_steps": "many"}, "training.max_steps: input should be a valid integer"),
        ({"max_steps": 2.5}, "training.max_steps: input should be a valid integer"),
        ({"top_k": []}, "training.top_k: input should be a valid integer"),
        ({"use_cpu": "perhaps"}, "training.use_cpu: input should be a valid boolean"),
    ],
)
def test_what_is_no_number_is_named(given: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        checked("training", given, Numbers)


def test_reward_settings_become_fields_of_every_request(flags):
    more = {"reward.policy": "fraction", "reward.cpu_time_seconds": 2.5}
    defaults = load_config(None, {**flags, **more}).reward.defaults
    assert defaults.reward_policy.kind == pb.REWARD_POLICY_KIND_FRACTION
    assert defaults.limits.cpu_time_seconds == 2.5
    assert load_config(None, flags).reward.defaults == pb.ScoreRequest()


def test_bonuses_and_the_least_integrity_become_fields_of_every_request(flags):
    more = {
        "reward.compile_bonus": 0.2,
        "reward.format_bonus": 0.1,
        "reward.require_integrity": "shared_twins",
    }
    defaults = load_config(None, {**flags, **more}).reward.defaults
    assert defaults.reward_policy.compile_bonus == 0.2
    assert defaults.reward_policy.format_bonus == 0.1
    assert defaults.require_integrity == pb.INTEGRITY_SHARED_TWINS


def test_a_flag_reaches_into_a_part_of_a_section_and_leaves_the_rest(tmp_path, data_file):
    file = tmp_path / "config.toml"
    file.write_text(
        f"""
        [model]
        path = "m"
        lora = {{ r = 4 }}
        [data]
        kind = "humaneval"
        path = "{data_file}"
        held_out = {{ tasks = 2, seed = 7 }}
        """
    )
    config = load_config(file, {"data.held_out.tasks": 3, "model.lora.lora_alpha": 8})
    assert config.data.held_out is not None
    assert (config.data.held_out.tasks, config.data.held_out.seed) == (3, 7)
    assert config.model.lora == {"r": 4, "lora_alpha": 8}


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


def test_a_servers_name_alone_asks_for_tls(flags):
    tls = load_config(None, {**flags, "server.server_name": "reward"}).server.options["tls"]
    assert tls is not None
    assert tls.server_name == "reward"
    assert tls.root_certificates is None


@pytest.mark.parametrize(
    ("setting", "content", "message"),
    [
        ("token_file", b"one\ntwo\n", "server: token_file: .* must hold one token"),
        ("token_file", b"\n", "server: token_file: .* must hold one token"),
        ("token_file", b"\xff\xfe", "server: .*can't decode"),
        ("key_file", b"key", "server: certificate_chain and private_key go together"),
    ],
)
def test_a_file_that_holds_something_else_is_told(flags, tmp_path, setting, content, message):
    file = tmp_path / "file"
    file.write_bytes(content)
    section = load_config(None, {**flags, f"server.{setting}": str(file)}).server
    with pytest.raises(ConfigError, match=message) as caught:
        _ = section.options
    assert "two" not in str(caught.value)


def test_secrets_are_not_among_the_settings_that_are_told(flags, tmp_path):
    token = tmp_path / "token"
    token.write_text("hush")
    secrets = {
        "training.hub_token": "hush",
        "reward.further": [{"function": "a.b", "options": {"api_key": "hush", "k": 1}}],
        "server.token_file": str(token),
    }
    told = redacted_settings(load_config(None, {**flags, **secrets}))
    assert "hush" not in str(told)
    assert told["training"] == {"hub_token": "<secret>"}
    assert told["reward"]["further"] == [
        {"function": "a.b", "options": {"api_key": "<secret>", "k": 1}}
    ]
    assert told["server"] == {"token_file": str(token)}


def test_without_held_out_tasks_there_is_nothing_to_evaluate(flags):
    with pytest.raises(ConfigError, match=r"data\.held_out: is absent"):
        evaluate(load_config(None, flags), Console())
