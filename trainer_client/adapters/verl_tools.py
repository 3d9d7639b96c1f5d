"""A tool for verl's agent loop: a program runs in a sandbox of a reward server.

    actor_rollout_ref.rollout.multi_turn.function_tool_path=PATH/verl_tools.py

PATH is the folder of this module. Environment variables set the server; see `common.settings`.
"""

from __future__ import annotations

from verl.tools.function_tool import function_tool  # type: ignore[import-not-found]  # verl has it

from trainer_client.adapters.common.settings import shared_tool


@function_tool("code_interpreter")  # type: ignore[untyped-decorator]  # untyped there
def code_interpreter(code: str) -> str:
    """Runs a Python program in a sandbox without a network, and returns what it prints.

    Args:
        code: The whole program.
    """
    return shared_tool()(code)
