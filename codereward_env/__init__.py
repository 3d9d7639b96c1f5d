"""An OpenEnv environment in which a model runs programs and submits solutions of tasks.

Its server needs a reward server, which runs and judges all code. Clients need OpenEnv alone.
"""

try:
    import openenv  # noqa: F401
except ImportError as error:
    message = "codereward_env needs OpenEnv: pip install 'codereward[openenv]'"
    raise ImportError(message) from error

from codereward_env.client import CodeRewardEnv
from codereward_env.models import CodeAction, CodeObservation

__all__ = ["CodeAction", "CodeObservation", "CodeRewardEnv"]
