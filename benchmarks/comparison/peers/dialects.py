"""Requests to services of other projects that run a program without judging it, and the answers.

There are two functions for each service: one makes the body of a request, the other reads the
answer. The second one returns True if the program ended with success, and raises ValueError if the
answer has another form.
"""

from __future__ import annotations

import json
from typing import Any

from reward_server.audit.other_graders.submissions import Submission

_MOST_OUTPUT = 64 << 10


def go_judge_body(submission: Submission, seconds: float) -> dict[str, Any]:
    """Returns the body of a request to `/run` of go-judge."""
    nanoseconds = int(seconds * 1e9)
    outputs = [{"name": name, "max": _MOST_OUTPUT} for name in ("stdout", "stderr")]
    command = {
        "args": ["/usr/bin/env", "python3", "-I", "-S", "program.py"],
        "env": ["PATH=/usr/local/bin:/usr/bin:/bin"],
        "files": [{"content": ""}, *outputs],
        "cpuLimit": nanoseconds,
        "clockLimit": 2 * nanoseconds,
        "memoryLimit": 512 << 20,
        "procLimit": 16,
        "copyIn": {"program.py": {"content": submission.program}},
    }
    return {"cmd": [command]}


def go_judge_accepts(answer: bytes) -> bool:
    """Reads an answer of go-judge."""
    match json.loads(answer):
        case [{"status": "Internal Error" | "File Error"}]:
            raise ValueError("the sandbox failed")
        case [{"status": "Accepted", "exitStatus": int(code)}]:
            return code == 0
        case [{"status": str()}]:
            return False
    raise ValueError("the answer is no list of one result with status and exitStatus")


def piston_body(submission: Submission) -> dict[str, Any]:
    """Returns the body of a request to `/api/v2/execute` of Piston."""
    files = [{"name": "program.py", "content": submission.program}]
    return {"language": "python", "version": "*", "files": files}


def piston_accepts(answer: bytes) -> bool:
    """Reads an answer of Piston."""
    match json.loads(answer):
        case {"run": {"code": int(code)}}:
            return code == 0
        case {"run": {"signal": str()}}:
            return False
    raise ValueError("the answer has neither run.code nor run.signal")


def e2b_body(submission: Submission) -> dict[str, Any]:
    """Returns the body of a request to `/execute` of E2B's code interpreter."""
    return {"code": submission.program, "language": "python"}


def e2b_accepts(answer: bytes) -> bool:
    """Reads the lines that E2B's code interpreter answers with."""
    kinds = [json.loads(line).get("type") for line in answer.splitlines() if line.strip()]
    if "error" in kinds or "unexpected_end_of_execution" in kinds:
        return False
    if "end_of_execution" in kinds:
        return True
    raise ValueError("the answer has no end of the execution")
