"""Files of a session: written, read and listed, and nothing beyond the session by any path."""

from __future__ import annotations

import pytest

from tests.sessions.conftest import SMALL
from tests.support.common import on_the_servers_loop
from trainer_client import AsyncRewardClient, AsyncSession, CallError, FileType, SessionFileError

pytestmark = on_the_servers_loop


async def test_files_of_any_size_are_written_and_read(session: AsyncSession) -> None:
    files = {"empty": b"", "a/b/c.bin": bytes(range(256)) * 10_000, "/tmp/t.txt": "grüße"}
    await session.write_files(files)
    assert await session.read_file("empty") == b""
    assert await session.read_file("a/b/c.bin") == files["a/b/c.bin"]
    assert await session.read_file("/tmp/t.txt") == "grüße".encode()
    await session.write_files({"a/b/c.bin": "short"})
    assert await session.read_file("a/b/c.bin") == b"short"


async def test_a_script_can_be_made_executable(session: AsyncSession) -> None:
    await session.write_files({"run": "#!/bin/bash\necho $1"}, executable=True)
    assert (await session.exec(["./run", "x"])).stdout == b"x\n"


async def test_a_folder_is_listed_with_types_sizes_and_modes(session: AsyncSession) -> None:
    await session.write_files({"d/one": b"1", "two": b"22"})
    await session.exec(["bash", "-c", "ln -s /etc/passwd link; mkfifo pipe; chmod 600 two"])
    found = {entry.path: entry for entry in await session.list_files()}
    assert {path: entry.type for path, entry in found.items()} == {
        "d": FileType.FOLDER,
        "link": FileType.LINK,
        "pipe": FileType.OTHER,
        "two": FileType.FILE,
    }
    assert (found["two"].size_bytes, found["two"].mode) == (2, 0o600)
    paths = [entry.path for entry in await session.list_files(recursive=True)]
    assert paths == ["d", "d/one", "link", "pipe", "two"]


async def test_names_that_are_no_text_and_folders_without_end_are_listed(
    client: AsyncRewardClient,
) -> None:
    many = "import os\nopen(b'\\xff', 'w')\nfor n in range(11000): open(f'f{n}', 'w')\nos.listdir()"
    async with client.session(**SMALL) as session:
        result = await session.exec(["python3", "-c", many])
        assert result.success, result
        found = await session.list_files()
        assert len(found) == 10_000
        await session.exec(["bash", "-c", "rm -f f*; ln -s . loop"])
        assert [one.path for one in await session.list_files(recursive=True)] == ["loop", "\ufffd"]


@pytest.mark.parametrize(
    ("make", "path", "reason"),
    [
        ("", "none", "FILE_NOT_FOUND"),
        ("", "/etc/shadow", "FILE_NOT_FOUND"),
        ("", "../../../../../../root/.bashrc", "FILE_NOT_FOUND"),
        ("mkdir d", "d", "FILE_IS_FOLDER"),
        ("touch f", "f/x", "FILE_NOT_A_FOLDER"),
        ("mkfifo p", "p", "FILE_NOT_REGULAR"),
        ("", "/dev/zero", "FILE_NOT_REGULAR"),
        ("ln -s /dev/tty t", "t", "FILE_"),
        ("ln -s l l", "l", "FILE_FAILED"),
        ("ln -s /proc/1/mem m", "m", "FILE_NOT_PERMITTED"),
        ("ln -s /proc/1/environ e", "e", "FILE_NOT_PERMITTED"),
        ("ln -s /proc/1/fd/0 z", "z", "FILE_NOT_REGULAR"),
        ("touch s; chmod 0 s", "s", "FILE_NOT_PERMITTED"),
    ],
)
async def test_what_cannot_be_read_is_refused_with_a_reason(
    make: str, path: str, reason: str, shared_session: AsyncSession
) -> None:
    await shared_session.exec(["bash", "-c", make])
    with pytest.raises(SessionFileError) as raised:
        await shared_session.read_file(path)
    assert raised.value.reason.startswith(reason)
    assert (await shared_session.exec(["echo", "lives"])).stdout == b"lives\n"


@pytest.mark.parametrize(
    ("make", "path", "reason"),
    [
        ("", "/etc/passwd", "FILE_NOT_PERMITTED"),
        ("", "/usr/bin/new", "FILE_NOT_PERMITTED"),
        ("", "/proc/sys/kernel/core_pattern", "FILE_NOT_PERMITTED"),
        ("ln -s /usr/lib out", "out/new", "FILE_NOT_PERMITTED"),
        ("ln -s /etc/passwd w", "w", "FILE_NOT_PERMITTED"),
        ("mkfifo q", "q", "FILE_NOT_REGULAR"),
        ("mkdir d", "d", "FILE_IS_FOLDER"),
        ("touch f", "f/g", "FILE_NOT_A_FOLDER"),
    ],
)
async def test_what_cannot_be_written_is_refused_with_a_reason(
    make: str, path: str, reason: str, shared_session: AsyncSession
) -> None:
    await shared_session.exec(["bash", "-c", make])
    with pytest.raises(SessionFileError) as raised:
        await shared_session.write_files({path: "x"})
    assert raised.value.reason == reason


async def test_a_link_leads_to_the_sessions_own_files_alone(shared_session: AsyncSession) -> None:
    await shared_session.exec(["ln", "-s", "/etc/passwd", "accounts"])
    assert (await shared_session.read_file("accounts")).startswith(b"sandbox:x:1000:")


async def test_a_full_disk_and_a_large_file_are_told(client: AsyncRewardClient) -> None:
    small = {**SMALL, "disk_bytes": 2 << 20, "file_size_bytes": 1 << 20}
    async with client.session(**small) as session:
        with pytest.raises(SessionFileError) as raised:
            await session.write_files({"large": bytes((1 << 20) + 1)})
        assert raised.value.reason == "FILE_TOO_LARGE"
        with pytest.raises(SessionFileError) as raised:
            await session.write_files({f"part{number}": bytes(900_000) for number in range(4)})
        assert raised.value.reason == "FILE_DISK_FULL"
        assert raised.value.blame == "caller"


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5000])
async def test_a_path_that_can_be_none_is_refused(path: str, shared_session: AsyncSession) -> None:
    with pytest.raises(CallError, match=r"INVALID_ARGUMENT: files\[0\]\.path: "):
        await shared_session.write_files({path: "x"})


async def test_a_file_above_the_size_that_is_asked_for_is_not_read(
    shared_session: AsyncSession,
) -> None:
    await shared_session.write_files({"large.bin": bytes(3 << 20)})
    assert len(await shared_session.read_file("large.bin", most_bytes=3 << 20)) == 3 << 20
    with pytest.raises(SessionFileError, match="more than 100 bytes") as refusal:
        await shared_session.read_file("large.bin", most_bytes=100)
    assert refusal.value.reason == "FILE_TOO_LARGE"
