"""Docker: a container for each submission, or commands in one container."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import replace

from benchmarks.comparison.peer import About, UnavailableError
from benchmarks.comparison.peers.driven import Driven, Method, told
from benchmarks.measure.served import parent_of

_LABEL = "codereward.comparison"
# Without the shims: a container's shim has no relation to the engine's own processes.
_DAEMONS = frozenset({"dockerd", "containerd"})
_INIT = 1
_COUNTED = (
    "the driver's process, dockerd and containerd with all their descendants, and {}; the memory is"
    " that of the driver's tree and of the engine with all its containers, also those of others"
)
_OF_EACH = "the ended children of process 1, which waits for the shim of an ended container"
_OF_ONE = "the shim of the container with all its descendants"
_LIMITS = ("--network", "none", "--memory", "512m", "--cap-drop", "ALL", "--read-only")


class Docker(Driven):
    """Runs `docker run` for each submission, or `docker exec` in one container.

    Args:
        image: an image with python3 and timeout, which is here already.
        threads: greatest number of submissions at once.
        for_each: whether each submission has a container of its own.
    """

    def __init__(self, image: str, threads: int, *, for_each: bool) -> None:
        self._image = image
        self._for_each = for_each
        self._id = f"comparison-{uuid.uuid4().hex}"
        about = About(
            name="docker run" if for_each else "docker exec",
            isolation="container" if for_each else "one container for all",
            counted=_COUNTED.format(_OF_EACH if for_each else _OF_ONE),
        )
        method = Method(
            about=about,
            driver="docker_runs",
            options=(),
            engine=_DAEMONS,
            adopter=_INIT if for_each else None,
        )
        super().__init__(method, threads)

    async def start(self) -> None:
        """Starts the driver, and the container if there is one for all."""
        version = await told("docker", "version", "--format", "{{.Server.Version}}")
        await told("docker", "image", "inspect", "--format", "{{.Id}}", self._image)
        begin = ["docker", "run", "--rm", "--label", f"{_LABEL}={self._id}", *_LIMITS]
        pids: tuple[int, ...] = ()
        if self._for_each:
            options = (version, *begin, "--interactive", self._image)
        else:
            waiting = "import signal; signal.pause()"
            await told(
                *(*begin, "--detach", "--init", "--name", self._id, self._image),
                *("python3", "-I", "-S", "-c", waiting),
            )
            options = (version, "docker", "exec", "--interactive", self._id)
            first = await told("docker", "inspect", "--format", "{{.State.Pid}}", self._id)
            pids = (parent_of(int(first)),)
        self._method = replace(self._method, options=options, pids=pids)
        try:
            await super().start()
        except UnavailableError:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Ends the driver, and removes its containers."""
        await super().stop()
        with suppress(UnavailableError):
            label = f"label={_LABEL}={self._id}"
            left = await told("docker", "ps", "--all", "--quiet", "--filter", label)
            if left:
                await told("docker", "rm", "--force", *left.split())
