"""Runs executions through a plain zygote, a process of its own without pytest's modules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reward_server.domain import Framework, FunctionTests, UnitTests
from reward_server.grading.crossing.python import texts
from reward_server.grading.crossing.python.refusals import crossing_of
from reward_server.grading.extraction.continuation import read_prompt
from reward_server.languages import load_languages
from reward_server.runner import requests, wire
from reward_server.runner.requests import (
    CallRequest,
    FunctionRequest,
    ProgramRequest,
    SharedRequest,
    UnitRequest,
)
from reward_server.runner.walls import policy
from reward_server.sandbox.runner_documents import plan_fields
from tests.unit.runner import plain_zygote

REPOSITORY = Path(__file__).resolve().parents[3]
PRELOADED = (
    *("bisect", "collections", "contextlib", "copy", "dataclasses", "datetime", "decimal"),
    *("enum", "fractions", "functools", "hashlib", "heapq", "inspect", "io", "itertools", "json"),
    *("math", "operator", "random", "re", "statistics", "string", "textwrap", "threading"),
    *("time", "traceback", "types", "typing"),
)
OUTPUT_BYTES = 1 << 20
RESULT_BYTES = 1 << 20
_LIMITS = {"output_bytes": OUTPUT_BYTES, "result_bytes": RESULT_BYTES, "calls": 100_000}


@dataclass(kw_only=True)
class Result:
    """What an execution gave."""

    stage: int
    report: dict[str, Any]
    stdout: bytes
    stderr: bytes
    reply: plain_zygote.Reply

    @property
    def outcomes(self) -> list[str]:
        return [test["outcome"] for test in self.report["tests"]]

    @property
    def explanation(self) -> str:
        return f"{json.dumps(self.report, indent=1)}\n{self.stderr.decode(errors='replace')}"

    @property
    def passed(self) -> bool:
        """Whether the server would call this PASSED."""
        report = self.report
        failed = report["blame"] or report["load"] or report["broken"] or report["limits"]
        return report["ready"] and not failed and set(self.outcomes) == {"PASSED"}


@dataclass(kw_only=True)
class Zygote:
    """A running plain zygote."""

    process: subprocess.Popen[bytes] = field(init=False)
    packages: tuple[str, ...] = ()
    preloaded: tuple[str, ...] = ()
    judge_executions: int = policy.JUDGE_EXECUTIONS

    def __post_init__(self) -> None:
        script = str(Path(plain_zygote.__file__))
        folders = os.pathsep.join((str(REPOSITORY), *self.packages))
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", script, folders, *PRELOADED, *self.preloaded],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                "PATH": os.environ["PATH"],
                "OPENBLAS_NUM_THREADS": "1",
                "JUDGE_EXECUTIONS": str(self.judge_executions),
            },
        )

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()

    def run(
        self, document: bytes, wall_seconds: float = 20.0, *, has_files: bool = False
    ) -> Result:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        out = self.process.stdout.fileno()
        request = plain_zygote.REQUEST.pack(len(document), int(wall_seconds * 1000), has_files)
        plain_zygote.write_all(self.process.stdin.fileno(), request + document)
        raw = plain_zygote.read_exactly(out, plain_zygote.REPLY.size)
        reply = plain_zygote.Reply(*plain_zygote.REPLY.unpack(raw))
        report = plain_zygote.read_exactly(out, reply.report_bytes)
        header, blobs = wire.unpack(report[1:]) if len(report) > 1 else ({}, {})
        return Result(
            stage=report[0],
            report=header,
            stdout=blobs.get("stdout", b""),
            stderr=blobs.get("stderr", b""),
            reply=reply,
        )

    # --------------------------------------------------------------------------- requests

    def program(
        self,
        source: str | bytes,
        stdin: bytes = b"",
        *,
        args: Iterable[str] = (),
        files: dict[str, bytes] | None = None,
        output_bytes: int = OUTPUT_BYTES,
        wall_seconds: float = 20.0,
    ) -> Result:
        request = ProgramRequest(args=list(args), output_bytes=output_bytes)
        blobs = {f"file/{name}": content for name, content in (files or {}).items()}
        blobs |= {"source": _bytes(source), "stdin": stdin}
        return self.run(requests.pack(request, blobs), wall_seconds, has_files=True)

    def function(
        self,
        source: str | bytes,
        *,
        entry_point: str = "f",
        test_code: str = "",
        asserts: Iterable[str] = (),
        setup_code: str = "",
        prompt: str = "",
        wall_seconds: float = 20.0,
        **settings: Any,
    ) -> Result:
        tests = FunctionTests(
            entry_point=entry_point,
            test_code=test_code,
            asserts=tuple(asserts),
            setup_code=setup_code,
        )
        code = read_prompt(prompt, load_languages().find("python")).executable
        request = FunctionRequest(
            entry_point=entry_point,
            test_code=test_code,
            asserts=list(tests.asserts),
            setup_code=setup_code,
            plan=plan_fields(crossing_of(texts.read_functions(tests, code))),
            **{**_LIMITS, **settings},
        )
        return self.run(requests.pack(request, {"source": _bytes(source)}), wall_seconds)

    def files(
        self,
        source: str | bytes,
        files: dict[str, str],
        *,
        framework: str = "unittest",
        mode: str = "unit",
        solution_path: str = "solution.py",
        wall_seconds: float = 20.0,
        **settings: Any,
    ) -> Result:
        kind = SharedRequest if mode == "shared" else UnitRequest
        tests = UnitTests(
            framework=Framework[framework.upper()],
            files=tuple(files.items()),
            solution_path=solution_path,
        )
        crossing = crossing_of(texts.read_files(tests))
        files = dict(crossing.files) if kind is UnitRequest else files
        request = kind(
            framework=framework,
            solution_path=solution_path,
            plan=plan_fields(crossing) if kind is UnitRequest else None,
            **{**_LIMITS, **settings},
        )
        blobs = {f"test/{path}": _bytes(text) for path, text in files.items()}
        return self.run(requests.pack(request, {"source": _bytes(source), **blobs}), wall_seconds)

    def call(
        self,
        source: str | bytes,
        cases: Iterable[tuple[object, object]],
        *,
        entry_point: str = "f",
        kind: str = "TRAILING_WHITESPACE",
        absolute_tolerance: float = 0.0,
        relative_tolerance: float = 0.0,
        parameters: Iterable[str | None] = (),
        result: str | None = None,
        wall_seconds: float = 20.0,
        **settings: Any,
    ) -> Result:
        request = CallRequest(
            entry_point=entry_point,
            cases=[(_json(arguments), _json(expected)) for arguments, expected in cases],
            checker={
                "kind": kind,
                "absolute_tolerance": absolute_tolerance,
                "relative_tolerance": relative_tolerance,
            },
            signature=(list(parameters), result),
            **{**_LIMITS, **settings},
        )
        return self.run(requests.pack(request, {"source": _bytes(source)}), wall_seconds)


def _bytes(source: str | bytes) -> bytes:
    return source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source


def _json(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
