r"""A reward for correct mathematics in any notation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any, Literal, Unpack, overload

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import tasks
from trainer_client.errors import TaskError
from trainer_client.rewards.columns import references_of
from trainer_client.rewards.judged import (
    BlockingRewardFunction,
    Judged,
    RewardFunction,
    Template,
    as_blocking_function,
    as_function,
    default_name,
)
from trainer_client.rewards.math_text import ANSWER_CHARACTERS, answer_text, reference_text
from trainer_client.score import Score, ScoreError, Verdict
from trainer_client.transport.channel import ConnectionOptions, Target, addresses

_MOST_REFERENCES = 32


class MathRewardOptions(ConnectionOptions, total=False):
    """The options of `math_reward`, and those of its connection."""

    name: str
    id_column: str
    defaults: pb.ScoreRequest | None
    failure_budget: int


@overload
def math_reward(
    target: Target, *, blocking: Literal[False] = False, **options: Unpack[MathRewardOptions]
) -> RewardFunction: ...


@overload
def math_reward(
    target: Target, *, blocking: Literal[True], **options: Unpack[MathRewardOptions]
) -> BlockingRewardFunction: ...


def math_reward(
    target: Target, *, blocking: bool = False, **options: Unpack[MathRewardOptions]
) -> RewardFunction | BlockingRewardFunction:
    r"""Makes a reward function: 1 for an answer that equals the reference, 0 for another.

    The answer is the last `\boxed{...}`, or else the last expression; see `math_text.answer_text`.
    The reference is a column `answer`, `reference` or `references` (any of them is correct); if it
    contains `####`, only the text after it counts. math-verify decides, in sandboxes of the server:
    one parses the answer, another compares the parsed answer (see `math_program`). The sandboxes
    therefore need math-verify. With the local backend it is in a folder of `sandbox_packages`, and
    `sandbox_preload=math_verify` saves every execution the second that its import takes.

    An answer that makes sympy hang, or that no parser understands, gets 0. A row without a
    reference, or with one that is no mathematics, gets None. The first call asks about an answer
    that is known to be correct, so that a server that cannot judge it stops training at once.

    Args:
        target: the servers; see `Connection`.
        blocking: whether the function returns the rewards; see `remote_reward`.
        **options: the options of `MathReward`, and those of `Connection`.

    Raises:
        TypeError: there is no such option.
    """
    made = MathReward(target, **options)
    return as_blocking_function(made) if blocking else as_function(made)


class MathReward(Judged):
    """The object that `math_reward` wraps. Pass it to `AsyncGRPOTrainer`, which pickles rewards.

    Args:
        target: the servers; see `Connection`.
        name: `__name__`, under which TRL logs; `math_reward` by default, with a number if a reward
            with other options has it.
        id_column: the data-set column with the task's id, which is logged.
        defaults: fields for every request, such as limits.
        failure_budget: consecutive calls without a single reward after which training stops.
        **connection: the options of `Connection`.
    """

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
        defaults = defaults or pb.ScoreRequest()
        rest = (id_column, defaults.SerializeToString(deterministic=True))
        name = name or default_name("math_reward", (addresses(target), *rest))
        self._math_templates = MathTemplates(name=name, program=_program())
        self._proven = False
        super().__init__(
            target,
            name=name,
            templates=self._math_templates,
            id_column=id_column,
            defaults=defaults,
            failure_budget=failure_budget,
            **connection,
        )

    async def _score(self, rows: Sequence[tasks.Row], completions: Sequence[Any]) -> list[Score]:
        if not self._proven and (problem := await self._problem()):
            return [Score(id="", error=problem)] * len(completions)
        self._proven = True
        return await super()._score(rows, completions)

    async def _problem(self) -> ScoreError | None:
        """Asks about an answer that is known to be correct; returns the server's problem, if any.

        Otherwise every answer would be wrong on a server that takes too long to import math-verify.
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
    """Makes templates from references, and requests from templates and answers.

    If an answer is in a box or a tag, the text before it is not sent, so that equal answers to one
    question are one execution. The answer is the input of `math_program`, and the reference is the
    expected output, which only the checker receives.

    Args:
        name: name of the reward function, for messages.
        program: the program that reads answers and compares them.
    """

    name: str
    program: str

    def __call__(self, row: tasks.Row) -> Template | None:
        """Returns a row's template, or None for a row without a reference.

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
