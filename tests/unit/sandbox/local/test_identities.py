"""Containers get user ids that exist where the server runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from reward_server.sandbox.local.identities import first_identity

WANTED = 1_990_000_000


def place(folder: Path, users: str, groups: str | None = None) -> Path:
    (folder / "uid_map").write_text(users)
    (folder / "gid_map").write_text(users if groups is None else groups)
    return folder


@pytest.mark.parametrize(
    ("users", "groups", "first"),
    [
        ("0 0 4294967295\n", None, WANTED),
        ("0 200000 65536\n", None, 65_526),  # below 65534, which stands for all others
        ("0 200000 70000\n", None, 69_992),
        ("0 200000 65536\n", "0 200000 5000\n", 4_992),
        ("0 1000 1\n1 100000 65535\n", None, 65_526),
        ("0 0 1000\n", None, WANTED),  # accounts of the system are never taken
        ("0 0 1004\n", None, WANTED),  # too few
        ("1000 1000 1\n", None, WANTED),
    ],
)
def test_the_highest_ids_that_exist_are_taken(
    tmp_path: Path, users: str, groups: str | None, first: int
) -> None:
    assert first_identity(WANTED, 8, place(tmp_path, users, groups)) == first
