"""The committed stubs are what the contract generates, on the lowest and any other runtime."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from codereward.revisions import added_in, revision
from codereward.v1 import reward_service_pb2, reward_service_pb2_grpc, session_service_pb2

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


@pytest.mark.parametrize(
    "added",
    [
        "message Added { int32 number = 1; }",
        "enum Added { ADDED_UNSPECIFIED = 0; }",
        "service AddedService { rpc Add(Task) returns (Task); }",
    ],
)
def test_a_contract_that_grew_needs_a_revision(check, repository: Path, tmp_path: Path, added: str):
    shutil.copytree(repository / "proto", tmp_path / "proto")
    contract = tmp_path / "proto" / CONTRACT
    contract.write_text(f"{contract.read_text()}\n// Added.\n{added}\n")
    assert "revisions.txt is not what the contract generates" in check(tmp_path / "proto").stderr


@pytest.mark.promise("The contract only grows.", "Compatibility")
@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("string id = 1;", "", "ScoreRequest.id 1 string"),
        ("string id = 1;", "string id = 60;", "ScoreRequest.id 1 string"),
        ("string id = 1;", "bytes id = 1;", "ScoreRequest.id 1 string"),
        ("double weight = 3;", "float weight = 3;", "CallCase.weight 3 optional double"),
        ("NETWORK_LOOPBACK = 1;", "NETWORK_OWN = 1;", "Network.NETWORK_LOOPBACK 1"),
    ],
)
def test_a_contract_that_lost_something_is_refused(
    check, repository: Path, tmp_path: Path, old: str, new: str, lost: str
):
    shutil.copytree(repository / "proto", tmp_path / "proto")
    contract = tmp_path / "proto" / CONTRACT
    contract.write_text(contract.read_text().replace(old, new, 1))
    result = check(tmp_path / "proto")
    assert result.returncode == 1
    assert f"the contract only grows, but this is gone: codereward.v1.{lost}" in result.stderr


def test_the_table_of_revisions_has_all_that_the_stubs_have():
    for file in (reward_service_pb2.DESCRIPTOR, session_service_pb2.DESCRIPTOR):
        for message in file.message_types_by_name.values():
            assert all(1 <= added_in(field.full_name) <= revision() for field in message.fields)


def test_the_packages_floor_is_the_generators_version(repository: Path):
    pyproject = (repository / "pyproject.toml").read_text()
    assert f'"grpcio>={reward_service_pb2_grpc.GRPC_GENERATED_VERSION},' in pyproject
