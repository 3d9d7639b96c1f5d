"""An engine's containers for sessions; see `container` for what they stop.

The server may be unable to read a container's control group, because the engine can be on another
machine. So the session itself tells the counters of limits that were hit. They explain to a caller
why a command ended, and decide nothing.
"""

from __future__ import annotations

from reward_server.sandbox.docker.container import ContainerMaker, DockerContainer
from reward_server.sandbox.sessions.sandbox import SessionSandbox
from reward_server.sandbox.sessions.values import Counters


class DockerSessionContainer(DockerContainer):
    """A container for one session; see `sandbox.sessions.sandbox.SessionContainer`."""

    def counters(self, told: Counters) -> Counters:
        """Returns what the session says."""
        return told


class DockerSessions(ContainerMaker):
    """Starts an engine's containers for sessions."""

    async def __call__(self, number: int) -> SessionSandbox:
        """Starts the container of a session.

        Raises:
            SandboxError: the container or its runner did not start.
        """
        container = await DockerSessionContainer.start(self.containers, await self.plan())
        return await SessionSandbox.start(container)
