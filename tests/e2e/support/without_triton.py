"""A plugin of pytest that lets TRL 1.15 train without a GPU.

That version computes the log-probabilities of completions with Triton's kernels whatever the
device, and has nothing in their place where Triton is absent, as it is beside torch for CPUs. Here
PyTorch computes them. Everything else is TRL's own: prompts, tools, batches, calls of rewards,
advantages and tables. Where Triton is installed its interpreter does the work (TRITON_INTERPRET=1).
"""

from __future__ import annotations

import os
from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    os.environ["TRITON_INTERPRET"] = "1"
    from trl.trainer import utils

    if utils._ChunkedLogProbFunction is None:
        utils._ChunkedLogProbFunction = LogProbs


class LogProbs:
    """Gives what `trl.kernels.ChunkedLogProbFunction` gives to the GRPO trainer."""

    @staticmethod
    def apply(
        hidden: Any,
        weight: Any,
        bias: Any,
        targets: Any,
        temperature: float,
        chunk_size: int,
        softcap: float | None,
        scale: float,
        outputs: tuple[str, ...],
    ) -> tuple[Any, Any, None, None, None]:
        """Returns log-probabilities of the targets and entropies, both of shape (N,).

        Args:
            hidden: shape (N, H).
            weight: shape (V, H).
            bias: shape (V,), or None.
            targets: shape (N,).
            temperature: divides the logits.
            chunk_size: is of no matter here.
            softcap: None; the tests' model has none.
            scale: multiplies the logits.
            outputs: which results are wanted.
        """
        from torch.nn import functional

        assert softcap is None
        assert set(outputs) == {"log_probs", "entropy"}
        logits = functional.linear(hidden, weight, bias).float() * scale / temperature
        log_probs = logits.log_softmax(-1)
        entropy = -(log_probs.exp() * log_probs).sum(-1)
        return log_probs.gather(-1, targets[:, None])[:, 0], entropy, None, None, None
