"""Evaluates an agent by inspect_ai; its commands run in a session of a reward server.

A scripted model stands in for a real one.
"""

from __future__ import annotations

import json
import tempfile
from typing import Any

PROMPT = "Double each number in numbers.txt, and name the greatest."


def main() -> None:
    """Prints the status of the evaluation, the score, and what the tools answered."""
    from inspect_ai import Task, eval  # type: ignore[import-not-found]  # inspect_ai has it
    from inspect_ai.dataset import Sample  # type: ignore[import-not-found]
    from inspect_ai.model import get_model  # type: ignore[import-not-found]
    from inspect_ai.scorer import includes  # type: ignore[import-not-found]
    from inspect_ai.solver import generate, use_tools  # type: ignore[import-not-found]
    from inspect_ai.tool import bash, python  # type: ignore[import-not-found]

    task = Task(
        dataset=[Sample(input=PROMPT, target="18", files={"numbers.txt": "3\n9\n"})],
        solver=[use_tools(bash(timeout=2), python(timeout=10)), generate()],
        scorer=includes(),
        sandbox="codereward",
    )
    model = get_model("mockllm/model", custom_outputs=_script())
    with tempfile.TemporaryDirectory() as folder:
        (log,) = eval(task, model=model, display="none", log_dir=folder)
        (sample,) = log.samples
        answers = [
            message.error.message if message.error else message.text
            for message in sample.messages
            if message.role == "tool"
        ]
        score = sample.scores["includes"].value
        print(json.dumps({"status": log.status, "score": score, "tools": answers}))  # noqa: T201


def _script() -> list[Any]:
    from inspect_ai.model import ModelOutput, ModelUsage

    code = "print(2 * max(map(int, open('numbers.txt'))))"
    outputs = [
        ModelOutput.for_tool_call("mockllm/model", "bash", {"command": "cat numbers.txt"}),
        ModelOutput.for_tool_call("mockllm/model", "bash", {"command": "sleep 60"}),
        ModelOutput.for_tool_call("mockllm/model", "python", {"code": code}),
        ModelOutput.from_content("mockllm/model", "It is 18."),
    ]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return outputs


if __name__ == "__main__":
    main()
