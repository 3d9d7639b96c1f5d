"""The actions and the observations of the environment."""

from __future__ import annotations

from openenv.core.env_server.types import (
    Action,
    Observation,
)
from pydantic import Field


class CodeAction(Action):  # type: ignore[misc]
    """Code to run, or a solution to submit."""

    code: str = Field(description="The whole program, or the whole solution.")
    stdin: str = Field(default="", description="The text on the program's standard input.")
    submit: bool = Field(
        default=False, description="Whether the code is the solution, which ends the episode."
    )


class CodeObservation(Observation):  # type: ignore[misc]
    """What a program printed, and how it ended; after a reset, the task."""

    task_id: str = Field(default="", description="The id of the task.")
    prompt: str = Field(default="", description="The prompt of the task, after a reset.")
    stdout: str = Field(default="", description="What the program printed.")
    stderr: str = Field(default="", description="What it wrote to standard error.")
    exit_code: int = Field(default=0, description="Its exit code; 128 + N after the signal N.")
    limits_hit: list[str] = Field(default_factory=list, description="The limits that it reached.")
