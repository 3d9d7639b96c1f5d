"""The tool `run_python`, which belongs to no episode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.async_client import AsyncRewardClient
from trainer_client.text import well_formed
from trainer_client.tools.sandbox import Sandbox, program_limits
from trainer_client.transport.channel import ConnectionOptions, Target


def python_tool(
    target: Target,
    *,
    cpu_time_seconds: float = 10.0,
    output_characters: int = 4000,
    **connection: Unpack[ConnectionOptions],
) -> Callable[[str], str]:
    """Makes the tool `run_python`, which runs a program in a sandbox and keeps nothing of it.

    If the server cannot be reached, the tool raises a `CallError`, which TRL shows to the model. In
    a `CodeEnvironment`, such an episode has no reward.

    Args:
        target: the servers; see `channel.Connection`, also for the other options.
        cpu_time_seconds: CPU time of a program.
        output_characters: characters of an output that the model is told.

    Examples:
        >>> from trainer_client.trl.environments import python_tool
        >>> run_python = python_tool("localhost:50051")  # for `tools=[run_python]`
        >>> run_python("print(6 * 7)")
        '42'
    """
    sandbox = Sandbox(AsyncRewardClient(target, **connection))
    return _PythonTool(sandbox, cpu_time_seconds, output_characters).run_python


class _PythonTool:
    """A method of it is the tool, so that trainers can pickle the tool."""

    def __init__(self, sandbox: Sandbox, cpu_time_seconds: float, most: int) -> None:
        self._sandbox = sandbox
        self._limits = program_limits(cpu_time_seconds)
        self._most = most

    def run_python(self, code: str) -> str:
        """Runs a Python program in a sandbox without a network, and returns what it prints.

        Args:
            code: The whole program.

        Returns:
            What the program prints, and how it ends.
        """
        request = pb.ExecuteRequest(source=well_formed(code), limits=self._limits)
        return self._sandbox.run(request, self._most)
