"""Quotas that are divided between processes."""

from __future__ import annotations

import pytest

from reward_server.errors import InvalidRequestError, QuotaError, SettingsError
from reward_server.telemetry import Telemetry
from reward_server.tenants.division import divided
from reward_server.tenants.quotas import InFlight
from reward_server.tenants.tenant import Credential, Quotas, Tenant, Tenants


def parts(quotas: Quotas, count: int) -> list[tuple[Credential, ...]]:
    tenant = Tenant(name="red", weight=2.0, quotas=quotas)
    credentials = [Credential(digest=b"", owner="red", tenant=tenant)]
    return [divided(credentials, number, count) for number in range(count)]


def test_parts_add_up_to_the_quota_and_are_alike() -> None:
    whole = Quotas(requests_in_flight=64, slots=13, bytes_in_flight=1 << 20)
    quotas = [one.tenant.quotas for [one] in parts(whole, 13)]
    assert sum(one.requests_in_flight or 0 for one in quotas) == 64
    assert {one.requests_in_flight for one in quotas} == {4, 5}
    assert {one.slots for one in quotas} == {1}
    assert sum(one.bytes_in_flight or 0 for one in quotas) == 1 << 20


def test_absent_quotas_weights_and_stored_tasks_are_not_divided() -> None:
    whole = Quotas(stored_tasks_count=2, stored_tasks_bytes=1 << 20)
    for [one] in parts(whole, 3):
        assert one.tenant.quotas == whole
        assert one.tenant.weight == 2.0


@pytest.mark.parametrize("field", ["requests_in_flight", "slots", "bytes_in_flight"])
def test_a_quota_below_the_number_of_processes_is_refused(field: str) -> None:
    parts(Quotas(**{field: 3}), 3)
    with pytest.raises(SettingsError, match=f"{field} of the tenant red is 2, .* of 3 processes"):
        parts(Quotas(**{field: 2}), 3)


async def test_refusals_name_the_part_and_the_number_of_processes() -> None:
    [credentials, _] = parts(Quotas(requests_in_flight=2, bytes_in_flight=200), 2)
    bounded = InFlight(Tenants(credentials), Telemetry())
    with (
        bounded.request("red"),
        pytest.raises(QuotaError, match="requests_in_flight of 1 in each of 2 processes"),
        bounded.request("red"),
    ):
        pass
    with (
        pytest.raises(InvalidRequestError, match="bytes_in_flight 100 in each of 2 processes"),
        bounded.body("red", 101),
    ):
        pass
