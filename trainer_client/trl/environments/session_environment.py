"""An environment in which a model works with a shell, an interpreter and files."""

from __future__ import annotations

import contextlib
import io
import tarfile
from collections.abc import Mapping
from typing import Any, Unpack

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import CallError, SessionEndedError
from trainer_client.rewards.judged import Template
from trainer_client.score import Score
from trainer_client.sessions.requests import SessionOptions
from trainer_client.sessions.sync_session import Session
from trainer_client.text import well_formed
from trainer_client.tools import words
from trainer_client.trl.environments.reward import EnvironmentReward
from trainer_client.trl.environments.submitting import (
    EnvironmentOptions,
    SubmittingEnvironment,
    broken_session,
    unjudged,
)

_OUTPUT_BYTES = 1 << 20


class SessionEnvironment(SubmittingEnvironment):
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
        >>> environment.reset(task_id="1")
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
        super().__init__(reward, **options)
        self._completion_path = completion_path
        self._time_limit_seconds = time_limit_seconds
        self._session_options = session or {}
        self._session: Session | None = None

    def reset(self, **row: Any) -> None:
        """Begins an episode; the session of the last one ends.

        Args:
            **row: the row of the data set.
        """
        self._close()
        super().reset(**row)

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
        return self._use(lambda: self._run_python(code))

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
        return self._use(lambda: self._submit(None, self._judged))

    def _bash(self, command: str) -> str:
        result = self._opened().exec(
            ["bash", "-c", well_formed(command)],
            time_limit_seconds=self._time_limit_seconds,
            output_bytes=_OUTPUT_BYTES,
        )
        return words.command_told(result, self._most)

    def _run_python(self, code: str) -> str:
        result = self._opened().run_code(
            well_formed(code),
            time_limit_seconds=self._time_limit_seconds,
            output_bytes=_OUTPUT_BYTES,
        )
        return words.code_told(result, self._most)

    def _read(self, path: str) -> str:
        content = self._opened().read_file(well_formed(path))
        return words.shortened(content.decode("utf-8", "replace"), self._most)

    def _write(self, path: str, content: str) -> str:
        self._opened().write_files({well_formed(path): well_formed(content)})
        return "Written."

    def _opened(self) -> Session:
        """Returns the session of the episode, which is judged at the end."""
        if self._session is None:
            self._session = self._begun(self._asked())
        self.episode.settle = self._settled
        return self._session

    def _begun(self, asked: pb.ScoreRequest) -> Session:
        """Opens a session with the files of the task.

        Raises:
            CallError: there is none, or the files could not be written.
        """
        files = given_files(asked)
        session = self._reward.sandbox.open({"language": asked.language, **self._session_options})
        try:
            session.write_files(files)
        except CallError as error:
            session.close()
            # The model has no part in this, so it is no error of one of its files.
            raise CallError(error.status, f"the files of the task: {error.message}") from error
        return session

    def _judged(self, template: Template) -> Score:
        """Judges what the session holds."""
        asked = self._reward.request(template, "").make()
        is_repository = asked.WhichOneof("tests") == "repository"
        path = "" if is_repository else self._completion_path
        return self._opened().score(asked, completion_path=path)

    def _settled(self) -> Score | None:
        """Judges what the session holds at the end of the episode, and closes the session."""
        try:
            return self._conclusion()
        finally:
            self._close()

    def _conclusion(self) -> Score | None:
        episode = self.episode
        if episode.is_over or episode.failure or episode.template is None:
            return episode.score
        try:
            return self._judged(episode.template)
        except CallError as error:
            is_broken = isinstance(error, SessionEndedError) and error.blame == "session"
            return broken_session(error) if is_broken else unjudged(error)

    def _close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(CallError):
                session.close()


def given_files(task: pb.ScoreRequest) -> dict[str, bytes]:
    """Returns the files with which a session of a task begins; hidden tests are not among them.

    Raises:
        CallError: only the server has the files of the repository, or its archive is broken.
    """
    files = dict(task.data_files)
    files |= {path: text.encode() for path, text in task.text_data_files.items()}
    if task.WhichOneof("tests") == "repository":
        files |= _repository_files(task.repository)
    return files


def _repository_files(repository: pb.RepositoryTests) -> Mapping[str, bytes]:
    if not repository.archive:
        problem = "repository.folder: a session needs its files; send them as repository.archive"
        raise CallError("FAILED_PRECONDITION", problem)
    try:
        return archived_files(repository.archive)
    except tarfile.TarError as error:
        raise CallError("INVALID_ARGUMENT", f"repository.archive: {error}") from error


def archived_files(archive: bytes) -> Mapping[str, bytes]:
    """Returns the regular files of a tar archive, and copies of the files that links lead to.

    Raises:
        tarfile.TarError: it is no tar archive.
    """
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        for member in members:
            file = members.extractfile(member)
            if file is not None:
                found[member.name] = file.read()
    return found
