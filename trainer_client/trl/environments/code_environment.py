"""An environment in which a model runs programs and submits a solution."""

from __future__ import annotations

from typing import Unpack

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.text import well_formed
from trainer_client.tools.sandbox import program_limits
from trainer_client.trl.environments.reward import EnvironmentReward
from trainer_client.trl.environments.submitting import EnvironmentOptions, SubmittingEnvironment


class CodeEnvironment(SubmittingEnvironment):
    """An environment whose tools run a program and submit a solution.

    Each program runs in a sandbox of its own, in the language of the task.

    Args:
        reward: scores the episodes; see `environment_reward`.
        cpu_time_seconds: CPU time of a program that the model runs.
        **options: see `EnvironmentOptions`.

    Raises:
        ValueError: see `SubmittingEnvironment`.

    Examples:
        >>> from trainer_client import tasks
        >>> from trainer_client.trl.environments import CodeEnvironment, environment_reward
        >>> rows = [{"task_id": 1, "test_list": ["assert double(3) == 6"]}]
        >>> reward = environment_reward("localhost:50051", task=tasks.templates("mbpp", rows))
        >>> environment = CodeEnvironment(reward)
        >>> environment.reset(task_id="1")
        >>> print(environment.run("print(input()[::-1])", stdin="abc"))
        cba
        >>> environment.submit("def double(x): return 2 * x")
        'Submitted. The tests run at the end.'
    """

    def __init__(
        self,
        reward: EnvironmentReward,
        *,
        cpu_time_seconds: float = 10.0,
        **options: Unpack[EnvironmentOptions],
    ) -> None:
        super().__init__(reward, **options)
        self._limits = program_limits(cpu_time_seconds)

    def run(self, code: str, stdin: str = "") -> str:
        """Runs a program in a sandbox without a network, and returns what it prints.

        Args:
            code: The whole program.
            stdin: The text on its standard input.

        Returns:
            What the program prints, and how it ends.
        """
        return self._use(lambda: self._run(code, stdin))

    def submit(self, code: str) -> str:
        """Submits a solution of the task. The last solution that was submitted counts.

        Args:
            code: The whole solution.

        Returns:
            A sentence about the solution.
        """
        return self._use(lambda: self._submit_code(code))

    def _run(self, code: str, stdin: str) -> str:
        request = pb.ExecuteRequest(
            language=self._asked().language,
            source=well_formed(code),
            stdin_text=well_formed(stdin),
            limits=self._limits,
        )
        return self._reward.sandbox.run(request, self._most)

    def _submit_code(self, code: str) -> str:
        reward = self._reward
        return self._submit(
            code, lambda template: reward.sandbox.score(reward.request(template, code))
        )
