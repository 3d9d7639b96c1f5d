"""Runs `buf lint` on the contract, without a registry.

The only import from another project, google/rpc/status.proto, is copied from the installed
googleapis-common-protos into a temporary copy of the workspace.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib import resources
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
CONTRACT = "proto/codereward"


def lay_out(workspace: Path) -> None:
    """Copies the contract, its configuration and its import into a workspace."""
    shutil.copy(REPOSITORY / "buf.yaml", workspace)
    for source in (REPOSITORY / CONTRACT).rglob("*.proto"):
        _write(workspace / source.relative_to(REPOSITORY), source.read_text())
    imported = resources.files("google.rpc").joinpath("status.proto")
    _write(workspace / "proto" / "google" / "rpc" / "status.proto", imported.read_text())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main() -> int:
    """Lints; returns buf's exit status."""
    buf = Path(sysconfig.get_path("scripts")) / "buf"
    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder))
        return subprocess.run([buf, "lint", "--path", CONTRACT], cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
