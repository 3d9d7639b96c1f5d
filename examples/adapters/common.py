"""Shared code of the examples: three samples, a server, and a tokenizer."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import tasks
from trainer_client.local_server import LocalServer

PROMPT = "<|im_start|>user\nWrite twice(x).<|im_end|>\n<|im_start|>assistant\n"
END = "<|im_end|>"
TASK = pb.ScoreRequest(
    function=pb.FunctionTests(entry_point="twice", asserts=["assert twice(4) == 8"])
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A response, and the label that determines its task."""

    name: str
    response: str
    label: str


SAMPLES = (
    Sample(name="right", response="```python\ndef twice(x):\n    return 2 * x\n```", label="twice"),
    Sample(name="wrong", response="```python\ndef twice(x):\n    return x\n```", label="twice"),
    Sample(name="unjudged", response="```python\nprint()\n```", label="no such task"),
)


@contextlib.contextmanager
def reward_server() -> Iterator[Path]:
    """Configures the adapters for a reward server and its tasks; yields a working folder."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        tasks.write_templates(folder / "tasks.jsonl", {"twice": TASK})
        os.environ["CODEREWARD_TASKS"] = str(folder / "tasks.jsonl")
        if "CODEREWARD_TARGET" not in os.environ:
            server = stack.enter_context(LocalServer(folder / "server.log"))
            os.environ["CODEREWARD_TARGET"] = server.target
        yield folder


def tokenizer() -> Any:
    """Returns a byte-level tokenizer with the special tokens of a chat."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        special_tokens=["<pad>", "<|im_start|>", END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator([PROMPT], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=core, pad_token="<pad>", eos_token=END)
