"""A plain zygote for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.runner.harness import Zygote


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    running = Zygote()
    yield running
    running.close()
