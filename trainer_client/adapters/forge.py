"""A reward for torchforge's `RewardActor(reward_functions=[...])`.

A sample's target is the label; see `common.judge`. Environment variables set the server and the
tasks; see `common.settings`.
"""

from __future__ import annotations

from trainer_client.adapters.common import missing_rewards
from trainer_client.adapters.common.responses import without_end
from trainer_client.adapters.common.settings import shared_judge, shared_settings


def code_reward(prompt: str, response: str, target: object) -> float:
    """Judges one response.

    Raises:
        RewardLostError: it was not judged. Forge's GRPO application then stops its rollouts, unless
            it catches the error, or CODEREWARD_UNJUDGED is nan and it drops the group.

    Examples:
        >>> from trainer_client.adapters.forge import code_reward
        >>> label = {"function": {"entry_point": "double", "asserts": ["assert double(3) == 6"]}}
        >>> code_reward("Write double(x).", "def double(x): return 2 * x", label)
        1.0
    """
    (found,) = shared_judge().score_blocking([without_end(response)], [target])
    return missing_rewards.number(found, shared_settings().unjudged)
