"""A model that says what a test wants, so that a random one has right and wrong answers."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from trainer_client.local_server import LocalServer

# What a times table returns, and whether that is right for every factor.
BODIES = {
    "{n} * x": True,
    "{n} * x + 1": False,
    "None": False,
    "x * {n}": True,
}


class Script:
    """Takes the place of a model's `generate`.

    Args:
        tokenizer: the model's.
        reply: gives what is said to a prompt, from its text and its row of the batch.
    """

    def __init__(self, tokenizer, reply: Callable[[str, int], str]) -> None:
        self._tokenizer = tokenizer
        self._reply = reply

    def __call__(self, input_ids, **settings: Any):
        import torch

        prompts = self._tokenizer.batch_decode(input_ids)
        ends = [
            [*self._tokenizer(self._reply(prompt, row))["input_ids"], self._tokenizer.eos_token_id]
            for row, prompt in enumerate(prompts)
        ]
        longest = max(map(len, ends))
        padding = self._tokenizer.pad_token_id
        padded = [end + [padding] * (longest - len(end)) for end in ends]
        return torch.cat([input_ids, torch.tensor(padded, device=input_ids.device)], dim=1)


def factor_in(text: str) -> int:
    """Finds which of the times tables a text is about."""
    return int(re.findall(r"times_(\d)", text)[-1])


def body(factor: int, row: int) -> str:
    """Returns one of the bodies, two of which are right, in turn."""
    return list(BODIES)[row % len(BODIES)].format(n=factor)


def is_right(factor: int, completion: str) -> bool:
    """Returns True if a completion is one of the right ones, by the script alone."""
    (returned,) = re.findall(r"return (.*)", completion)
    return any(right and returned == form.format(n=factor) for form, right in BODIES.items())


def answer(factor: int, code: str) -> str:
    """Returns a whole answer of a chat."""
    return f"Here it is.\n```python\ndef times_{factor}(x):\n    return {code}\n```"


def tables(output: Path) -> dict[int, dict[str, list[Any]]]:
    """Reads TRL's tables of completions by step; one that trains on older ones shows them again."""
    import pyarrow.parquet as parquet

    found: dict[int, dict[str, list[Any]]] = {}
    for file in sorted((output / "completions").glob("*.parquet")):
        table = parquet.read_table(file).to_pydict()
        (step,) = set(table.pop("step"))
        found[step] = table
    return found


def sent(server: LocalServer, port: int) -> int:
    """Returns how many requests the server has judged, by its own count."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as page:
        lines: Sequence[str] = page.read().decode().splitlines()
    name = "reward_server_verdicts_total{"
    return int(sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name)))
