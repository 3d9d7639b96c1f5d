"""A sandbox for inspect_ai: each sample of an evaluation gets a session of a reward server.

    Task(..., sandbox="codereward")                       # sessions with the server's defaults
    Task(..., sandbox=("codereward", "codereward.toml"))  # see `SessionConfig`

inspect_ai finds this module by its entry point. Environment variables name the server; see
`common.settings`. All commands of a session run as one user, who is not root.
"""

from __future__ import annotations

import asyncio
import contextlib
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, overload

from inspect_ai.util import (  # type: ignore[import-not-found]  # inspect_ai has it
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    sandboxenv,
)
from pydantic import BaseModel, ConfigDict, PositiveFloat, PositiveInt, ValidationError

from trainer_client.adapters.common.settings import shared_settings
from trainer_client.async_client import AsyncRewardClient
from trainer_client.errors import CallError, ConfigError, SessionFileError
from trainer_client.sessions.async_session import AsyncSession
from trainer_client.sessions.requests import ExecOptions, SessionOptions

_KEEP_ALIVE_SECONDS = 60.0
_MOST_OUTPUT_BYTES = 64 << 20
_SIGNALED = 128  # added to a signal's number, as shells do
_NOT_EXECUTABLE = 126
_FILE_ERRORS: dict[str, tuple[type[OSError], str]] = {
    "FILE_NOT_FOUND": (FileNotFoundError, "there is no such file"),
    "FILE_NOT_A_FOLDER": (FileNotFoundError, "a part of the path is no directory"),
    "FILE_IS_FOLDER": (IsADirectoryError, "it is a directory"),
    "FILE_NOT_PERMITTED": (PermissionError, "permission denied"),
}


class SessionConfig(BaseModel):
    """The options of the sessions of a task, as in a TOML file.

    Args:
        language: language name or alias, which decides the variables that its tools need.
        memory_bytes: memory of all processes and files.
        processes: processes and threads alive at once.
        disk_bytes: size of all files together.
        file_size_bytes: size of one file.
        environment: variables of all commands.
        lifetime_seconds: time after which a session ends, also if it is in use.
        loopback: whether it gets a loopback network of its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: str | None = None
    memory_bytes: PositiveInt | None = None
    processes: PositiveInt | None = None
    disk_bytes: PositiveInt | None = None
    file_size_bytes: PositiveInt | None = None
    environment: dict[str, str] | None = None
    lifetime_seconds: PositiveFloat | None = None
    loopback: bool | None = None

    @classmethod
    def read(cls, given: BaseModel | str | None) -> Self:
        """Reads what a task gives beside the name of the sandbox: nothing, options or a file.

        Raises:
            ConfigError: it is none of them, or an option is wrong.
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, str | None):
            raise ConfigError(f"the sandbox codereward takes a TOML file, and no {type(given)}")
        try:
            return cls.model_validate(tomllib.loads(Path(given).read_text()) if given else {})
        except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
            raise ConfigError(f"{given}: {error}") from error

    @property
    def options(self) -> SessionOptions:
        """The options that are set."""
        chosen: SessionOptions = self.model_dump(exclude_none=True)  # type: ignore[assignment]  # has its fields
        return chosen


@sandboxenv(name="codereward")
class CodeRewardSandbox(SandboxEnvironment):  # type: ignore[misc]
    """A session, in the form that inspect_ai asks for.

    Args:
        session: the session, which is open.
    """

    _clients: ClassVar[dict[asyncio.AbstractEventLoop, AsyncRewardClient]] = {}

    def __init__(self, session: AsyncSession) -> None:
        super().__init__()
        self._session = session
        self._user = ""
        self._keeping = asyncio.create_task(_keep_alive(session))

    @classmethod
    async def sample_init(
        cls, task_name: str, config: BaseModel | str | None, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Opens the session of a sample; waits while the server has no room.

        Raises:
            ConfigError: the options of the session are wrong.
            SandboxUnavailableError: the server did not open it.
        """
        session = cls._client().session(**SessionConfig.read(config).options)
        with _unavailable():
            await session.__aenter__()
        return {"default": cls(session)}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: BaseModel | str | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Closes the session of a sample."""
        for environment in environments.values():
            await environment.as_type(cls).close()

    @classmethod
    async def task_cleanup(
        cls, task_name: str, config: BaseModel | str | None, cleanup: bool
    ) -> None:
        """Closes the connections of the running event loop."""
        client = cls._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    @classmethod
    def config_files(cls) -> list[str]:
        """Returns the name of the file that is read if a task has it beside it."""
        return ["codereward.toml"]

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> BaseModel:
        """Reads options that inspect_ai has written to a log."""
        return SessionConfig.model_validate(config)

    def default_polling_interval(self) -> float:
        """Returns the seconds between two questions about a command in the background."""
        return 0.2

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult:
        """Runs a command to its end. It is not tried again after a time-out.

        Raises:
            SandboxUserUnsupportedError: the user is not that of the session.
            SandboxUnavailableError: the session is gone, or the server did not answer.
            TimeoutError: the command was stopped at its time-out.
            PermissionError: the file is not executable.
            OutputLimitExceededError: it wrote more than inspect_ai's limit.
        """
        await self._check_user(user)
        limit = min(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE, _MOST_OUTPUT_BYTES)
        options: ExecOptions = {"cwd": cwd or "", "output_bytes": limit}
        if input is not None:
            options["stdin"] = input
        if env:
            options["environment"] = env
        if timeout is not None:
            options["time_limit_seconds"] = timeout
        with _unavailable():
            # Once, whatever `timeout_retry` says: the first run may have changed files.
            result = await self._session.exec(cmd, **options)
        stdout, stderr = (
            stream.decode(errors="replace") for stream in (result.stdout, result.stderr)
        )
        if "WALL_TIME" in result.limits_hit:
            raise TimeoutError(f"{cmd[0]}: {result.explanation}")
        if result.exit_code == _NOT_EXECUTABLE and result.start_error:
            raise PermissionError(f"{cmd[0]}: {result.start_error}")
        if result.stdout_truncated or result.stderr_truncated:
            kept = stdout if result.stdout_truncated else stderr
            raise OutputLimitExceededError(SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, kept)
        code = _SIGNALED + (result.signal or 0) if result.exit_code is None else result.exit_code
        told = f"{stderr}\n" * bool(stderr) + result.explanation if result.explanation else stderr
        return ExecResult(success=result.success, returncode=code, stdout=stdout, stderr=told)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Writes a file, and makes the folders on its path.

        Raises:
            IsADirectoryError: it is a folder.
            PermissionError: the session's user may not write it.
            OSError: it cannot be written for another reason.
            SandboxUnavailableError: the session is gone, or the server did not answer.
        """
        with _unavailable(), _file_errors(file):
            await self._session.write_files({file: contents})

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Reads a file.

        Raises:
            FileNotFoundError: there is no such file.
            IsADirectoryError: it is a folder.
            PermissionError: the session's user may not read it.
            UnicodeDecodeError: it is to be read as text, and is not UTF-8.
            OutputLimitExceededError: it is larger than inspect_ai's limit.
            SandboxUnavailableError: the session is gone, or the server did not answer.
        """
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        with _unavailable(), _file_errors(file):
            content = await self._session.read_file(file, most_bytes=limit)
        return content.decode() if text else content

    async def close(self) -> None:
        """Ends the session."""
        self._keeping.cancel()
        await asyncio.wait([self._keeping])
        await self._session.close()

    async def _check_user(self, user: str | None) -> None:
        if user is None:
            return
        if not self._user:
            with _unavailable():
                told = await self._session.exec(["id", "-u"])
            self._user = told.stdout.decode(errors="replace").strip()
        if user != self._user:
            problem = f"the session cannot run a command as {user!r}: it has one user, {self._user}"
            raise SandboxUserUnsupportedError(problem)

    @classmethod
    def _client(cls) -> AsyncRewardClient:
        """Returns the client of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in cls._clients:
            settings = shared_settings()
            cls._clients[loop] = AsyncRewardClient(settings.target, **settings.options)
        return cls._clients[loop]


async def _keep_alive(session: AsyncSession) -> None:
    """Tells the server at times that the session is needed, as while a model writes for long."""
    with contextlib.suppress(CallError):  # the next command says what happened
        while True:
            await asyncio.sleep(_KEEP_ALIVE_SECONDS)
            await session.keep_alive()


@contextmanager
def _unavailable() -> Iterator[None]:
    """Gives failures of server and session the name that inspect_ai has for them."""
    try:
        yield
    except CallError as error:
        raise SandboxUnavailableError(str(error)) from error


@contextmanager
def _file_errors(path: str) -> Iterator[None]:
    """Gives failures of files the names that Python has for them."""
    try:
        yield
    except SessionFileError as error:
        if error.reason == "FILE_TOO_LARGE":
            limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR
            raise OutputLimitExceededError(limit, None) from error
        kind, problem = _FILE_ERRORS.get(error.reason, (OSError, error.message))
        raise kind(f"{path}: {problem}") from error
