"""Marks that several modules share."""

from __future__ import annotations

import pytest

TRAINERS_WARN = (
    # Of transformers and TRL themselves: names that their next major versions change.
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
)
