"""Which image a session gets, among several."""

from __future__ import annotations

import asyncio

import pytest

from reward_server.domain import MEBIBYTE
from reward_server.errors import UnsupportedError
from reward_server.runner.sessions.wire import Order, Report
from reward_server.sandbox.base import SessionSource
from reward_server.sandbox.sessions.sandbox import SessionSandbox
from reward_server.sandbox.sessions.values import Place, SessionLimits
from reward_server.sessions.bounds import SessionBounds
from reward_server.sessions.session import Wanted
from reward_server.sessions.sessions import Sessions
from reward_server.telemetry import Telemetry
from reward_server.tenants.tenant import Tenants
from tests.sessions.test_faults import Liar

IMAGES = {"plain": ("python",), "science": ("python",), "native": ("c", "cpp")}


class Shop:
    """Sources of sandboxes that remember what they started."""

    def __init__(self) -> None:
        self.started: list[str] = []

    def source(self, image: str) -> SessionSource:
        async def start(_: int) -> SessionSandbox:
            self.started.append(image)
            liar = Liar()
            liar.answer = lambda kind, *_: (
                liar.tell(Report.OPENED, 0) if kind == Order.OPEN else None
            )
            liar.tell(Report.READY, 0)
            return await SessionSandbox.start(liar)

        alias = f"registry/{image}"
        return SessionSource(start=start, languages=IMAGES[image], image=image, aliases=(alias,))


def sessions_of(shop: Shop, warm: int) -> Sessions:
    limits = SessionLimits()
    bounds = SessionBounds(
        total_memory_bytes=1024 * MEBIBYTE,
        sessions=4,
        maximum_limits=limits,
        images=tuple(IMAGES),
    )
    return Sessions(
        [shop.source(image) for image in IMAGES],
        warm=warm,
        bounds=bounds,
        tenants=Tenants(),
        meter=Telemetry(),
    )


def wanted(language: str, image: str = "") -> Wanted:
    return Wanted(
        owner="",
        language=language,
        image=image,
        place=Place(limits=SessionLimits()),
        environment={},
        files=(),
        lifetime_seconds=60.0,
        idle_seconds=60.0,
    )


@pytest.mark.parametrize(
    ("language", "image", "expected"),
    [
        ("python", "", "plain"),
        ("cpp", "", "native"),
        ("python", "science", "science"),
        ("python", "registry/science", "science"),
    ],
)
async def test_a_session_gets_the_image_that_it_names_or_the_first_with_its_language(
    language: str, image: str, expected: str
) -> None:
    shop = Shop()
    sessions = sessions_of(shop, warm=0)
    await sessions.open(wanted(language, image))
    assert shop.started == [expected]
    await sessions.close()


async def test_sandboxes_of_the_first_image_are_kept_warm() -> None:
    shop = Shop()
    sessions = sessions_of(shop, warm=2)
    await sessions.start()
    assert (shop.started, sessions.counts.warm) == (["plain", "plain"], 2)
    session = await sessions.open(wanted("cpp"))
    assert shop.started[2:] == ["native"]
    await sessions.end(session.owner, session.id)
    await asyncio.sleep(0)
    assert sessions.counts.warm == 2
    await sessions.close()


@pytest.mark.parametrize(
    ("language", "image", "problem"),
    [
        ("python", "other", "'other' is not on offer here: plain, science, native"),
        ("python", "native", "native has no python"),
        ("go", "", "no image has go"),
    ],
)
async def test_an_image_that_is_not_there_is_refused(
    language: str, image: str, problem: str
) -> None:
    shop = Shop()
    sessions = sessions_of(shop, warm=0)
    with pytest.raises(UnsupportedError, match=problem):
        await sessions.open(wanted(language, image))
    assert (shop.started, sessions.counts.open) == ([], 0)
