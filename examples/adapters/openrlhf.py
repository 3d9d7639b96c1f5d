"""Runs OpenRLHF's single-turn executor with a scripted engine, from a file and over HTTP."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from examples.adapters.common import END, PROMPT, SAMPLES, reward_server, tokenizer
from examples.adapters.common import Sample as Example
from trainer_client.adapters import openrlhf as adapter
from trainer_client.adapters.common.settings import shared_judge
from trainer_client.adapters.serve import RewardServer


class ScriptedEngine:
    """Answers every prompt with the same response, in the form of vLLM.

    Args:
        tokens: the response.
    """

    def __init__(self, tokens: list[int]) -> None:
        self._tokens = tokens

    async def generate(self, prompt: object, parameters: object, multi_modal_data: object) -> Any:
        """Returns the response for any prompt."""
        answer = SimpleNamespace(token_ids=self._tokens, finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[answer])


def main() -> None:
    """Prints OpenRLHF's result for each sample."""
    with reward_server(), _http() as url:
        by_file = {sample.name: _executed(adapter.__file__, sample) for sample in SAMPLES}
        # OpenRLHF would try the sample that cannot be judged five times, with pauses of one second.
        by_http = {sample.name: _executed(url, sample) for sample in SAMPLES[:2]}
    print(json.dumps({"file": by_file, "http": by_http}))  # noqa: T201


@contextmanager
def _http() -> Iterator[str]:
    with RewardServer(("127.0.0.1", 0), shared_judge()) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/get_reward"
        server.shutdown()


def _executed(remote_url: str, sample: Example) -> dict[str, Any]:
    from openrlhf.utils.agent import (  # type: ignore[import-not-found]  # OpenRLHF has it
        SingleTurnAgentExecutor,
    )

    words = tokenizer()
    engine = ScriptedEngine(words(sample.response + END)["input_ids"])
    parameters = SimpleNamespace(max_tokens=512, logprobs=None)
    executor = SingleTurnAgentExecutor(remote_url)
    answer = asyncio.run(executor.execute(PROMPT, sample.label, parameters, 2048, words, engine))
    return {name: _plain(answer[name]) for name in ("reward", "scores", "extra_logs")}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value


if __name__ == "__main__":
    main()
