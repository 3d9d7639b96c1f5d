"""Generates the committed stubs in proto/codereward/v1, or compares them with the .proto files.

It needs an interpreter with the packages of scripts/proto_requirements.txt: run `make proto`, or
`make lint` to compare only.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import subprocess
import sys
import sysconfig
import tempfile
from importlib import resources
from pathlib import Path

PROTO_FOLDER = Path(__file__).resolve().parent.parent / "proto"
PROTO_FILES = ("codereward/v1/reward_service.proto", "codereward/v1/session_service.proto")
STUBS = {
    f"{file.removesuffix('.proto')}_pb2{ending}": file
    for file in PROTO_FILES
    for ending in (".py", ".pyi", "_grpc.py", "_grpc.pyi")
}


def generate(proto_folder: Path, output: Path) -> None:
    """Writes the stubs of the .proto files under `output`.

    Raises:
        subprocess.CalledProcessError: the compiler refused a file.
    """
    command = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={proto_folder}"]
    command += [f"--proto_path={folder}" for folder in _imported_folders()]
    command += [f"--{kind}_out={output}" for kind in ("python", "grpc_python")]
    command += [f"--{kind}_out=quiet:{output}" for kind in ("mypy", "mypy_grpc")]
    plugins = sysconfig.get_path("scripts")
    environment = {**os.environ, "PATH": f"{plugins}{os.pathsep}{os.environ.get('PATH', '')}"}
    subprocess.run([*command, *PROTO_FILES], check=True, env=environment)


def stale_stubs(proto_folder: Path) -> list[str]:
    """Returns the committed stubs that differ from freshly generated ones."""
    with tempfile.TemporaryDirectory() as fresh:
        generate(proto_folder, Path(fresh))
        _, different, missing = filecmp.cmpfiles(proto_folder, fresh, [*STUBS], shallow=False)
    return [*different, *missing]


def _imported_folders() -> list[Path]:
    google = resources.files("google.rpc").joinpath("status.proto")
    return [Path(str(google)).parents[2]]


def main() -> int:
    """Generates or compares; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if stubs differ")
    parser.add_argument("--proto-folder", type=Path, default=PROTO_FOLDER)
    arguments = parser.parse_args()
    if not arguments.check:
        generate(arguments.proto_folder, arguments.proto_folder)
        return 0
    stale = stale_stubs(arguments.proto_folder)
    for stub in stale:
        print(f"{stub} is not what {STUBS[stub]} generates; run `make proto`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
