"""How a model and its tools are written in a conversation."""

from __future__ import annotations

import json
from typing import Any

# A template that shows calls and results of tools, and how what it shows is read back.
TOOL_TEMPLATE = (
    "{% if tools %}<tools>{% for tool in tools %}{{ tool.function.name }} {% endfor %}{% endif %}"
    "{% for message in messages %}<{{ message.role }}>{{ message.content or '' }}"
    "{% for call in message.tool_calls or [] %}"
    "<call>{{ call.function | tojson }}</call>{% endfor %}<eos>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)
TOOL_RESPONSE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<assistant>",
    "fields": {
        "tool_calls": {
            "open": "<call>",
            "close": "</call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": "<eos>|(?=<call>)", "content": "text"},
    },
}


def call_of(tool: str, **arguments: Any) -> str:
    """Returns the call of a tool, as a model says it."""
    return f"<call>{json.dumps({'name': tool, 'arguments': arguments})}</call>"


def tool_results(prompt: str) -> list[str]:
    """Returns what tools have said so far in a conversation."""
    return [turn.partition("<eos>")[0] for turn in prompt.split("<tool>")[1:]]
