from __future__ import annotations

from contextlib import ExitStack

import pytest

from reward_server.errors import InvalidRequestError, QuotaError
from reward_server.telemetry import Telemetry
from reward_server.tenants.quotas import InFlight
from reward_server.tenants.tenant import Credential, Quotas, Tenant, Tenants


def tenants(**quotas: int) -> Tenants:
    red = Tenant(name="red", quotas=Quotas(**quotas))
    return Tenants([Credential(digest=b"", owner="red", tenant=red)])


def in_flight(telemetry: Telemetry | None = None, **quotas: int) -> InFlight:
    return InFlight(tenants(**quotas), telemetry or Telemetry())


async def test_requests_in_flight_are_bounded_for_their_tenant_alone() -> None:
    bounded = in_flight(requests_in_flight=2)
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(bounded.request("red"))
        for _ in range(10):
            stack.enter_context(bounded.request("blue"))
        with pytest.raises(QuotaError, match=r"red .*requests_in_flight of 2") as refused:
            stack.enter_context(bounded.request("red"))
        assert refused.value.quota == "requests_in_flight"
    with bounded.request("red"), bounded.request("red"):
        pass


async def test_refused_callers_are_told_different_times() -> None:
    bounded = in_flight(requests_in_flight=1)
    pauses = []
    with bounded.request("red"):
        for _ in range(100):
            with pytest.raises(QuotaError) as refused, bounded.request("red"):
                pytest.fail("was let in")
            pauses.append(refused.value.retry_after_seconds)
    assert pauses == sorted(pauses)
    assert 0 < pauses[0] < pauses[10] <= pauses[-1] <= 30.0


async def test_bytes_in_flight_are_bounded_and_given_back() -> None:
    bounded = in_flight(bytes_in_flight=100)
    with bounded.body("red", 60):
        bounded.check_body("red")
        with pytest.raises(QuotaError, match="bytes_in_flight of 100"), bounded.body("red", 41):
            pytest.fail("was let in")
        with bounded.body("red", 40):
            with pytest.raises(QuotaError):
                bounded.check_body("red")
            bounded.check_body("blue")
    with bounded.body("red", 100):
        pass


async def test_a_body_that_never_fits_is_not_told_to_come_back() -> None:
    bounded = in_flight(bytes_in_flight=100)
    with pytest.raises(InvalidRequestError, match=r"101 bytes.*bytes_in_flight 100"):
        bounded.body("red", 101).__enter__()


async def test_what_is_in_flight_and_refused_is_counted_under_names_that_are_bounded() -> None:
    telemetry = Telemetry()
    bounded = in_flight(telemetry, requests_in_flight=1)
    with bounded.request("red"), pytest.raises(QuotaError), bounded.request("red"):
        pytest.fail("was let in")
    for number in range(400):
        telemetry.tenant_judged(f"tenant {number}")
    samples = [sample for metric in telemetry.registry.collect() for sample in metric.samples]
    values = {(one.name, *one.labels.values()): one.value for one in samples}
    refusal = ("reward_server_tenant_refusals_total", "red", "requests_in_flight")
    others = ("reward_server_tenant_verdicts_total", "(other)")
    assert values[refusal] == 1
    assert values["reward_server_tenant_requests_in_flight", "red"] == 0
    assert values[others] == 400 - 255
