"""The committed stubs are what the contract generates, on the lowest and any other runtime."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from codereward.v1 import reward_service_pb2_grpc

CONTRACT = Path("codereward") / "v1" / "reward_service.proto"


@pytest.fixture
def check(repository: Path):
    """Returns a function which compares a proto folder's stubs with freshly generated ones."""
    generator = repository / "build" / "proto-tools" / "bin" / "python"
    if not generator.exists():
        pytest.skip("the generator is not installed: run `make proto-tools`")

    def run(proto_folder: Path) -> subprocess.CompletedProcess[str]:
        script = repository / "scripts" / "generate_proto.py"
        command = [generator, script, "--check", "--proto-folder", proto_folder]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def test_the_committed_stubs_are_what_the_contract_generates(check, repository: Path):
    result = check(repository / "proto")
    assert (result.returncode, result.stderr) == (0, "")


def test_a_changed_contract_is_noticed_in_the_stubs_it_touches(
    check, repository: Path, tmp_path: Path
):
    shutil.copytree(repository / "proto", tmp_path / "proto")
    contract = tmp_path / "proto" / CONTRACT
    contract.write_text(contract.read_text() + "\n// Added.\nmessage Added {}\n")
    result = check(tmp_path / "proto")
    assert result.returncode == 1
    assert "reward_service_pb2.py is not what" in result.stderr
    assert "reward_service_pb2_grpc.py is not what" not in result.stderr


def test_the_packages_floor_is_the_generators_version(repository: Path):
    pyproject = (repository / "pyproject.toml").read_text()
    assert f'"grpcio>={reward_service_pb2_grpc.GRPC_GENERATED_VERSION},' in pyproject
