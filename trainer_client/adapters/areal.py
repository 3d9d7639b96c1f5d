"""A reward for AReaL's workflows: `RLVRWorkflow("trainer_client.adapters.areal.reward_fn", ...)`.

The data set's column `label` has what decides the tests; see `common.judge`. Environment
variables set the rest; see `common.settings`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from trainer_client.adapters.common.judge import Judge
from trainer_client.adapters.common.missing_rewards import number
from trainer_client.adapters.common.responses import without_end
from trainer_client.adapters.common.settings import AdapterSettings, shared_settings

# AReaL waits 15 seconds for a reward, then tries again, and finally assigns 0.
_LONGEST_SECONDS = 12.0


def reward_fn(
    prompt: str,
    completions: str,
    prompt_ids: Sequence[int],
    completion_ids: Sequence[int],
    **columns: Any,
) -> float:
    """Judges one completion within the time that AReaL allows.

    Raises:
        RewardLostError: it was not judged. AReaL tries three more times, then drops the group.

    Examples:
        >>> from trainer_client.adapters.areal import reward_fn
        >>> label = {"function": {"entry_point": "double", "asserts": ["assert double(3) == 6"]}}
        >>> reward_fn("Write double(x).", "def double(x): return 2 * x", [], [], label=label)
        1.0
    """
    (found,) = _judge(shared_settings()).score_blocking(
        [without_end(completions)], [columns.get("label")]
    )
    return number(found, "raise")


@functools.cache
def _judge(settings: AdapterSettings) -> Judge:
    seconds = min(settings.timeout_seconds, _LONGEST_SECONDS)
    return settings.model_copy(update={"timeout_seconds": seconds}).judge()
