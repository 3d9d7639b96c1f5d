"""What environments with a session have in common: the session of an episode, and its end."""

from __future__ import annotations

import contextlib
import io
import tarfile
import weakref
from collections.abc import Mapping
from typing import Any, Unpack

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import CallError
from trainer_client.score import Score
from trainer_client.sessions.requests import SessionOptions
from trainer_client.sessions.sync_session import Session
from trainer_client.text import well_formed
from trainer_client.tools import words
from trainer_client.trl.environments.reward import EnvironmentReward
from trainer_client.trl.environments.submitting import EnvironmentOptions, SubmittingEnvironment

OUTPUT_BYTES = 1 << 20


class EnvironmentWithSession(SubmittingEnvironment):
    """An environment with a session of its own.

    The session opens at the first use of a tool. It ends with the episode: when the reward scores
    it, at the next `reset`, when the environment is deleted, and when the process ends.

    Args:
        reward: scores the episodes.
        time_limit_seconds: time of one call of a tool.
        session: options of the session.
        **options: see `EnvironmentOptions`.

    Raises:
        ValueError: see `SubmittingEnvironment`.
    """

    def __init__(
        self,
        reward: EnvironmentReward,
        *,
        time_limit_seconds: float = 30.0,
        session: SessionOptions | None = None,
        **options: Unpack[EnvironmentOptions],
    ) -> None:
        super().__init__(reward, **options)
        self._time_limit_seconds = time_limit_seconds
        self._session_options = session or {}
        self._session: Session | None = None
        self._closing: weakref.finalize[..., EnvironmentWithSession] | None = None

    def reset(self, **row: Any) -> str | None:
        """Begins an episode; the session of the last one ends.

        Args:
            **row: the row of the data set.

        Returns:
            What TRL adds to the prompt, if anything.
        """
        self._close()
        return super().reset(**row)

    def _conclusion(self) -> Score | None:
        """Returns the score of an episode that ends, if there is one."""
        return self.episode.score

    def _run_code(self, code: str) -> str:
        """Runs code in the interpreter of the session, and returns what the model is told."""
        result = self._opened().run_code(
            well_formed(code),
            time_limit_seconds=self._time_limit_seconds,
            output_bytes=OUTPUT_BYTES,
        )
        return words.code_told(result, self._most)

    def _opened(self) -> Session:
        """Returns the session of the episode, which ends when the episode is scored."""
        if self._session is None:
            self._session = self._begun(self._asked())
            self._closing = weakref.finalize(self, self._session.abandon)
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

    def _settled(self) -> Score | None:
        """Concludes the episode, and closes the session."""
        try:
            return self._conclusion()
        finally:
            self._close()

    def _close(self) -> None:
        session, closing = self._session, self._closing
        self._session = self._closing = None
        if session is not None and closing is not None and closing.detach():
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
