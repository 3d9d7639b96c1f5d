"""An environment in which a model works with a shell, an interpreter and files."""

from __future__ import annotations

from typing import Any, Unpack

from trainer_client.errors import CallError, SessionEndedError, SessionFileError
from trainer_client.rewards.judged import Template
from trainer_client.score import Score
from trainer_client.sessions.requests import SessionOptions
from trainer_client.text import well_formed
from trainer_client.tools import words
from trainer_client.trl.environments.in_session import OUTPUT_BYTES, EnvironmentWithSession
from trainer_client.trl.environments.reward import EnvironmentReward
from trainer_client.trl.environments.submitting import (
    EnvironmentOptions,
    broken_session,
    unjudged,
)

_SOLUTION_BYTES = 1 << 20  # a larger completion does not compile


class SessionEnvironment(EnvironmentWithSession):
    """An environment whose tools are a shell, an interpreter and files, in a session of its own.

    A session opens at the first use of a tool. It begins with the data files of the task and, for
    tests of a repository that is an archive, with the files of the repository. What it holds at the
    end of the episode is judged elsewhere, in a fresh execution. For tests of a repository this is
    the working folder, and for all other tests it is one file.

    Args:
        reward: scores the episodes; see `environment_reward`.
        completion_path: the file that is the solution, unless the tests are those of a repository.
        time_limit_seconds: time of one command, or of one call of the interpreter.
        session: options of the sessions, such as their memory and lifetime. All sessions of a batch
            are open at the same time.
        **options: see `EnvironmentOptions`.

    Raises:
        ValueError: see `SubmittingEnvironment`.

    Examples:
        >>> from trainer_client import tasks
        >>> from trainer_client.trl.environments import SessionEnvironment, environment_reward
        >>> rows = [{"task_id": 1, "test_list": ["assert double(3) == 6"]}]
        >>> reward = environment_reward("localhost:50051", task=tasks.templates("mbpp", rows))
        >>> environment = SessionEnvironment(reward, feedback="verdict")
        >>> print(environment.reset(task_id="1").strip())
        The file solution.py in the working folder is your solution. Only this file is judged.
        >>> environment.write_file("solution.py", "def double(x): return 2 * x")
        'Written.'
        >>> environment.bash("python3 -c 'import solution; print(solution.double(4))'")
        '8'
        >>> environment.submit()
        'All tests passed. The task is over. End your turn.'
    """

    def __init__(
        self,
        reward: EnvironmentReward,
        *,
        completion_path: str = "solution.py",
        time_limit_seconds: float = 30.0,
        session: SessionOptions | None = None,
        **options: Unpack[EnvironmentOptions],
    ) -> None:
        super().__init__(reward, time_limit_seconds=time_limit_seconds, session=session, **options)
        self._completion_path = completion_path

    def reset(self, **row: Any) -> str | None:
        """Begins an episode; the session of the last one ends.

        Args:
            **row: the row of the data set.

        Returns:
            What is judged, which TRL adds to the prompt; None if the row has no task.
        """
        super().reset(**row)
        if self.episode.template is None:
            return None
        path = self._judged_path()
        return words.FOLDER_IS_JUDGED if not path else words.FILE_IS_JUDGED.format(path=path)

    def bash(self, command: str) -> str:
        """Runs a command in bash, in the working folder, and returns what it prints.

        Files and processes of earlier commands are still there; variables and the current folder
        are not.

        Args:
            command: The command.

        Returns:
            What the command prints, and how it ends.
        """
        return self._use(lambda: self._bash(command))

    def run_python(self, code: str) -> str:
        """Runs Python code in an interpreter that keeps its variables for the next call.

        Args:
            code: The code.

        Returns:
            What the code prints, and the value of its last expression.
        """
        return self._use(lambda: self._run_code(code))

    def read_file(self, path: str) -> str:
        """Reads a file.

        Args:
            path: The path, absolute or relative to the working folder.

        Returns:
            The content of the file.
        """
        return self._use(lambda: self._read(path))

    def write_file(self, path: str, content: str) -> str:
        """Writes a whole file, with the folders that it needs.

        Args:
            path: The path, absolute or relative to the working folder.
            content: The content of the file.

        Returns:
            A confirmation.
        """
        return self._use(lambda: self._write(path, content))

    def submit(self) -> str:
        """Submits the files. What the files are at the end of the task counts.

        Returns:
            A sentence about the files.
        """
        return self._use(self._submit_files)

    def _bash(self, command: str) -> str:
        result = self._opened().exec(
            ["bash", "-c", well_formed(command)],
            time_limit_seconds=self._time_limit_seconds,
            output_bytes=OUTPUT_BYTES,
        )
        return words.command_told(result, self._most)

    def _read(self, path: str) -> str:
        content = self._opened().read_file(well_formed(path))
        return words.shortened(content.decode("utf-8", "replace"), self._most)

    def _write(self, path: str, content: str) -> str:
        self._opened().write_files({well_formed(path): well_formed(content)})
        return "Written."

    def _submit_files(self) -> str:
        """Submits them, unless the file that is the solution cannot be judged."""
        path = self._judged_path()
        try:
            if path:
                self._opened().read_file(path, most_bytes=_SOLUTION_BYTES)
        except SessionFileError as error:
            return f"[refused: {path} is the file that is judged; {error.message}]"
        return self._submit(None, self._judged)

    def _judged_path(self) -> str:
        """Returns the file that is the solution; "" if the working folder is."""
        is_repository = self._asked().WhichOneof("tests") == "repository"
        return "" if is_repository else self._completion_path

    def _judged(self, template: Template) -> Score:
        """Judges what the session holds."""
        asked = self._reward.request(template, "").make()
        return self._opened().score(asked, completion_path=self._judged_path())

    def _conclusion(self) -> Score | None:
        episode = self.episode
        if episode.is_over or episode.failure or episode.template is None:
            return episode.score
        try:
            return self._judged(episode.template)
        except CallError as error:
            is_broken = isinstance(error, SessionEndedError) and error.blame == "session"
            return broken_session(error) if is_broken else unjudged(error)
