"""A model that trains in a blink, and a real server that can be killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support.math_packages import install
from tests.e2e.support.tool_talk import TOOL_RESPONSE, TOOL_TEMPLATE
from tests.support.common import PACKAGES
from trainer_client import RewardClient
from trainer_client.local_server import LocalServer
from trainer_client.trl.command import main

PYTHON = ("--set", "languages=python")  # a start tries each language that a server offers
CHAT_TEMPLATE = (
    "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


@contextmanager
def serving_with_packages(folder: Path, preload: str) -> Iterator[RewardClient]:
    """Runs a server whose sandboxes have the tests' packages, one of them imported beforehand."""
    settings = (f"sandbox_packages={PACKAGES[0]}", f"sandbox_preload={preload}")
    arguments = [*PYTHON, *(part for one in settings for part in ("--set", one))]
    with (
        LocalServer(folder / "server.log", arguments) as server,
        RewardClient(server.target) as connected,
    ):
        yield connected


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a random Llama of 100,000 parameters with a tokenizer of its own."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<pad>", "<eos>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(["def twice(x):\n    return 2 * x\n", "<user><assistant>"], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token="<pad>", eos_token="<eos>", chat_template=CHAT_TEMPLATE
    )
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=4096,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    folder = tmp_path_factory.mktemp("tiny-model")
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def tool_tokenizer(tiny_model: Path) -> Any:
    """Returns the tiny model's tokenizer, with a template for tools."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_model)
    tokenizer.chat_template = TOOL_TEMPLATE
    tokenizer.response_template = TOOL_RESPONSE
    return tokenizer


@pytest.fixture
def reward_train(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Returns the command in this process, which has imported torch already."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # the tests' own stay

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["reward-train", *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = capfd.readouterr()
        return subprocess.CompletedProcess(arguments, ended.value.code or 0, said.out, said.err)

    return run


@pytest.fixture
def trl_noted(record_property: Callable[[str, object], None]) -> None:
    """Notes in a test's report which TRL it runs with."""
    import trl

    record_property("trl", trl.__version__)
    record_property("trl_file", trl.__file__)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalServer]:
    """Yields a reward server that serves."""
    with LocalServer(tmp_path / "server.log", PYTHON) as running:
        yield running


@pytest.fixture(scope="session")
def lasting_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """Yields a reward server that nobody may kill."""
    arguments = [*PYTHON, "--set", f"session_memory_bytes={8 << 30}"]
    with LocalServer(tmp_path_factory.mktemp("server") / "server.log", arguments) as running:
        yield running


@pytest.fixture(scope="session")
def math_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """Yields a reward server whose sandboxes have math-verify."""
    packages = install(tmp_path_factory.mktemp("packages"))
    settings = [f"sandbox_packages={packages}", "sandbox_preload=math_verify"]
    arguments = [part for setting in settings for part in ("--set", setting)]
    log = tmp_path_factory.mktemp("math-server") / "server.log"
    with LocalServer(log, ["--workers", "1", *PYTHON, *arguments]) as running:
        yield running
