"""Reads the repositories that images have.

The engine sends the files of a container that never starts. So they are those of the image, and no
program could have changed them.

What this stops: a repository above the bounds of `grading.repository.tree`, of which no more than
these bounds is read; a container that outlives its use, see `inventory`.
"""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Iterator
from contextlib import closing

import docker

from reward_server.errors import SandboxError
from reward_server.grading.repository.tree import Tree, read_streamed_folder
from reward_server.sandbox.docker.container import API_TIMEOUT_SECONDS
from reward_server.sandbox.docker.exported import Exported
from reward_server.sandbox.docker.inventory import ENGINE_FAILURES, Containers, told

# Where `adapted` keeps the repository of an image.
REPOSITORY_FOLDER = "/opt/codereward/repository"
READ_SECONDS = 120.0
PIECE_BYTES = 256 << 10


class ImageRepositories:
    """Reads the repositories of an engine's images.

    Args:
        engine: the engine.
    """

    def __init__(self, engine: docker.APIClient) -> None:
        self._containers = Containers(engine)

    async def read(self, image: str) -> Tree:
        """Reads the repository of an image; cancelling the call leaves no container.

        Args:
            image: the image's id.

        Raises:
            TreeError: its files exceed a bound, or a link leads out of it.
            SandboxError: the engine does not send it in time.
        """
        name, stop = self._containers.new_name(), threading.Event()
        reading = asyncio.ensure_future(asyncio.to_thread(self._read, image, name, stop))
        try:
            async with asyncio.timeout(READ_SECONDS):
                return await asyncio.shield(reading)
        except TimeoutError:
            raise SandboxError(
                f"the repository of {image} was not read in {READ_SECONDS:g} seconds"
            ) from None
        except ENGINE_FAILURES as error:
            raise SandboxError(
                f"the engine does not send the repository of {image}: {told(error)}"
            ) from error
        finally:
            # The thread continues, and must end before its work can be undone.
            stop.set()
            await asyncio.gather(reading, return_exceptions=True)
            await self._containers.remove(name)

    async def aclose(self) -> None:
        """Removes the containers that the engine has not removed before."""
        await self._containers.close()

    def _read(self, image: str, name: str, stop: threading.Event) -> Tree:
        engine = self._containers.engine
        engine.create_container(
            image,
            ["true"],
            name=name,
            network_disabled=True,
            labels=self._containers.labels,
        )
        # The SDK's own method does not close the connection of an answer that is not read whole.
        url = f"{engine.base_url}/v{engine.api_version}/containers/{name}/archive"
        place = {"path": REPOSITORY_FOLDER}
        with closing(
            engine.get(url, params=place, stream=True, timeout=API_TIMEOUT_SECONDS)
        ) as response:
            if not response.ok:
                raise docker.errors.APIError(response.text, response=response)
            pieces = _until(stop, response.iter_content(PIECE_BYTES))
            top = REPOSITORY_FOLDER.rpartition("/")[2]
            return read_streamed_folder(io.BufferedReader(Exported(pieces)), top)


def _until(stop: threading.Event, pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        if stop.is_set():
            raise OSError("nobody waits for the repository any more")
        yield piece
