"""Checks software bills of materials."""

from __future__ import annotations


def complaint_of_schema(bill: str) -> object:
    """Validates a bill of materials; returns what is wrong with it, or None."""
    # Loading them takes seconds, which every process that collects tests would spend.
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    return JsonStrictValidator(SchemaVersion.V1_5).validate_str(bill)
