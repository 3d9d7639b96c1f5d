"""Archives are read within their bounds, and lead to no other file."""

from __future__ import annotations

import gzip
import io
import tarfile

import pytest

from reward_server.grading.repository import tree
from reward_server.grading.repository.tree import TreeError, read_archive
from tests.repository.tasks import archive


def _with(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as made:
        for member, content in members:
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def _member(name: str, *, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.mode = kind, target, 0o755
    return member


@pytest.mark.parametrize("compression", ["", "gz"])
def test_files_are_read_from_an_archive(compression: str) -> None:
    files = {"a.py": "x", "./pkg/b.py": "y", "c/.git/config": "z"}
    assert read_archive(archive(files, compression=compression)).files == {
        "a.py": b"x",
        "pkg/b.py": b"y",
    }


def test_a_link_becomes_a_copy() -> None:
    found = read_archive(
        _with(
            (_member("bin/run"), b"#!"),
            (_member("a/link", kind=tarfile.SYMTYPE, target="../bin/run"), b""),
            (_member("hard", kind=tarfile.LNKTYPE, target="bin/run"), b""),
        )
    )
    assert found.files == {"bin/run": b"#!", "a/link": b"#!", "hard": b"#!"}
    assert found.executable == found.files.keys()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (b"no archive" * 100, "is no tar archive"),
        (gzip.compress(b"no archive" * 100), "is no tar archive"),
        (gzip.compress(b"x" * 5000)[:20], "cut short"),
        (b"\x1f\x8bnothing", "not compressed"),
        (archive({"a": ""}) + archive({"b": ""}), "several parts"),
        (archive({}), "holds no files"),
        (archive({"../up": ""}), "no path of a file below"),
        (archive({"/etc/passwd": ""}), "no path of a file below"),
        (archive({"a": "", "a/b": ""}), "a file and a folder"),
        (_with((_member("l", kind=tarfile.SYMTYPE, target="../../etc/passwd"), b"")), "link 'l'"),
        (_with((_member("l", kind=tarfile.SYMTYPE, target="l"), b"")), "link 'l'"),
        (_with((_member("p", kind=tarfile.FIFOTYPE), b"")), "neither a file"),
    ],
    ids=range(12),
)
def test_what_is_no_repository_is_refused(given: bytes, problem: str) -> None:
    with pytest.raises(TreeError, match=problem):
        read_archive(given)


@pytest.mark.parametrize(
    ("headers", "problem"),
    [
        ({"GNU.sparse.size": "-1000"}, "negative size"),
        ({"GNU.sparse.map": "1,x"}, "is no tar archive"),
        ({"path": "x" * 256}, "longer than 255 bytes"),
    ],
)
def test_headers_that_are_wrong_are_refused(headers: dict[str, str], problem: str) -> None:
    member = _member("a")
    member.pax_headers = headers
    with pytest.raises(TreeError, match=problem):
        read_archive(_with((member, b"x")))


def test_a_chain_of_headers_and_a_name_that_is_no_text_are_refused() -> None:
    member = _member("a")
    member.pax_headers = {"comment": "x"}
    with pytest.raises(TreeError, match="is no tar archive"):
        read_archive(_with((member, b""))[:1024] * 3000)
    with pytest.raises(TreeError, match="not UTF-8"):
        tree.check_path("a\udcff")


def test_bounds_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MOST_FILES", 3)
    with pytest.raises(TreeError, match="more than 3 files"):
        read_archive(archive({str(number): "" for number in range(4)}))
    monkeypatch.setattr(tree, "_MOST_ARCHIVE_BYTES", 1 << 20)
    bomb = gzip.compress(bytes((1 << 20) + 1))
    with pytest.raises(TreeError, match="bytes together"):
        read_archive(bomb)
    monkeypatch.setattr(tree, "MOST_BYTES", 100)
    links = [(_member(f"l{n}", kind=tarfile.SYMTYPE, target="a"), b"") for n in range(2)]
    with pytest.raises(TreeError, match="bytes together"):
        read_archive(_with((_member("a"), b"x" * 60), *links))
