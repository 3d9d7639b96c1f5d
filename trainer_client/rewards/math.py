r"""A reward for mathematics that is right, however it is written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any, Unpack

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import tasks
from trainer_client.errors import TaskError
from trainer_client.rewards.columns import references_of
from trainer_client.rewards.judged import (
    Judged,
    RewardFunction,
    Template,
    as_function,
    default_name,
)
from trainer_client.rewards.math_text import ANSWER_CHARACTERS, answer_text, reference_text
from trainer_client.score import Score, ScoreError, Verdict
from trainer_client.transport.channel import ConnectionOptions, Target

_MOST_REFERENCES = 32


def math_reward(
    target: Target,
    *,
    name: str = "",
    id_column: str = "task_id",
    defaults: pb.ScoreRequest | None = None,
    failure_budget: int = 10,
    **connection: Unpack[ConnectionOptions],
) -> RewardFunction:
    r"""Makes a reward function: 1 for an answer that equals the reference, 0 for another.

    The answer is the last `\boxed{...}`, or else the last expression; see `math_text.answer_text`.
    The reference is a column `answer`, `reference` or `references` (any of them is right); what
    follows `####` in it counts. math-verify decides, in sandboxes of the server: one parses the
    answer, another compares what the first understood (see `math_program`). So they need
    math-verify: with the local backend in a folder of `sandbox_packages`, and
    `sandbox_preload=math_verify` spares every execution the second that its import takes.

    An answer that makes sympy hang, or that no parser understands, gets 0. A row without a
    reference, or with one that is no mathematics, gets None. The first call asks about an answer
    that is known to be right, so that a server that cannot tell stops training at once.

    Args:
        target: the servers; see `channel.Connection`, as for all other options.
        name: `__name__`, under which TRL logs; `math_reward` by default, numbered.
        id_column: the data-set column with the task's id, which is logged.
        defaults: fields for every request, such as limits.
        failure_budget: consecutive calls without a single reward after which training stops.
    """
    return as_function(
        MathReward(
            target,
            name=name,
            id_column=id_column,
            defaults=defaults,
            failure_budget=failure_budget,
            **connection,
        )
    )


class MathReward(Judged):
    """What `math_reward` wraps; see there. `AsyncGRPOTrainer` pickles rewards: give it this."""

    def __init__(
        self,
        target: Target,
        *,
        name: str = "",
        id_column: str = "task_id",
        defaults: pb.ScoreRequest | None = None,
        failure_budget: int = 10,
        **connection: Unpack[ConnectionOptions],
    ) -> None:
        name = name or default_name("math_reward")
        self._math_templates = MathTemplates(name=name, program=_program())
        self._proven = False
        super().__init__(
            target,
            name=name,
            templates=self._math_templates,
            id_column=id_column,
            defaults=defaults or pb.ScoreRequest(),
            failure_budget=failure_budget,
            **connection,
        )

    async def _score(self, rows: Sequence[tasks.Row], completions: Sequence[Any]) -> list[Score]:
        if not self._proven and (problem := await self._problem()):
            return [Score(id="", error=problem)] * len(completions)
        self._proven = True
        return await super()._score(rows, completions)

    async def _problem(self) -> ScoreError | None:
        """Asks about an answer that is known to be right; gives what was wrong with the server.

        Without this, one that takes too long to import math-verify would find every answer wrong.
        """
        template = self._math_templates({"answer": "1/2"})
        assert template is not None
        request = template.fill(r"\boxed{\frac{1}{2}}")
        request.MergeFrom(self._defaults)
        [found] = await self._client.score([request])
        if found.error is not None or found.verdict is Verdict.PASSED:
            return found.error
        message = f"the server cannot judge mathematics: {found.message}"
        return ScoreError(status="FAILED_PRECONDITION", message=message, permanent=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class MathTemplates:
    """Makes templates of references, and of these and answers requests.

    Of an answer in a box or a tag nothing that led to it is sent, so that equal answers to one
    question are one execution. It is the input of a program of ours, and the reference the expected
    output, which only the checker sees.

    Args:
        name: of the reward function, for messages.
        program: reads answers, and compares.
    """

    name: str
    program: str

    def __call__(self, row: tasks.Row) -> Template | None:
        """Returns a row's template; None for a row without a reference.

        Raises:
            TaskError: the data set has no reference column, or a reference is too long.
        """
        references = references_of(self.name, row)
        if references is None:
            return None
        texts = [reference_text(one) for one in references]
        if len(texts) > _MOST_REFERENCES or max(map(len, texts)) > ANSWER_CHARACTERS:
            limit = f"at most {_MOST_REFERENCES} of {ANSWER_CHARACTERS} characters"
            raise TaskError(self.name, "answer", f"too many or too long references: {limit}")
        return Template(key=tuple(texts), fill=partial(self._request, texts))

    def _request(self, references: Sequence[str], completion: str) -> pb.ScoreRequest:
        checker = pb.Checker(kind=pb.CHECKER_KIND_PROGRAM, program=self.program)
        case = pb.StdioCase(
            stdin=answer_text(completion).encode(), expected_stdout=json.dumps(references).encode()
        )
        return pb.ScoreRequest(
            completion=self.program,
            extraction=pb.EXTRACTION_NONE,
            stdio=pb.StdioTests(cases=[case], checker=checker),
            require_integrity=pb.INTEGRITY_ISOLATED,
        )


def _program() -> str:
    return resources.files("trainer_client.rewards").joinpath("math_program.py").read_text("utf-8")
