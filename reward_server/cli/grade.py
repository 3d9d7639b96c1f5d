"""`reward-server grade`: judges a file of tasks and writes a file of results."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, Any

import grpc
import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from codereward.request_json import RequestJsonError, parse_request
from reward_server.cli.calls import Address, Caller, described
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
from reward_server.cli.task_lines import (
    result_of,
    result_of_line_error,
    result_of_status,
)
from reward_server.errors import StartError

_LEAST_IN_FLIGHT = 8
_IN_FLIGHT_PER_SLOT = 4
# Results are written in order; reading ahead keeps the server busy while one task is slow.
_READ_AHEAD = 8


@dataclass(slots=True)
class Summary:
    """The results of a file of tasks, counted."""

    lines: int = 0
    unjudged: int = 0
    rewards: list[float] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def add(self, result: dict[str, Any]) -> None:
        """Counts a result."""
        self.lines += 1
        if result["error"] is not None:
            self.unjudged += 1
            self.errors[result["error"]["status"]] += 1
            return
        self.verdicts[result["verdict"]] += 1
        if result["reward"] is not None:
            self.rewards.append(result["reward"])

    def described(self) -> dict[str, Any]:
        """Returns the summary for programs."""
        judged = self.lines - self.unjudged
        return {
            "lines": self.lines,
            "judged": judged,
            "unjudged": self.unjudged,
            "verdicts": dict(self.verdicts),
            "errors": dict(self.errors),
            "mean_reward": sum(self.rewards) / len(self.rewards) if self.rewards else None,
            "seconds": self.seconds,
            "judged_per_second": judged / self.seconds if self.seconds else None,
        }


def grade(
    tasks: Annotated[
        Path,
        typer.Argument(
            exists=True,
            dir_okay=False,
            readable=True,
            help="One ScoreRequest on each line, in protobuf's JSON form or with snake_case names.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            dir_okay=False, help="File for the results: a JSON object on each line, in order."
        ),
    ],
    target: TargetOption = None,
    token_file: TokenFileOption = None,
    tls_ca: TlsCaOption = None,
    tls_certificate: TlsCertificateOption = None,
    tls_key: TlsKeyOption = None,
    timeout: Annotated[
        float,
        typer.Option(min=0.1, help="Greatest time of a task, or without a server, in seconds."),
    ] = 300.0,
    config: ConfigOption = None,
    backend: BackendOption = None,
    runtime: RuntimeOption = None,
    workers: WorkersOption = None,
    allow_missing: AllowMissingOption = None,
    assignments: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judges every task of a file; exits with 0 if all tasks were judged, otherwise with 1."""
    total = _count_lines(tasks, out)
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
    summary = asyncio.run(_grade_file(tasks, out, total, reach, console))
    if as_json:
        typer.echo(json.dumps(summary.described()))
    else:
        _show(summary, console, out)
    raise typer.Exit(1 if summary.unjudged else 0)


def _count_lines(tasks: Path, out: Path) -> int:
    if out.exists() and out.samefile(tasks):
        raise StartError(f"{out} would overwrite the tasks; give --out another name")
    with tasks.open("rb") as file:
        total = sum(1 for line in file if line.strip())
    if not total:
        raise StartError(f"{tasks} holds no tasks")
    return total


async def _grade_file(
    tasks: Path,
    out: Path,
    total: int,
    reach: AbstractAsyncContextManager[Address],
    console: Console,
) -> Summary:
    summary = Summary()
    async with reach as address, Caller(address) as caller:
        width = max(
            _LEAST_IN_FLIGHT, _IN_FLIGHT_PER_SLOT * (await described(caller, address)).slots
        )
        start = time.perf_counter()
        with tasks.open("rb") as source, out.open("w") as sink, progress(console) as bar:
            task = bar.add_task("grading", total=total)
            async for result in _results(source, caller, width):
                sink.write(json.dumps(result) + "\n")
                summary.add(result)
                bar.advance(task)
        summary.seconds = time.perf_counter() - start
    return summary


async def _results(source: IO[bytes], caller: Caller, width: int) -> AsyncIterator[dict[str, Any]]:
    """Yields the result of each line in order, with up to `width` lines in progress."""
    places = asyncio.Semaphore(width)
    under_way: deque[asyncio.Task[dict[str, Any]]] = deque()

    async def judge(number: int, line: bytes) -> dict[str, Any]:
        async with places:
            return await _judge_line(number, line, caller)

    try:
        for number, line in _numbered(source):
            under_way.append(asyncio.create_task(judge(number, line)))
            if len(under_way) >= width * _READ_AHEAD:
                yield await under_way.popleft()
            while under_way and under_way[0].done():
                yield under_way.popleft().result()
        while under_way:
            yield await under_way.popleft()
    finally:
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


def _numbered(source: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(source, start=1):
        if line.strip():
            yield number, line


async def _judge_line(number: int, line: bytes, caller: Caller) -> dict[str, Any]:
    try:
        request = parse_request(line)
    except RequestJsonError as error:
        return result_of_line_error(line, number, error)
    # Files hold many completions of a task under one id, which a server would take for repeats.
    identifier, request.id = request.id, ""
    try:
        return {**result_of(await caller.score(request)), "id": identifier}
    except grpc.aio.AioRpcError as error:
        return result_of_status(identifier, number, error)


def progress(console: Console) -> Progress:
    """Returns a progress bar, which only a terminal shows."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not sys.stderr.isatty(),
    )


def _show(summary: Summary, console: Console, out: Path) -> None:
    table = Table("verdict", "tasks")
    for verdict, count in summary.verdicts.most_common():
        table.add_row(verdict, str(count))
    for status, count in summary.errors.most_common():
        table.add_row(f"[red]not judged: {status}[/]", str(count))
    console.print(table)
    described = summary.described()
    mean = described["mean_reward"]
    console.print(
        f"{described['judged']} of {summary.lines} judged in {summary.seconds:.1f} s"
        f" ({described['judged_per_second'] or 0:.1f}/s), mean reward"
        f" {'none' if mean is None else format(mean, '.3f')}; results are in {out}",
        markup=False,
    )
    if summary.unjudged:
        console.print(f'Each line that was not judged says why in its "error" in {out}.')
