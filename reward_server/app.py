"""Builds the server from its settings. Only this module knows all of the server's parts."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from reward_server.backends import Backend, running_backend
from reward_server.domain import Provenance
from reward_server.errors import SettingsError
from reward_server.evaluation import Evaluation
from reward_server.evaluation.graders.repository.repositories import Repositories
from reward_server.http.parts import Parts
from reward_server.languages import Languages, load_languages
from reward_server.operation import Condition, watch, watch_sessions
from reward_server.rpc.answers import Membership, ServerFacts
from reward_server.rpc.audit import AuditLog
from reward_server.rpc.callers import Callers, OpenCalls
from reward_server.rpc.convert import Bounds
from reward_server.rpc.health import Health
from reward_server.rpc.interceptors import Authentication, Gate
from reward_server.rpc.server import (
    Certificates,
    Endpoint,
    RpcServer,
    connections_beside,
    streams_for,
)
from reward_server.rpc.service import SERVICE, RewardService
from reward_server.rpc.sessions.service import SERVICE as SESSION_SERVICE
from reward_server.rpc.sessions.service import SessionService
from reward_server.rpc.status import CAUSES
from reward_server.rpc.strangers import Strangers, connections_to
from reward_server.rpc.tasks import StoreLimits, TaskStore
from reward_server.rpc.tracing import tracing
from reward_server.sandbox.sessions.values import SessionLimits
from reward_server.scheduler import Scheduler
from reward_server.sessions.bounds import SessionBounds
from reward_server.sessions.sessions import Sessions
from reward_server.settings import Settings, read_token_file
from reward_server.telemetry import (
    NO_SPANS,
    CountingExecutor,
    Telemetry,
    exported_spans,
    serve_metrics,
)
from reward_server.tenants.division import divided
from reward_server.tenants.quotas import InFlight
from reward_server.tenants.tenant import Credential, Tenants
from reward_server.version import commit, server_version

if TYPE_CHECKING:
    from reward_server.http.server import HttpServer

# The limit on open calls for each slot and each place of the queue. It is above 1, because a call
# that waits for the answer of an identical call takes no place in the queue. The scheduler refuses
# other calls long before this limit, with a time after which to retry.
_CALLS_PER_PLACE = 4
_CALLS_BESIDES = 64
_KILL_SECONDS = 10.0
_LOOK_SECONDS = 5.0

_Version = tuple[int, int, int]  # inode, modification time in nanoseconds, size

_log = structlog.get_logger("app")


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """A running server; `evaluation` may also be called in-process.

    `reload` reads the files of tokens and certificates again. If a file cannot be used, it raises
    SettingsError and changes nothing. `tell_health` is told whether any process behind the shared
    address can do work. Health checks of that address report this. A server of one process calls
    `tell_health` by itself. `http_address` is that of the HTTP doors, or empty.
    """

    host: str
    port: int
    http_address: str
    facts: ServerFacts
    bounds: Bounds
    scheduler: Scheduler
    evaluation: Evaluation
    tasks: TaskStore
    reload: Callable[[], None]
    telemetry: Telemetry
    tell_health: Callable[[bool], None]

    @property
    def address(self) -> str:
        """Host and port in the form that clients expect."""
        return _address(self.host, self.port)


@asynccontextmanager
async def running_app(settings: Settings) -> AsyncIterator[App]:
    """Runs a server for the length of the block, and drains it at the end.

    Raises:
        SettingsError: a setting cannot be applied on this host.
        MissingWallError: a protection is missing and was not waived.
        StartError: the address or a certificate cannot be used.
        SandboxError: no sandbox can be started.
    """
    async with running_backend(settings) as backend, serving(settings, backend) as app:
        yield app


# --------------------------------------------------------------------------------- service


@asynccontextmanager
async def serving(
    settings: Settings,
    backend: Backend,
    membership: Membership | None = None,
    report_health: Callable[[bool], None] = lambda _: None,
) -> AsyncIterator[App]:
    """Serves with a given backend for the length of the block, and drains at the end.

    Args:
        settings: the settings of this process.
        backend: runs the executions of this process.
        membership: the place of this process among the processes of the server, or None if it is
            the only one.
        report_health: called with False when jobs can no longer be run, and with True when they can
            again.

    Raises:
        SettingsError: a setting cannot be applied on this host.
        StartError: the address or a certificate cannot be used.
    """
    languages = _offered(backend)
    bounds = _bounds(settings, languages, backend)
    session_bounds = _session_bounds(settings, backend) if backend.sessions else None
    facts = replace(_facts(settings, backend, languages, membership), sessions=session_bounds)
    telemetry = Telemetry()
    telemetry.offers(languages=backend.language_versions, causes=CAUSES)
    executor = CountingExecutor(backend.executor, telemetry)
    spans = NO_SPANS
    if settings.otlp_endpoint:
        spans = exported_spans(settings.otlp_endpoint, facts.server_version)
    credentials = _credentials(settings, membership)
    tenants = Tenants(credentials or ())
    scheduler = Scheduler(
        executor,
        capacity=settings.queue_capacity,
        spans=spans,
        tenants=tenants,
        used=lambda owner, seconds: telemetry.tenant_used(tenants.of(owner).name, seconds),
    )
    sessions = _sessions(settings, backend, session_bounds, tenants, telemetry)
    evaluation = Evaluation(
        scheduler,
        languages,
        provenance={name: _provenance(backend, name) for name in backend.language_versions},
        checker_limits=settings.limits,
        window_size=settings.id_window_size,
        window_seconds=settings.id_window_seconds,
        repositories=Repositories(settings.repository_folder, of_images=backend.image_repositories),
        images=backend.images,
    )
    callers = Callers(credentials)
    strangers = Strangers(telemetry)
    gate = Gate(
        callers=callers,
        strangers=strangers,
        calls=OpenCalls(_CALLS_PER_PLACE * (scheduler.slots + scheduler.capacity) + _CALLS_BESIDES),
        check=scheduler.check,
        in_flight=InFlight(tenants, telemetry),
    )
    tasks = TaskStore(_store_limits(settings), tenants=tenants)
    audit = _audit_log(settings, membership, telemetry)
    service = RewardService(
        evaluation=evaluation,
        bounds=bounds,
        facts=facts,
        tasks=tasks,
        # The batches of an owner get half of the queue. The other half stays free for single calls.
        batch_width=scheduler.slots + settings.queue_capacity // 2,
        telemetry=telemetry,
        spans=spans,
        gate=gate,
        tenants=tenants,
        audit=audit,
    )
    server = RpcServer(
        _endpoint(settings, scheduler, membership),
        {
            SERVICE: service.handlers(),
            SESSION_SERVICE: SessionService(
                sessions, bounds=bounds, telemetry=telemetry, gate=gate, judge=service
            ).handlers(),
        },
        [Authentication(callers, strangers, telemetry), *tracing(spans)],
        state=Health(
            [SERVICE], callers=callers, strangers=strangers, is_member=membership is not None
        ),
        strangers=strangers if _knows_callers(settings) else None,
    )

    parts = Parts(
        service=service,
        evaluation=evaluation,
        bounds=bounds,
        callers=callers,
        gate=gate,
        telemetry=telemetry,
        version=facts.server_version,
        sessions=sessions,
    )
    doors = _doors(settings, parts, membership, connections_beside(scheduler.slots))

    def reload() -> None:
        credentials, certificates = _credentials(settings, membership), _certificates(settings)
        callers.replace(credentials)
        tenants.replace(credentials or ())
        scheduler.apply_quotas()
        server.replace_certificates(certificates)
        if doors is not None:
            doors.replace_certificates(_tls(settings))

    condition = Condition(asyncio.get_running_loop().time)
    watch(telemetry, scheduler, backend, condition)
    watch_sessions(telemetry, sessions)
    telemetry.state(
        "build_info",
        "Versions of the server, as labels.",
        {
            "version": facts.server_version,
            "commit": facts.commit,
            "commit_date": facts.commit_date,
            "backend": backend.name,
        },
    )
    telemetry.watch("stored_tasks", "Tasks that callers have stored.", lambda: tasks.count)
    telemetry.watch("stored_task_bytes", "Memory of the stored tasks.", lambda: tasks.size_bytes)

    def tell_own_health(serving: bool) -> None:
        if membership is None:
            server.tell_health(serving=serving)
        server.tell_process_health(serving=serving)
        report_health(serving)

    with ExitStack() as stack:
        stack.callback(spans.close)
        if audit is not None:
            stack.callback(audit.close)
        if settings.metrics_port is not None:
            stack.callback(
                serve_metrics(
                    settings.metrics_port,
                    telemetry.registry,
                    host=settings.metrics_host,
                    status_page=settings.status_page,
                )
            )
        try:
            if sessions is not None:
                await sessions.start()
            port = await server.start()
            http_port = None if doors is None else await doors.start()
            telemetry.watch(
                "connections", "Open connections of callers.", lambda: connections_to(server.ports)
            )
            telemetry.watch(
                "http_connections",
                "Open connections of callers to the HTTP doors.",
                lambda: 0 if doors is None else doors.connections,
            )
            async with (
                in_background(condition.feel(telemetry.loop_lagged)),
                in_background(_tell_health(tell_own_health, condition, backend.outages)),
                in_background(_follow_files(settings, _versions(settings), reload)),
            ):
                yield App(
                    host=settings.host,
                    port=port,
                    http_address=(
                        "" if http_port is None else _address(settings.http_host, http_port)
                    ),
                    facts=facts,
                    bounds=bounds,
                    scheduler=scheduler,
                    evaluation=evaluation,
                    tasks=tasks,
                    reload=reload,
                    telemetry=telemetry,
                    tell_health=lambda serving: server.tell_health(serving=serving),
                )
            condition.is_draining = True
            server.begin_drain()
            if doors is not None and membership is not None:
                doors.leave()
            if sessions is not None:
                sessions.begin_drain()
            async with _left(server, settings, membership):
                await asyncio.gather(
                    scheduler.drain(settings.drain_seconds),
                    _drained(sessions, settings.drain_seconds),
                )
        finally:
            await server.stop()
            if doors is not None:
                await doors.stop()
            if sessions is not None:
                await sessions.close()
            # Executions that were cancelled still have to be killed.
            await scheduler.drain(_KILL_SECONDS)


@asynccontextmanager
async def in_background(work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    """Runs a coroutine as a task for the length of the block."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def _left(
    server: RpcServer, settings: Settings, membership: Membership | None
) -> AsyncIterator[None]:
    """Sends new calls to the other processes during the block, if the server has others."""
    if membership is None:
        yield
        return
    async with in_background(server.leave(settings.drain_seconds)):
        yield


async def _tell_health(
    tell: Callable[[bool], None], condition: Condition, outages: asyncio.Queue[bool]
) -> None:
    while True:
        condition.works = await outages.get()
        tell(condition.works)


async def _follow_files(
    settings: Settings, known: list[_Version | None], reload: Callable[[], None]
) -> None:
    """Reloads the tokens and certificates when one of their files has changed.

    Args:
        settings: the settings that name the files.
        known: versions of the files that are in force.
        reload: reads the files again.
    """
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        if (found := _versions(settings)) != known:
            known = found
            reload_or_report(reload)


def reload_or_report(reload: Callable[[], None]) -> None:
    """Reloads; if that fails, logs the error and keeps the present tokens and certificates."""
    try:
        reload()
    except SettingsError as error:
        _log.error("nothing was reloaded", error=str(error))
    else:
        _log.info("tokens and certificates were reloaded")


def _versions(settings: Settings) -> list[_Version | None]:
    files = (
        settings.token_file,
        settings.tls_certificate,
        settings.tls_key,
        settings.tls_client_ca,
    )
    return [_version(file) for file in files if file is not None]


def _version(file: Path) -> _Version | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _offered(backend: Backend) -> Languages:
    known = load_languages().all
    return Languages(
        language.with_frameworks(backend.frameworks.get(language.name, ()))
        for language in known
        if language.name in backend.language_versions
    )


def _bounds(settings: Settings, languages: Languages, backend: Backend) -> Bounds:
    return Bounds(
        languages=languages,
        default_limits=settings.limits,
        maximum_limits=settings.most_limits,
        maximum_cases=settings.max_cases,
        maximum_batch=settings.max_batch,
        maximum_request_bytes=settings.max_request_bytes,
        default_time_budget_seconds=settings.time_budget_seconds,
        maximum_time_budget_seconds=settings.max_time_budget_seconds,
        networks=backend.networks,
        images=backend.images,
    )


def _audit_log(
    settings: Settings, membership: Membership | None, telemetry: Telemetry
) -> AuditLog | None:
    if settings.audit_file is None:
        return None
    path = settings.audit_file
    if membership is not None:
        path = path.with_name(f"{path.name}.process-{membership.number}")
    return AuditLog(
        path,
        file_bytes=settings.audit_file_bytes,
        files=settings.audit_files,
        count=telemetry.audited,
    )


def _session_bounds(settings: Settings, backend: Backend) -> SessionBounds:
    most, total = settings.most_limits, settings.session_memory_bytes
    greatest = SessionLimits(
        memory_bytes=min(most.memory_bytes, total),
        processes=most.processes,
        disk_bytes=most.disk_bytes,
        file_size_bytes=most.file_size_bytes,
        open_files=most.open_files,
    )
    return SessionBounds(
        total_memory_bytes=total,
        sessions=settings.session_count,
        maximum_limits=greatest,
        default_limits=SessionLimits().within(greatest),
        default_lifetime_seconds=settings.session_lifetime_seconds,
        maximum_lifetime_seconds=settings.session_max_lifetime_seconds,
        default_idle_seconds=settings.session_idle_seconds,
        maximum_idle_seconds=settings.session_max_idle_seconds,
        images=tuple(source.image for source in backend.sessions if source.image),
    )


def _sessions(
    settings: Settings,
    backend: Backend,
    bounds: SessionBounds | None,
    tenants: Tenants,
    telemetry: Telemetry,
) -> Sessions | None:
    if bounds is None:
        return None
    return Sessions(
        backend.sessions,
        warm=settings.session_warm,
        bounds=bounds,
        tenants=tenants,
        meter=telemetry,
    )


async def _drained(sessions: Sessions | None, seconds: float) -> None:
    if sessions is not None:
        await sessions.drain(seconds)


def _store_limits(settings: Settings) -> StoreLimits:
    return StoreLimits(
        owner_bytes=settings.stored_tasks_bytes,
        owner_count=settings.stored_tasks_count,
        total_bytes=settings.stored_tasks_total_bytes,
        seconds=settings.stored_tasks_seconds,
    )


def _facts(
    settings: Settings, backend: Backend, languages: Languages, membership: Membership | None
) -> ServerFacts:
    built = commit()
    return ServerFacts(
        server_version=server_version(),
        commit=built.hash,
        commit_date=built.date,
        backend=backend.name,
        languages=tuple(
            language.info(backend.language_versions[language.name]) for language in languages.all
        ),
        walls=backend.walls,
        slots=backend.executor.slots if membership is None else membership.slots,
        queue_capacity=(
            settings.queue_capacity if membership is None else membership.queue_capacity
        ),
        membership=membership,
    )


def _provenance(backend: Backend, language: str) -> Provenance:
    built = commit()
    return Provenance(
        server_version=server_version(),
        commit=built.hash,
        commit_date=built.date,
        runner_version=backend.runner_version,
        image_digest=backend.image_digests.get(language, ""),
        language_version=backend.language_versions[language],
        backend=backend.name,
        hash_seed=backend.hash_seed,
    )


def _endpoint(settings: Settings, scheduler: Scheduler, membership: Membership | None) -> Endpoint:
    return Endpoint(
        host=settings.host,
        port=settings.port,
        certificates=_certificates(settings),
        maximum_request_bytes=settings.max_request_bytes,
        maximum_connections=connections_beside(scheduler.slots),
        maximum_streams=streams_for(scheduler.slots),
        expects_strangers=_knows_callers(settings),
        own_port=None if membership is None else membership.own_port,
    )


def _doors(
    settings: Settings, parts: Parts, membership: Membership | None, connections: int
) -> HttpServer | None:
    """Returns the HTTP doors; None if the settings name no port for them.

    Raises:
        SettingsError: the packages of the extra are not installed, or a certificate is wrong.
    """
    if settings.http_port is None:
        return None
    try:
        from reward_server.http.connection import Patience
        from reward_server.http.doors import http_server
        from reward_server.http.server import HttpEndpoint
    except ImportError as error:
        raise SettingsError(
            f"http_port: HTTP doors need the extra [http] ({error}); pip install 'codereward[http]'"
        ) from None
    endpoint = HttpEndpoint(
        host=settings.http_host,
        port=settings.http_port,
        is_shared=membership is not None,
        tls=_tls(settings),
        patience=Patience(connections=connections),
    )
    return http_server(parts, endpoint, expects_strangers=_knows_callers(settings))


def check_access(settings: Settings) -> None:
    """Reads the files of tokens and certificates, as the start of a server does.

    Raises:
        SettingsError: one cannot be used.
    """
    _credentials(settings, None)
    _certificates(settings)


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _certificates(settings: Settings) -> Certificates | None:
    """Reads the certificates, and checks with `ssl` that they can be used.

    gRPC would not report what is wrong with a certificate.
    """
    chain, key, authorities = settings.tls_certificate, settings.tls_key, settings.tls_client_ca
    if chain is None or key is None:
        return None
    with _usable_files(settings):
        _loaded(chain, key, authorities)
        return Certificates(
            chain=chain.read_bytes(),
            key=key.read_bytes(),
            client_authorities=authorities.read_bytes() if authorities is not None else None,
        )


def _tls(settings: Settings) -> ssl.SSLContext | None:
    """Reads the certificates for the HTTP doors."""
    chain, key, authorities = settings.tls_certificate, settings.tls_key, settings.tls_client_ca
    if chain is None or key is None:
        return None
    with _usable_files(settings):
        return _loaded(chain, key, authorities)


def _loaded(chain: Path, key: Path, authorities: Path | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key, password=_refuse_password)
    if authorities is not None:
        context.load_verify_locations(authorities)
        context.verify_mode = ssl.CERT_REQUIRED
    return context


@contextmanager
def _usable_files(settings: Settings) -> Iterator[None]:
    """Reports what keeps the files of certificates from being used.

    Raises:
        SettingsError: one cannot be used.
    """
    try:
        yield
    except (ssl.SSLError, OSError, ValueError) as error:
        files = (settings.tls_certificate, settings.tls_key, settings.tls_client_ca)
        names = ", ".join(str(file) for file in files if file is not None)
        raise SettingsError(f"the certificates cannot be used ({names}): {error}") from None


def _refuse_password() -> str:
    raise ValueError("the key is encrypted")


def _credentials(
    settings: Settings, membership: Membership | None
) -> tuple[Credential, ...] | None:
    if settings.token_file is None:
        return None
    credentials = read_token_file(settings.token_file)
    if membership is None:
        return credentials
    return divided(credentials, membership.number, len(membership.ports))


def _knows_callers(settings: Settings) -> bool:
    """Returns True if callers have to show a credential; callers without one are strangers."""
    return settings.token_file is not None or settings.tls_client_ca is not None
