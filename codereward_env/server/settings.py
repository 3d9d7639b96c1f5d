"""The settings of the environment's server, from environment variables."""

from __future__ import annotations

from typing import Literal

from pydantic import PositiveFloat, PositiveInt

from trainer_client.adapters.common.settings import AdapterSettings


class EnvironmentSettings(AdapterSettings):
    """The variables of all adapters (`trainer_client.adapters.common.settings`), and these.

    Args:
        episodes: `CODEREWARD_EPISODES`, how many episodes may be open at once.
        judged: `CODEREWARD_JUDGED`, what earns a reward. With `submission` it is the code that is
            submitted. With `step` it is every program, for clients that send `code` alone, and the
            episode ends when a program passes all tests.
        unjudged: `CODEREWARD_UNJUDGED`, what becomes of a step that was not judged. With `none` its
            reward is None, and the episode is over. With `raise` the step is an error, for clients
            that take None for 0.
        steps: `CODEREWARD_STEPS`, after how many steps an episode ends; without it, it never does.
        run_seconds: `CODEREWARD_RUN_SECONDS`, CPU time of a program that the model runs.
        output_bytes: `CODEREWARD_OUTPUT_BYTES`, how much of each output stream is returned.
    """

    episodes: PositiveInt = 256
    judged: Literal["submission", "step"] = "submission"
    unjudged: Literal["none", "raise"] = "none"  # type: ignore[assignment]  # no batch, so no NaN
    steps: PositiveInt | None = None
    run_seconds: PositiveFloat = 10.0
    output_bytes: PositiveInt = 65_536
