"""Divides the quotas of tenants between the processes of a server.

Each process counts for itself. If each had the whole quota, a tenant that reaches all processes
would have it as many times as there are processes. Quotas of stored tasks are not divided, because
a tenant stores a copy of the same task in each process that it reaches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from reward_server.errors import SettingsError
from reward_server.tenants.tenant import Credential, Tenant


def divided(credentials: Iterable[Credential], number: int, count: int) -> tuple[Credential, ...]:
    """Returns the credentials with the part of each quota that one process allows.

    Args:
        credentials: the credentials, with the quotas of the server.
        number: number of the process, from 0.
        count: number of processes.

    Raises:
        SettingsError: a quota has no part for each process.
    """
    part = _Part(number, count)
    return tuple(replace(one, tenant=part.of_tenant(one.tenant)) for one in credentials)


@dataclass(frozen=True, slots=True)
class _Part:
    number: int
    count: int

    def of_tenant(self, tenant: Tenant) -> Tenant:
        whole = tenant.quotas
        quotas = replace(
            whole,
            requests_in_flight=self._of(tenant, "requests_in_flight", whole.requests_in_flight),
            slots=self._of(tenant, "slots", whole.slots),
            bytes_in_flight=self._of(tenant, "bytes_in_flight", whole.bytes_in_flight),
        )
        return replace(tenant, quotas=quotas, processes=self.count)

    def _of(self, tenant: Tenant, field: str, value: int | None) -> int | None:
        """Returns one of the parts, which add up to the value and differ by at most one."""
        if value is None:
            return None
        if value < self.count:
            raise SettingsError(
                f"token_file: {field} of the tenant {tenant.name} is {value}, and each of "
                f"{self.count} processes needs a part of at least 1: set it to {self.count} or "
                "more, or use fewer processes"
            )
        return (self.number + 1) * value // self.count - self.number * value // self.count
