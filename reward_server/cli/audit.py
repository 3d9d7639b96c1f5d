"""`reward-server audit`: can the tasks of a file be solved, and can they be gamed?"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from reward_server.audit.examination import Options
from reward_server.audit.findings import KINDS, Severities
from reward_server.audit.other_graders.results import GraderResult
from reward_server.audit.output.document import Audit, document
from reward_server.audit.tasks import Task, TaskLineError, read_tasks
from reward_server.cli.audits.files import make_folder, write_files
from reward_server.cli.audits.graders import Grader, try_grader
from reward_server.cli.audits.judging import Judging
from reward_server.cli.audits.printing import print_audit
from reward_server.cli.calls import Address, Caller, described
from reward_server.cli.grade import progress
from reward_server.cli.options import (
    AllowMissingOption,
    BackendOption,
    ConfigOption,
    JsonOption,
    RuntimeOption,
    SetOption,
    TargetOption,
    TlsCaOption,
    TlsCertificateOption,
    TlsKeyOption,
    TokenFileOption,
    WorkersOption,
    read_settings,
)
from reward_server.cli.reach import reached
from reward_server.errors import SettingsError, StartError

_DROPPED = 1
_NOT_JUDGED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is audited, and how."""

    source: Path
    tasks: list[Task]
    options: Options
    severities: Severities
    graders: list[Grader]


def audit(
    tasks: Annotated[
        Path,
        typer.Argument(
            exists=True,
            dir_okay=False,
            readable=True,
            help="One task on each line: a ScoreRequest whose completion is the reference "
            'solution, or a row of the kind "requests" of reward-train.',
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            help="Folder for audit.json, audit.html, tasks.jsonl (the tasks that are kept) and "
            "dropped.jsonl.",
        ),
    ] = None,
    target: TargetOption = None,
    token_file: TokenFileOption = None,
    tls_ca: TlsCaOption = None,
    tls_certificate: TlsCertificateOption = None,
    tls_key: TlsKeyOption = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Greatest time of a completion, in seconds.")
    ] = 300.0,
    runs: Annotated[
        int, typer.Option(min=2, max=1000, help="Runs of each reference solution.")
    ] = 3,
    margin: Annotated[
        float,
        typer.Option(min=1.0, help="Suggested limits, divided by what the reference uses."),
    ] = 4.0,
    hacks: Annotated[bool, typer.Option(help="Try generic attacks on graders.")] = True,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="A kind of finding that only warns."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="A kind of finding that drops tasks."),
    ] = None,
    grader: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="A grader of another project to try; see --grader-field."),
    ] = None,
    grader_field: Annotated[
        str,
        typer.Option(
            help="Field of the graders' JSON answers that holds the reward, such as result.score; "
            "without it, they answer as /run_code of SandboxFusion does."
        ),
    ] = "",
    grader_tasks: Annotated[
        int, typer.Option(min=1, help="Greatest number of tasks for each of those graders.")
    ] = 20,
    config: ConfigOption = None,
    backend: BackendOption = None,
    runtime: RuntimeOption = None,
    workers: WorkersOption = None,
    allow_missing: AllowMissingOption = None,
    assignments: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Examines tasks before training: reference solutions, cheats, leaks and limits.

    Exits with 0 if every task is kept, with 1 if one is dropped or a grader is fooled, and with 3
    if the server did not judge one.
    """
    plan = _Plan(
        source=tasks,
        tasks=_read(tasks),
        options=Options(runs=runs, margin=margin, hacks=hacks),
        severities=_severities(keep or [], drop or []),
        graders=[Grader(url=url, field=grader_field, tasks=grader_tasks) for url in grader or ()],
    )
    if out is not None:
        make_folder(out, tasks)
    reach = reached(
        target,
        timeout,
        lambda: read_settings(
            config,
            assignments,
            backend=backend,
            runtime=runtime,
            workers=workers,
            allow_missing=allow_missing,
        ),
        token_file=token_file,
        authorities=tls_ca,
        certificate=tls_certificate,
        key=tls_key,
    )
    console = Console(stderr=True)
    found = asyncio.run(_audited(plan, reach, console))
    if out is not None:
        write_files(out, found, plan.tasks)
    if as_json:
        typer.echo(json.dumps(document(found)))
    else:
        print_audit(found, console, out)
    raise typer.Exit(_status(found))


def _status(found: Audit) -> int:
    if found.unjudged:
        return _NOT_JUDGED
    return _DROPPED if found.dropped or any(one.fooled_by for one in found.graders) else 0


def _read(file: Path) -> list[Task]:
    try:
        with file.open("rb") as lines:
            found = list(read_tasks(lines))
    except TaskLineError as error:
        raise StartError(f"{file}: {error}") from None
    if not found:
        raise StartError(f"{file} holds no tasks")
    return found


def _severities(keep: list[str], drop: list[str]) -> Severities:
    for option, kinds in (("--keep", keep), ("--drop", drop)):
        for kind in kinds:
            if kind not in KINDS:
                raise SettingsError(f"{option} {kind}: must be one of {', '.join(KINDS)}")
    if both := set(keep) & set(drop):
        raise SettingsError(f"--keep and --drop: both name {', '.join(sorted(both))}")
    if "not_judged" in keep:
        raise SettingsError("--keep not_judged: nothing is known about a task that was not judged")
    return Severities(kept=frozenset(keep), dropped=frozenset(drop))


async def _audited(
    plan: _Plan, reach: AbstractAsyncContextManager[Address], console: Console
) -> Audit:
    started, start = datetime.now().astimezone(), time.perf_counter()
    async with reach as address, Caller(address) as caller:
        info = await described(caller, address)
        judging = Judging(caller, info)
        with progress(console) as bar:
            line = bar.add_task("auditing", total=len(plan.tasks))
            reports = {}
            async for report in judging.reports(plan.tasks, plan.options):
                reports[report.id] = report
                bar.advance(line)
            graders = [await _tried(one, plan.tasks, bar) for one in plan.graders]
    return Audit(
        source=plan.source.name,
        server=f"reward-server {info.server_version}, backend {info.backend}",
        started=started.isoformat(timespec="seconds"),
        seconds=time.perf_counter() - start,
        requests=judging.requests,
        severities=plan.severities,
        reports=[reports[task.id] for task in plan.tasks],
        graders=graders,
    )


async def _tried(grader: Grader, tasks: list[Task], bar: Progress) -> GraderResult:
    line = bar.add_task(grader.shown, total=min(grader.tasks, len(tasks)))
    return await try_grader(grader, tasks, lambda: bar.advance(line))
