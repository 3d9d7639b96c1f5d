"""Which walls a server needs, and what is left out where one is missing."""

from __future__ import annotations

import pytest

from reward_server.domain import Wall
from reward_server.errors import MissingWallError, SettingsError
from reward_server.sandbox.base import WallOptions
from reward_server.sandbox.walls import WALLS, Need, WallKind, require, without_missing

ALL = tuple(kind.name for kind in WALLS)


def walls(*missing: str) -> tuple[Wall, ...]:
    return tuple(
        Wall(name=name, standing=name not in missing, detail=f"about {name}") for name in ALL
    )


def test_a_host_with_every_wall_is_accepted() -> None:
    require(walls())


@pytest.mark.parametrize("kind", WALLS, ids=ALL)
def test_each_wall_is_needed_according_to_its_kind(kind: WallKind) -> None:
    if kind.need is Need.EXTRA:
        require(walls(kind.name))
        return
    with pytest.raises(MissingWallError, match=f"{kind.name}: about {kind.name}"):
        require(walls(kind.name))
    if kind.need is Need.WAIVABLE:
        require(walls(kind.name), [kind.name])


@pytest.mark.promise(
    "A missing wall that `--allow-missing` does not name stops the start.", "Confinement"
)
def test_only_what_is_not_waived_is_named() -> None:
    with pytest.raises(MissingWallError) as caught:
        require(walls("memory-limit", "seccomp", "landlock"), ["memory-limit"])
    assert caught.value.missing == (("seccomp", "about seccomp"),)
    assert "or accept the risk with --allow-missing seccomp" in str(caught.value)
    assert "without which nothing runs" not in str(caught.value)


def test_the_flag_is_offered_for_what_can_be_waived_alone() -> None:
    with pytest.raises(MissingWallError) as caught:
        require(walls("bubblewrap", "container", "seccomp", "cpu-limit"))
    assert str(caught.value).endswith(
        "\nmend bubblewrap, container, without which nothing runs (see `reward-server doctor`)"
        "\nmend cpu-limit, seccomp (see `reward-server doctor`), or accept the risk with "
        "--allow-missing cpu-limit,seccomp"
    )


@pytest.mark.parametrize("kind", [kind for kind in WALLS if kind.need is Need.ALWAYS])
def test_no_flag_is_offered_for_what_cannot_be_waived(kind: WallKind) -> None:
    with pytest.raises(MissingWallError, match=f"mend {kind.name}, without which") as caught:
        require(walls(kind.name))
    assert "--allow-missing" not in str(caught.value)


@pytest.mark.parametrize("name", ["bubblewrap", "container", "moat", ""])
def test_what_is_no_wall_or_cannot_be_waived_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=r"cannot be waived; choose from memory-limit"):
        require(walls(), [name])


def test_a_missing_wall_is_left_out_of_containers() -> None:
    options = without_missing(WallOptions(), walls("seccomp", "private-proc"))
    built = (options.use_seccomp, options.use_landlock, options.private_proc)
    assert built == (False, True, False)
    assert without_missing(options, walls()) == options
