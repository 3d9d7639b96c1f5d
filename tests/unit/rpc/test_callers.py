from __future__ import annotations

from contextlib import ExitStack

import pytest

from reward_server.errors import OverloadedError
from reward_server.rpc.callers import OpenCalls


def test_open_calls_are_bounded_and_counted_out() -> None:
    calls = OpenCalls(3)
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(calls.entered("a"))
        with pytest.raises(OverloadedError) as refused, calls.entered("a"):
            pytest.fail("was let in")
        assert refused.value.retry_after_seconds > 0
    assert calls.count == 0
    with calls.entered("a"):
        assert calls.count == 1


def test_one_owners_calls_leave_another_its_share() -> None:
    calls = OpenCalls(10)
    with ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(calls.entered("bully"))
        for _ in range(5):
            stack.enter_context(calls.entered("honest"))
        for owner in ("honest", "bully"):
            with pytest.raises(OverloadedError), calls.entered(owner):
                pytest.fail("was let in")


def test_many_owners_overbook_at_most_once() -> None:
    calls = OpenCalls(10)
    with ExitStack() as stack:
        for number in range(200):
            try:
                stack.enter_context(calls.entered(str(number % 20)))
            except OverloadedError:
                continue
        assert calls.count <= 10 + 20


def test_an_owner_that_fails_to_enter_is_not_remembered() -> None:
    calls = OpenCalls(1)
    with calls.entered("a"):
        with pytest.raises(OverloadedError), calls.entered("a"):
            pytest.fail("was let in")
        with calls.entered("b"):
            assert calls.count == 2
    assert calls.count == 0
