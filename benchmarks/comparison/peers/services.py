"""Graders and sandboxes of other projects, by URL."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from benchmarks.comparison.cases import Case
from benchmarks.comparison.peer import (
    LIMIT_SECONDS,
    PATIENCE_SECONDS,
    About,
    Answer,
    Outcome,
)
from benchmarks.comparison.peers import dialects
from benchmarks.comparison.processes import LOOPBACK, cpu_of, listener, memory_of
from reward_server.audit.other_graders import submissions
from reward_server.audit.other_graders.submissions import Submission
from reward_server.cli.audits.graders import Grader
from reward_server.cli.audits.posting import FAILURES, post
from reward_server.errors import SettingsError


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How a kind of service is asked.

    Args:
        body: makes the body of a request.
        accepts: reads an answer; raises ValueError if it is none.
    """

    body: Callable[[Submission], dict[str, Any]]
    accepts: Callable[[bytes], bool]


DIALECTS = {
    "sandboxfusion": Dialect(
        body=submissions.run_code,
        accepts=lambda answer: submissions.is_run_rewarded(json.loads(answer)),
    ),
    "go-judge": Dialect(
        body=partial(dialects.go_judge_body, seconds=LIMIT_SECONDS),
        accepts=dialects.go_judge_accepts,
    ),
    "piston": Dialect(body=dialects.piston_body, accepts=dialects.piston_accepts),
    "e2b": Dialect(body=dialects.e2b_body, accepts=dialects.e2b_accepts),
}
GRADER = "grader"


class Service:
    """A service that runs already.

    Args:
        kind: a key of `DIALECTS`, or `GRADER`.
        url: the address that takes a submission; of a `GRADER`, the part after # is the field of
            its answer that holds the reward.
        threads: greatest number of requests at once.

    Raises:
        SettingsError: it is no address of HTTP, or a grader's has no field.
    """

    def __init__(self, kind: str, url: str, threads: int) -> None:
        address, _, field = url.partition("#")
        self._grader = Grader(url=address, field=field)
        self._dialect = DIALECTS.get(kind) or _of_field(url, field)
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._pid: int | None = None
        self.about = About(
            name=f"{kind} {self._grader.shown}",
            isolation="as it is configured",
            version=kind,
            runs_already=True,
            counted="nothing: no process of this machine that may be read listens there",
        )

    async def start(self) -> None:
        """Looks for the process, so that its resources can be counted."""
        self._pool = ThreadPoolExecutor(self._threads)
        split = urlsplit(self._grader.url)
        port = split.port or (443 if split.scheme == "https" else 80)
        self._pid = listener(port) if split.hostname in LOOPBACK else None
        if self._pid is not None:
            counted = "the process that listens at the port and all its descendants"
            self.about = replace(self.about, counted=counted)

    async def judge(self, case: Case, number: int) -> Answer:
        """Sends a submission over a connection of its own."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._ask, case.submission(number))

    async def stop(self) -> None:
        """Closes nothing that was not opened here."""
        self._pid = None
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def cpu_seconds(self) -> float | None:
        """Returns the CPU time of the service's tree, if it is on this machine."""
        return None if self._pid is None else cpu_of(self._pid)

    def memory_bytes(self) -> int | None:
        """Returns the memory of the same processes."""
        return None if self._pid is None else memory_of(self._pid)

    def _ask(self, submission: Submission) -> Answer:
        try:
            answer = post(self._grader.url, self._dialect.body(submission), PATIENCE_SECONDS)
            is_accepted = self._dialect.accepts(answer)
        except TimeoutError as error:
            return Answer(outcome=Outcome.TIMED_OUT, detail=str(error))
        except FAILURES as error:
            return Answer(outcome=Outcome.FAILED, detail=str(error)[:300])
        return Answer(outcome=Outcome.ACCEPTED if is_accepted else Outcome.REJECTED)


def _of_field(url: str, field: str) -> Dialect:
    if not field:
        raise SettingsError(
            f"--against grader={url}: needs the field of the answer that holds the reward, such as"
            " grader=http://127.0.0.1:9000/grade#result.score"
        )
    return Dialect(
        body=submissions.parts,
        accepts=lambda answer: submissions.is_field_rewarded(json.loads(answer), field),
    )
