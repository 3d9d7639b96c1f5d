from __future__ import annotations

import subprocess
import sys
from pathlib import Path

THREADED = (
    "import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()"
)


def preload(folder: Path, module: str) -> str:
    """Preloads a module as a zygote would; gives what it complained of."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from reward_server.runner.supervisor.preloading import preload\n"
        "preload([sys.argv[2]])"
    )
    command = [sys.executable, "-c", code, str(folder), module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.rpartition("\n")[0].rpartition("\n")[2]


def test_a_module_that_starts_a_thread_is_not_preloaded(tmp_path: Path) -> None:
    (tmp_path / "threaded.py").write_text(THREADED)
    (tmp_path / "plain.py").write_text("")
    assert preload(tmp_path, "threaded") == (
        "RuntimeError: a thread runs since threaded was imported: it cannot be preloaded"
    )
    assert preload(tmp_path, "plain") == ""
