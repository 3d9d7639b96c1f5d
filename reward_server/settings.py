"""The only schema of all settings, and the only reader of the environment.

A flag takes precedence over an environment variable `REWARD_SERVER_<NAME>`, and the variable over
the TOML file. `REWARD_SERVER_DEFAULT_LIMITS__CPU_TIME_SECONDS` sets one key of a table.
"""

from __future__ import annotations

import os
import secrets
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    DirectoryPath,
    Field,
    FilePath,
    PositiveInt,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from codereward.spelling import did_you_mean, unknown_variables
from reward_server.domain import MEBIBYTE, Limits
from reward_server.errors import SettingsError
from reward_server.http.sockets import is_loopback
from reward_server.sandbox.local.cpu_quota import usable_cpus
from reward_server.tenants.tenant import Credential
from reward_server.tenants.token_file import first_token, parse_token_file

PREFIX = "REWARD_SERVER_"
FILE_VARIABLE = "REWARD_SERVER_CONFIG"
# Variables that the commands, the scripts for Slurm and the tests read.
_OTHERS = frozenset(
    {"CONFIG", "EDGE_SECONDS", "FOLDER", "JOBS_CONF", "NODE", "START_SECONDS", "TEST_ALL"}
)
LEAST_SESSION_MEMORY_BYTES = 64 * MEBIBYTE
DEFAULT_MAXIMUM_LIMITS = Limits(
    cpu_time_seconds=300.0,
    wall_time_seconds=600.0,
    memory_bytes=8192 * MEBIBYTE,
    processes=512,
    file_size_bytes=1024 * MEBIBYTE,
    disk_bytes=1024 * MEBIBYTE,
    open_files=4096,
    output_bytes=64 * MEBIBYTE,
    result_bytes=64 * MEBIBYTE,
    calls=10_000_000,
)


def _split(separator: str) -> BeforeValidator:
    """Accepts text in place of a list, as flags and the environment contain it."""

    def split(value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(part.strip() for part in value.split(separator) if part.strip())

    return BeforeValidator(split)


def _count_or_auto(value: object) -> object:
    return 0 if value == "auto" else value


def _refuse_service_link(value: object) -> object:
    if isinstance(value, str) and "://" in value:
        raise ValueError(
            "is an address that Kubernetes sets for a Service of this name; "
            "set `enableServiceLinks: false` in the pod"
        )
    return value


Names = Annotated[tuple[str, ...], NoDecode, _split(",")]
Folders = Annotated[tuple[Path, ...], NoDecode, _split(os.pathsep)]
Port = Annotated[int, Field(ge=0, le=65535)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
PatienceSeconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class LimitSettings(BaseModel):
    """Limits that replace the built-in ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cpu_time_seconds: Seconds | None = None
    """CPU time of the whole process tree, in seconds."""
    wall_time_seconds: Seconds | None = None
    """Wall time, in seconds."""
    memory_bytes: PositiveInt | None = None
    """Memory of the whole process tree, in bytes."""
    processes: PositiveInt | None = None
    """Processes and threads alive at once."""
    file_size_bytes: PositiveInt | None = None
    """Size of one file, in bytes; standard output and standard error are files, too."""
    disk_bytes: PositiveInt | None = None
    """Size of all files together, in bytes."""
    open_files: PositiveInt | None = None
    """Open descriptors of one process."""
    output_bytes: PositiveInt | None = None
    """Standard output and standard error together, in bytes."""
    result_bytes: PositiveInt | None = None
    """Size of one encoded result that crosses to the judge, in bytes."""
    calls: PositiveInt | None = None
    """Calls from the judge into the candidate."""

    def over(self, limits: Limits) -> Limits:
        """Returns the given limits; each limit that is set here replaces the given one."""
        return replace(limits, **self.model_dump(exclude_none=True))


class Settings(BaseSettings):
    """All settings of the server; they are frozen once read."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
    )

    host: str = "127.0.0.1"
    """Address to listen on. Any other address than loopback needs TLS and credentials."""
    port: Annotated[Port, BeforeValidator(_refuse_service_link)] = 50051
    """TCP port to listen on; 0 takes any free port."""
    tls_certificate: FilePath | None = None
    """PEM file with the server's certificate chain. It is read again when it changes."""
    tls_key: FilePath | None = None
    """PEM file with the key of `tls_certificate`."""
    tls_client_ca: FilePath | None = None
    """PEM file. Clients must show a certificate that it signed."""
    token_file: FilePath | None = None
    """File with a bearer token on each line, or with tenants in TOML. A client must send one of the
    tokens. See Tenants."""
    insecure_public: bool = False
    """Allows a public address without TLS or credentials. Everybody who can reach the port can then
    run programs here and read what others send."""
    max_request_bytes: int = Field(default=32 * MEBIBYTE, ge=1024, le=512 * MEBIBYTE)
    """Greatest size of a request, in bytes."""
    max_cases: PositiveInt = 1000
    """Greatest number of test cases in a request."""
    max_batch: PositiveInt = 1024
    """Greatest number of requests in a `ScoreBatch` call."""
    stored_tasks_bytes: int = Field(default=256 * MEBIBYTE, ge=0)
    """Memory for the stored tasks of one credential, in bytes; 0 stores none."""
    stored_tasks_count: PositiveInt = 4096
    """Greatest number of stored tasks of one credential."""
    stored_tasks_total_bytes: int = Field(default=1024 * MEBIBYTE, ge=0)
    """Memory for the stored tasks of all credentials, in bytes. A credential never displaces tasks
    of another."""
    stored_tasks_seconds: Seconds = 3600.0
    """Time after which a stored task that no request named is forgotten, in seconds."""
    drain_seconds: PatienceSeconds = 30.0
    """Time that running work has to finish after a stop signal, in seconds."""
    metrics_port: Port | None = None
    """TCP port of metrics, probes (`/healthz`, `/readyz`) and the status page. If it is not set,
    there are none."""
    metrics_host: str = "127.0.0.1"
    """Address of `metrics_port`. It takes no credential: on another address than loopback everybody
    who can reach it sees the figures, which name no task and no program."""
    status_page: bool | None = None
    """Whether a status page is served at `metrics_port`; by default only on a loopback address."""
    http_port: Port | None = None
    """TCP port of the HTTP doors; 0 takes any free port. If it is not set, there are none. They
    need the extra `[http]`, and take the credentials and certificates of `port`. See The HTTP
    doors."""
    http_host: str = "127.0.0.1"
    """Address of `http_port`. Any other address than loopback needs TLS and credentials."""
    otlp_endpoint: str = ""
    """Address of a collector that takes spans of OpenTelemetry over OTLP and gRPC, such as
    `http://127.0.0.1:4317`; needs the extra `[otel]`. If it is empty, there are none."""
    audit_file: Path | None = None
    """File with a JSON line for each completion that was judged: when, for which tenant, with what
    result, and digests of completion and stored task. If it is not set, there is none. Each of
    several processes has a file of its own, with its number behind the name."""
    audit_file_bytes: int = Field(default=64 * MEBIBYTE, ge=64 * 1024)
    """Size at which the audit file is rotated, in bytes."""
    audit_files: Annotated[int, Field(ge=1, le=10_000)] = 16
    """Number of older audit files that are kept."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """Least severity of the log lines that are written to standard error."""

    backend: Literal["local", "docker", "socket"] = "local"
    """What runs programs in isolation: bubblewrap, a Docker Engine, or runners at sockets."""
    runtime: str = ""
    """Container runtime of the docker backend, such as `runsc`; if empty, the engine's default."""
    images: Names = ()
    """Images of the docker backend, by name, the most wanted first. If empty, all images in the
    engine that this project built."""
    languages: Names = ()
    """Languages to offer, by name; if empty, all that the backend has."""
    sockets: Folders = ()
    """Sockets on which the runners of the socket backend listen. Each is one slot."""
    workers: int = Field(default_factory=usable_cpus, ge=1, le=1024)
    """Number of executions at once; by default one for each whole CPU that affinity and the quotas
    of its cgroups leave to the server."""
    processes: Annotated[int, BeforeValidator(_count_or_auto), Field(ge=0, le=256)] = 1
    """Number of serving processes, which share the address, the slots and the queue; `auto` (or 0)
    for one for each five slots."""
    process_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """First of the ports at which several processes can be reached one by one, for example by a
    proxy that balances requests; the others follow it. If it is not set, any free ports."""
    process_cpus: Literal["shared", "own"] = "shared"
    """CPUs of several processes and their sandboxes: `shared` lets all run everywhere, `own` gives
    each an equal part of the CPUs."""
    allow_missing: Names = ()
    """Protections that may be missing on this host, by the names that `doctor` prints."""
    recycle_after_executions: PositiveInt = 2000
    """Number of executions after which a container is replaced by a fresh one."""
    recycle_after_seconds: Seconds = 1800.0
    """Age at which a container is replaced by a fresh one, in seconds."""
    sandbox_packages: Folders = ()
    """Folders of Python packages that programs in the local backend can import."""
    sandbox_preload: Names = ()
    """Modules that the local backend imports once instead of in each execution."""
    compiler_folder: Path | None = None
    """Folder that `reward-server compilers` made, from which the compilers of the local backend
    start faster. If it is not set, the folder that the command makes by default is used if there is
    one, and else the compilers run as they are installed."""
    sandbox_uid: PositiveInt | None = None
    """First user id of the containers of a local backend that runs as root; by default high ids, or
    the highest that exist in this user namespace."""
    hash_seed: int = Field(default_factory=lambda: secrets.randbits(32), ge=0, le=(1 << 32) - 1)
    """Hash seed of all interpreters of Python, as PYTHONHASHSEED sets it: it decides the order of
    sets of strings. By default it is drawn once at each start of the server. Answers name it in
    their provenance."""
    cgroup_parent: str | None = None
    """Control group below which the local backend creates its own; by default the server's own."""

    repository_folder: DirectoryPath | None = None
    """Folder whose folders are repositories that tests can name. They must not change while the
    server runs. If it is not set, a request brings its repository as an archive."""
    queue_capacity: PositiveInt = 256
    """Number of submissions that may wait. Further ones are refused with a time to retry."""
    default_limits: LimitSettings = LimitSettings()
    """Limits of an execution whose request sets none; see Limits."""
    maximum_limits: LimitSettings = LimitSettings()
    """Greatest limits that a request may set; see Limits."""
    time_budget_seconds: Seconds = 240.0
    """Wall time that all executions of a request share if the request sets none, in seconds."""
    max_time_budget_seconds: Seconds = 3600.0
    """Greatest time budget that a request may set, in seconds."""
    session_memory_bytes: int = Field(default=0, ge=0)
    """Memory of all open sessions together, in bytes; 0 offers no sessions. Sessions need the local
    or the docker backend, and a server of one process. See Sessions."""
    session_count: Annotated[int, Field(ge=1, le=4096)] = 64
    """Greatest number of open sessions."""
    session_warm: Annotated[int, Field(ge=0, le=256)] = 2
    """Number of sandboxes for sessions that are kept warm. A session that finds none waits for a
    start."""
    session_cpu_cores: Annotated[float, Field(ge=0.01, le=1024)] = 1.0
    """CPU time per wall time that one session may use."""
    session_lifetime_seconds: Seconds = 1800.0
    """Lifetime of a session whose request sets none, in seconds."""
    session_max_lifetime_seconds: Seconds = 14_400.0
    """Greatest lifetime of a session, in seconds."""
    session_idle_seconds: Seconds = 300.0
    """Time after which a session ends in which nothing happens if its request sets none, in
    seconds."""
    session_max_idle_seconds: Seconds = 3600.0
    """Greatest idle limit of a session, in seconds."""
    id_window_size: int = Field(default=4096, ge=0)
    """Number of answers that are kept and repeated to requests with the same id."""
    id_window_seconds: PatienceSeconds = 600.0
    """Time that such an answer is kept, in seconds."""

    @property
    def limits(self) -> Limits:
        """Limits of an execution whose request sets none."""
        return self.default_limits.over(Limits())

    @property
    def most_limits(self) -> Limits:
        """Greatest limits that a request may set."""
        return self.maximum_limits.over(DEFAULT_MAXIMUM_LIMITS)

    @model_validator(mode="after")
    def _check_together(self) -> Settings:
        self._check_certificates()
        self._check_exposure()
        self._check_limits()
        self._check_sessions()
        return self

    def _check_certificates(self) -> None:
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ValueError("tls_certificate and tls_key go together: set both or neither")
        if self.tls_client_ca is not None and self.tls_certificate is None:
            raise ValueError("tls_client_ca needs tls_certificate and tls_key")

    def _check_exposure(self) -> None:
        self._check_exposed("host", self.host)
        if self.http_port is not None:
            self._check_exposed("http_host", self.http_host)

    def _check_exposed(self, name: str, host: str) -> None:
        if self.insecure_public or is_loopback(host):
            return
        if self.tls_certificate is None:
            raise ValueError(
                f"{name} {host} can be reached from other machines, which needs "
                "tls_certificate and tls_key (or --insecure-public to accept the risk)"
            )
        if self.token_file is None and self.tls_client_ca is None:
            raise ValueError(
                f"{name} {host} can be reached from other machines, which needs "
                "token_file or tls_client_ca (or --insecure-public to accept the risk)"
            )

    def _check_sessions(self) -> None:
        if not self.session_memory_bytes:
            return
        if self.session_memory_bytes < LEAST_SESSION_MEMORY_BYTES:
            raise ValueError(
                f"session_memory_bytes is {self.session_memory_bytes}; it must be 0, or at least "
                f"{LEAST_SESSION_MEMORY_BYTES} for one session"
            )
        if self.backend == "socket":
            raise ValueError(
                f"session_memory_bytes: the {self.backend} backend offers no sessions; set it to "
                "0, or backend to local or docker"
            )
        for name in ("lifetime", "idle"):
            default = getattr(self, f"session_{name}_seconds")
            most = getattr(self, f"session_max_{name}_seconds")
            if default > most:
                raise ValueError(
                    f"session_{name}_seconds is {default}, above session_max_{name}_seconds of "
                    f"{most}"
                )

    def _check_limits(self) -> None:
        if self.time_budget_seconds > self.max_time_budget_seconds:
            raise ValueError(
                f"time_budget_seconds is {self.time_budget_seconds}, above "
                f"max_time_budget_seconds of {self.max_time_budget_seconds}"
            )
        for name in LimitSettings.model_fields:
            default, most = getattr(self.limits, name), getattr(self.most_limits, name)
            if default > most:
                raise ValueError(
                    f"default_limits.{name} is {default}, above maximum_limits.{name} of {most}"
                )


def load_settings(
    flags: Mapping[str, Any], file: Path | None = None, assigned: Collection[str] = ()
) -> Settings:
    """Reads the settings from flags, the environment and a TOML file.

    Args:
        flags: settings from the command line, by name, without those that were not given.
        file: the TOML file; by default the one that REWARD_SERVER_CONFIG names, if any.
        assigned: the names among `flags` that `--set` gave, for messages.

    Raises:
        SettingsError: a setting is unknown or wrong; the message names each, and where it was set.
    """
    if file is None and FILE_VARIABLE in os.environ:
        file = Path(os.environ[FILE_VARIABLE])
    table = _read_table(file) if file is not None else {}
    if unknown := list(unknown_variables(os.environ, PREFIX, Settings.model_fields, _OTHERS)):
        raise SettingsError("\n".join(unknown))

    class Sourced(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return init_settings, env_settings, InitSettingsSource(settings_cls, table)

    try:
        return Sourced(**flags)
    except ValidationError as error:
        raise SettingsError(_explain(error, _Sources(flags, assigned, file))) from None


def read_token_file(file: Path) -> tuple[Credential, ...]:
    """Reads the valid bearer tokens and their tenants; see `tenants.token_file`.

    Raises:
        SettingsError: the file cannot be read, or a line of it is wrong.
    """
    return parse_token_file(_read(file), file)


def read_first_token(file: Path) -> str | None:
    """Reads one valid bearer token, or None if the file only holds digests of tokens.

    Raises:
        SettingsError: the file cannot be read, or a line of it is wrong.
    """
    return first_token(_read(file), file)


def _read_table(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_read(file))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file} is not TOML: {error}") from None


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{file} is not UTF-8 text") from None


class _Sources(NamedTuple):
    flags: Mapping[str, Any]
    assigned: Collection[str]
    file: Path | None

    def of(self, path: Sequence[str]) -> str:
        """Returns where a setting was set."""
        variable = PREFIX + "__".join(path).upper()
        if path[0] in self.assigned:
            return f"--set {'.'.join(path)}"
        if path[0] in self.flags:
            return f"--{path[0].replace('_', '-')}"
        if PREFIX + path[0].upper() in os.environ or variable in os.environ:
            return variable
        return str(self.file)


def _explain(error: ValidationError, sources: _Sources) -> str:
    problems = error.errors(include_url=False, include_context=False)
    return "\n".join(_explain_one(problem, sources) for problem in problems)


def _explain_one(problem: ErrorDetails, sources: _Sources) -> str:
    path = [str(part) for part in problem["loc"]]
    said = problem["msg"].removeprefix("Value error, ")
    if not path:
        return said
    if problem["type"] == "extra_forbidden":
        kind = Settings if len(path) == 1 else LimitSettings
        said = f"is no setting{did_you_mean(path[-1], kind.model_fields)}"
    return f"{'.'.join(path)}: {said} (set by {sources.of(path)})"
