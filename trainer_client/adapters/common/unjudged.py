"""What a trainer gets for a completion that was not judged, where it takes numbers alone.

raise    an exception, which each trainer treats in a way of its own
nan      a number that no statistics survive, for trainers that drop the group of such a one
"""

from __future__ import annotations

import math
from typing import Literal

from trainer_client.errors import RewardLostError
from trainer_client.score import Score

Unjudged = Literal["raise", "nan"]


def number(score: Score, unjudged: Unjudged) -> float:
    """Returns the reward as a number.

    Raises:
        RewardLostError: there is none, and `unjudged` is "raise".
    """
    if score.reward is not None:
        return score.reward
    if unjudged == "nan":
        return math.nan
    verdict = "" if score.verdict is None else f"{score.verdict.name}: {score.message}"
    raise RewardLostError(f"no reward: {score.error or verdict}")


def passed(score: Score) -> float:
    """Returns 1.0 for a completion that passed, 0.0 for another that was judged, else NaN."""
    if score.reward is None or score.verdict is None:
        return math.nan
    return float(score.verdict.name == "PASSED")
