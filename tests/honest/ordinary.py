"""An ordinary run: a solution and its tests in one interpreter, with nothing between them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from reward_server.domain import Framework, FunctionTests, UnitTests

_TIMEOUT_SECONDS = 60


def run_functions(completion: str, tests: FunctionTests, prompt: str, folder: Path) -> str:
    """Runs tests in the names of the solution; returns what went wrong, or nothing."""
    folder.joinpath("solution.py").write_text(f"{prompt}\n{completion}")
    lines = [
        "import solution",
        "globals().update({k: v for k, v in vars(solution).items() if k[:2] != '__'})",
        f"candidate = {tests.entry_point or None}",
        tests.setup_code,
        tests.test_code,
        "check(candidate)" if "def check" in tests.test_code else "",
        *tests.asserts,
    ]
    folder.joinpath("main.py").write_text("\n".join(lines))
    return _run(folder, "main.py")


def run_files(solution: str, tests: UnitTests, folder: Path) -> str:
    """Runs test files beside the solution; returns what went wrong, or nothing."""
    for path, text in (*tests.files, (tests.solution_path, solution)):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    if tests.framework is Framework.PYTEST:
        return _run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly")
    names = [path.removesuffix(".py").replace("/", ".") for path, _ in tests.files]
    return _run(folder, "-m", "unittest", *(name for name in names if "test" in name))


def _run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return "" if done.returncode == 0 else done.stdout[-2000:] + done.stderr[-2000:]
