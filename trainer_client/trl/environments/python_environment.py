"""An environment whose only tool is an interpreter of Python that keeps its state."""

from __future__ import annotations

from trainer_client.sessions.requests import SessionOptions
from trainer_client.trl.environments.in_session import EnvironmentWithSession
from trainer_client.trl.environments.reward import EnvironmentReward


class PythonEnvironment(EnvironmentWithSession):
    """An environment whose only tool is `run_python`, which keeps its variables in an episode.

    TRL calls a function of `tools=` without saying for which episode, so that such a function can
    keep nothing. An environment has one interpreter for each episode. It opens at the first call,
    and closes when the reward scores the episode. The last message of the model is judged, as by
    `remote_reward`.

    Args:
        reward: scores the episodes; see `environment_reward`.
        time_limit_seconds: time of one call, after which the code is interrupted.
        output_characters: characters of an output that the model is told.
        session: options of the session in which the interpreter runs, such as `memory_bytes`.

    Raises:
        ValueError: a number is below 1.

    Examples:
        >>> from trainer_client import tasks
        >>> from trainer_client.trl.environments import PythonEnvironment, environment_reward
        >>> rows = [{"task_id": 1, "test_list": ["assert double(3) == 6"]}]
        >>> reward = environment_reward("localhost:50051", task=tasks.templates("mbpp", rows))
        >>> environment = PythonEnvironment(reward)
        >>> environment.reset(task_id="1")
        >>> environment.run_python("x = 6")
        '[no output]'
        >>> environment.run_python("x * 7")
        '42'
    """

    def __init__(
        self,
        reward: EnvironmentReward,
        *,
        time_limit_seconds: float = 30.0,
        output_characters: int = 4000,
        session: SessionOptions | None = None,
    ) -> None:
        super().__init__(
            reward,
            time_limit_seconds=time_limit_seconds,
            session=session,
            output_characters=output_characters,
        )

    def run_python(self, code: str) -> str:
        """Runs Python code in an interpreter that keeps its variables for the next call.

        Args:
            code: The code.

        Returns:
            What the code prints, and the value of its last expression.
        """
        return self._use(lambda: self._run_code(code))
