"""Generates what is committed beside the .proto files, or compares it with them.

These are the stubs, and the table of revisions: a line for each field, value of an enumeration and
method, with the revision of the contract that added it, its name, its number and its type. What is
not in the table makes one more revision. Programs of all revisions may meet, so no line is ever
changed or removed.

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
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

PROTO_FOLDER = Path(__file__).resolve().parent.parent / "proto"
PROTO_FILES = ("codereward/v1/reward_service.proto", "codereward/v1/session_service.proto")
REVISIONS = "codereward/v1/revisions.txt"
STUBS = {
    f"{file.removesuffix('.proto')}_pb2{ending}": file
    for file in PROTO_FILES
    for ending in (".py", ".pyi", "_grpc.py", "_grpc.pyi")
}


class ContractError(Exception):
    """The contract lost or changed something."""


def generate(proto_folder: Path, output: Path) -> None:
    """Writes the stubs and the table of the .proto files under `output`.

    Raises:
        ContractError: something that the table has is gone or changed.
        subprocess.CalledProcessError: the compiler refused a file.
    """
    with tempfile.NamedTemporaryFile() as described:
        command = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={proto_folder}"]
        command += [f"--proto_path={folder}" for folder in _imported_folders()]
        command += [f"--{kind}_out={output}" for kind in ("python", "grpc_python")]
        command += [f"--{kind}_out=quiet:{output}" for kind in ("mypy", "mypy_grpc")]
        command += [f"--descriptor_set_out={described.name}"]
        plugins = sysconfig.get_path("scripts")
        environment = {**os.environ, "PATH": f"{plugins}{os.pathsep}{os.environ.get('PATH', '')}"}
        subprocess.run([*command, *PROTO_FILES], check=True, env=environment)
        files = FileDescriptorSet.FromString(Path(described.name).read_bytes()).file
    table = (proto_folder / REVISIONS).read_text()
    (output / REVISIONS).write_text(extended(table, [e for file in files for e in _entries(file)]))


def extended(table: str, entries: list[str]) -> str:
    """Returns a table, with one more revision if there are entries that it has not.

    Raises:
        ContractError: it has an entry that is not given.
    """
    known = dict(reversed(line.split(" ", 1)) for line in table.splitlines())
    if gone := [entry for entry in known if entry not in entries]:
        raise ContractError(f"the contract only grows, but this is gone: {', '.join(gone)}")
    revision = 1 + max(map(int, known.values()), default=0)
    return table + "".join(f"{revision} {entry}\n" for entry in entries if entry not in known)


def _entries(file: FileDescriptorProto) -> Iterator[str]:
    for service in file.service:
        for method in service.method:
            answers = f"{'stream' if method.server_streaming else 'one'} {method.output_type[1:]}"
            yield f"{file.package}.{service.name}.{method.name} {method.input_type[1:]} {answers}"
    for message in file.message_type:
        for field in message.field:
            yield f"{file.package}.{message.name}.{field.name} {field.number} {_type(field)}"
    for kind in file.enum_type:
        for value in kind.value:
            yield f"{file.package}.{kind.name}.{value.name} {value.number}"


def _type(field: FieldDescriptorProto) -> str:
    kind = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        kind = f"repeated {kind}"
    if field.proto3_optional:
        kind = f"optional {kind}"
    return f"{kind} {field.type_name[1:]}".rstrip()


def stale_files(proto_folder: Path) -> list[str]:
    """Returns the committed files that differ from freshly generated ones."""
    with tempfile.TemporaryDirectory() as fresh:
        generate(proto_folder, Path(fresh))
        _, different, missing = filecmp.cmpfiles(
            proto_folder, fresh, [*STUBS, REVISIONS], shallow=False
        )
    return [*different, *missing]


def _imported_folders() -> list[Path]:
    google = resources.files("google.rpc").joinpath("status.proto")
    return [Path(str(google)).parents[2]]


def main() -> int:
    """Generates or compares; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if files differ")
    parser.add_argument("--proto-folder", type=Path, default=PROTO_FOLDER)
    arguments = parser.parse_args()
    try:
        if not arguments.check:
            generate(arguments.proto_folder, arguments.proto_folder)
            return 0
        stale = stale_files(arguments.proto_folder)
    except ContractError as error:
        print(error, file=sys.stderr)
        return 1
    for file in stale:
        source = STUBS.get(file, "the contract")
        print(f"{file} is not what {source} generates; run `make proto`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
