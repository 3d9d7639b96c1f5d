"""A cgroup version 2 tree in a folder, with the kernel's rules and formats.

The rules kept: a controller must be offered to be handed down; a cgroup other than the root that
holds processes hands nothing down; one that hands controllers down takes no process; one that
holds processes or children cannot be removed; `cgroup.kill` empties it; a file that the kernel
does not know does not exist, and a number it does not take is refused.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from reward_server.sandbox.local import cgroup, janitor

_FILES = {
    "memory": {
        "memory.max": "max\n",
        "memory.swap.max": "max\n",
        "memory.current": "0\n",
        "memory.peak": "0\n",
        "memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n",
    },
    "pids": {"pids.max": "max\n", "pids.current": "0\n", "pids.events": "max 0\n"},
    "cpu": {"cpu.max": "max 100000\n"},
}


class FakeCgroup2:
    """The tree, mounted at `root`, and the /proc files that point to it."""

    def __init__(self, root: Path, controllers: str = "cpuset cpu io memory pids") -> None:
        self.root = root
        self.process = root.parent / "proc"
        self.process.mkdir()
        self.process.joinpath("mountinfo").write_text(
            "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
            f"30 23 0:26 / {root} rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw\n"
        )
        root.mkdir()
        self._populate(root, controllers)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Puts the tree's rules behind the calls that the code under test makes."""
        mkdir, rmdir = os.mkdir, os.rmdir

        def fake_mkdir(path: str | Path, mode: int = 0o777) -> None:
            mkdir(path, mode)
            if Path(path).is_relative_to(self.root):
                self._populate(Path(path), self._read(Path(path).parent, "subtree_control"))

        def fake_rmdir(path: str, *, dir_fd: int | None = None) -> None:
            if dir_fd is None and Path(path).is_relative_to(self.root):
                children = [child for child in Path(path).iterdir() if child.is_dir()]
                if children or self._read(Path(path), "procs"):
                    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
                for file in Path(path).iterdir():
                    file.unlink()
            rmdir(path, dir_fd=dir_fd)

        monkeypatch.setattr(os, "mkdir", fake_mkdir)
        monkeypatch.setattr(os, "rmdir", fake_rmdir)
        monkeypatch.setattr(cgroup, "write_control", self.write)
        monkeypatch.setattr(janitor, "write_control", self.write)

    def make(self, path: str, *, processes: tuple[int, ...] = ()) -> Path:
        """Makes a cgroup with processes in it."""
        directory = self.root / path
        directory.mkdir()
        (directory / "cgroup.procs").write_text("".join(f"{pid}\n" for pid in processes))
        return directory

    def start_in(self, path: str) -> None:
        """Puts this process into a cgroup."""
        self._move(os.getpid(), self.root / path.lstrip("/"))
        (self.process / "cgroup").write_text(f"0::/{path.lstrip('/')}\n")

    def _move(self, moved: int, directory: Path) -> None:
        for file in self.root.rglob("cgroup.procs"):
            kept = [pid for pid in file.read_text().split() if pid != str(moved)]
            file.write_text("".join(f"{pid}\n" for pid in kept))
        with (directory / "cgroup.procs").open("a") as procs:
            procs.write(f"{moved}\n")

    def write(self, path: str, text: str) -> None:
        """Does what the kernel does on a write."""
        file = Path(path)
        if not file.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        directory = file.parent
        if file.name == "cgroup.subtree_control":
            self._hand_down(directory, text)
        elif file.name == "cgroup.procs":
            if directory != self.root and self._read(directory, "subtree_control"):
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
            if int(text) in (0, os.getpid()):
                self.start_in(str(directory.relative_to(self.root)))
            else:
                self._move(int(text), directory)
        elif file.name == "cgroup.kill":
            (directory / "cgroup.procs").write_text("")
        elif not all(word.isdecimal() for word in text.split()):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        else:
            file.write_text(f"{text}\n")

    def _hand_down(self, directory: Path, text: str) -> None:
        controller = text.removeprefix("+")
        if controller not in self._read(directory, "controllers").split():
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        if directory != self.root and self._read(directory, "procs"):
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        handed = f"{self._read(directory, 'subtree_control')} {controller}".strip()
        (directory / "cgroup.subtree_control").write_text(f"{handed}\n")
        for child in directory.iterdir():
            if child.is_dir():
                self._offer(child, controller)

    def _populate(self, directory: Path, controllers: str) -> None:
        common = {"controllers": "\n", "subtree_control": "\n", "procs": ""}
        if directory != self.root:
            common |= {"type": "domain\n", "kill": "", "events": "populated 0\nfrozen 0\n"}
        for name, content in common.items():
            (directory / f"cgroup.{name}").write_text(content)
        (directory / "cpu.stat").write_text("usage_usec 0\nuser_usec 0\nsystem_usec 0\n")
        for controller in controllers.split():
            self._offer(directory, controller)

    def _offer(self, directory: Path, controller: str) -> None:
        offered = f"{self._read(directory, 'controllers')} {controller}".strip()
        (directory / "cgroup.controllers").write_text(f"{offered}\n")
        if directory != self.root:
            for name, content in _FILES.get(controller, {}).items():
                (directory / name).write_text(content)

    def _read(self, directory: Path, name: str) -> str:
        return (directory / f"cgroup.{name}").read_text().strip()
