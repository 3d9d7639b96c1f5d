"""What environments have in common: tools that may fail, and submissions with feedback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict, Unpack, get_args

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import score
from trainer_client.errors import CallError, SessionEndedError, SessionFileError
from trainer_client.rewards.judged import Template
from trainer_client.score import Score, Verdict
from trainer_client.tools import words
from trainer_client.tools.words import Feedback
from trainer_client.trl.environments.episode import Environment
from trainer_client.trl.environments.reward import EnvironmentReward

# Fields of requests that a model fills. If a server refuses one of them, it refuses the model.
_OF_THE_MODEL = ("source:", "stdin:", "stdin_text:", "argv:", "code:", "files[", "path:")


class EnvironmentOptions(TypedDict, total=False):
    """The options of all environments.

    Args:
        feedback: what the model is told about the tests when it submits. By default it is nothing,
            and no test runs before the end of the episode.
        submissions: how often a model may submit; further submissions are refused. 3 if absent.
        output_characters: characters of an output that the model is told; the middle of a longer
            one is left out. 4000 if absent.
    """

    feedback: Feedback
    submissions: int
    output_characters: int


class SubmittingEnvironment(Environment):
    """An environment with a tool that submits a solution.

    TRL makes an instance for each episode of a batch, and uses it again. It offers all public
    methods but `reset` to the model as tools.

    Args:
        reward: scores the episodes.
        **options: see `EnvironmentOptions`.

    Raises:
        ValueError: there is no such feedback level, or a number is below 1.
    """

    def __init__(self, reward: EnvironmentReward, **options: Unpack[EnvironmentOptions]) -> None:
        super().__init__()
        self._reward = reward
        self._feedback = options.get("feedback", "none")
        self._submissions = options.get("submissions", 3)
        self._most = options.get("output_characters", 4000)
        if self._feedback not in get_args(Feedback):
            known = ", ".join(get_args(Feedback))
            raise ValueError(f"feedback: no {self._feedback!r}; there are {known}")
        for name in ("submissions", "output_characters"):
            if options.get(name, 1) < 1:  # type: ignore[operator]  # both are numbers
                raise ValueError(f"{name}: must be at least 1")

    def reset(self, **row: Any) -> str | None:
        """Begins an episode.

        Args:
            **row: the row of the data set.

        Returns:
            What TRL adds to the prompt, if anything.
        """
        self.episode = self._reward.begin(row)
        return None

    def _use(self, tool: Callable[[], str]) -> str:
        """Runs a tool. If it fails through no fault of the model, the episode has no reward."""
        episode = self.episode
        episode.tool_calls += 1
        if episode.failure:
            return words.UNAVAILABLE
        if episode.is_over:
            return words.OVER
        try:
            return tool()
        except SessionFileError as error:
            return f"[{error.message}]"
        except CallError as error:
            return self._failed(error)

    def _failed(self, error: CallError) -> str:
        if error.status == "INVALID_ARGUMENT" and error.message.startswith(_OF_THE_MODEL):
            return f"[refused: {error.message}]"
        if isinstance(error, SessionEndedError) and error.blame == "session":
            self.episode.end(broken_session(error))
            return f"[{error.message}] {words.OVER}"
        self.episode.failure = unjudged(error)
        return words.UNAVAILABLE

    def _submit(self, completion: str | None, judge: Callable[[Template], Score]) -> str:
        """Counts a submission, and returns what the model is told about it.

        Args:
            completion: what is submitted; None for what a session holds.
            judge: judges it, if the model is to be told about the tests.
        """
        episode = self.episode
        if episode.submissions >= self._submissions:
            return f"[refused: all {self._submissions} submissions are used up]"
        episode.submissions += 1
        episode.submission, episode.score = completion, None
        if self._feedback == "none" or episode.template is None:
            return words.SUBMITTED
        found = judge(episode.template)
        episode.told(found)
        told = words.tests_told(found, self._feedback, self._limits_of(found), self._most)
        left = self._submissions - episode.submissions
        return f"{told} {words.OVER}" if episode.is_over else f"{told}\n[submissions left: {left}]"

    def _limits_of(self, found: Score) -> pb.Limits:
        """Returns the limits of the executions, if a limit was hit."""
        if not found.limits_hit:
            return pb.Limits()
        return self._reward.sandbox.limits(self._asked().limits)

    def _asked(self) -> pb.ScoreRequest:
        """Returns the request of the task, without a completion."""
        template = self.episode.template
        if template is None:
            return pb.ScoreRequest()
        return self._reward.request(template, "").make()


def unjudged(error: CallError) -> Score:
    """Returns the score of an episode that a failed call left without a conclusion."""
    # Another session may live longer, so an ended one is no permanent failure.
    permanent = error.blame == "caller" and not isinstance(error, SessionEndedError)
    return score.unjudged("", error.status, error.message, permanent=permanent)


def broken_session(error: CallError) -> Score:
    """Returns the score of an episode that broke its session, which counts as its failure."""
    message = f"the session broke: {error.message}"
    return Score(id="", verdict=Verdict.RUNTIME_ERROR, reward=0.0, message=message)
