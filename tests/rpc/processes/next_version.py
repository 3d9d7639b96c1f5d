"""A next version of the server: a copy of this tree with another number and a grown contract.

What is real: the copy is a tree of its own, whose processes import nothing of this one. Its
version is 0.3.0, its messages have fields that this version does not know, and its answers fill one
of them. What is not: the rest of its code is this version's, because no next version exists yet.
"""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

from google.protobuf import descriptor_pb2

from codereward.revisions import revision

VERSION = "0.3.0"
NEW_FIELD, NEW_NUMBER = "from_the_next_version", 900
# A request's new field with a text, as it is sent: the number and the type, the length, the text.
IN_A_REQUEST = b"\xa2\x38\x06a word"
ROOT = Path(__file__).resolve().parents[3]
_GROWN = ("ScoreRequest", "ScoreResponse", "GetServerInfoResponse", "PutTaskResponse")
_FIELD = descriptor_pb2.FieldDescriptorProto


def copied(folder: Path) -> Path:
    """Makes the copy in a folder, and returns it."""
    for name in ("reward_server", "proto", "tests/support"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests" / "rpc").mkdir()
    shutil.copy(ROOT / "tests" / "rpc" / "fakes.py", folder / "tests" / "rpc")
    facts = folder / f"codereward-{VERSION}.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: codereward\nVersion: {VERSION}\n"
    )
    _grow(folder / "proto" / "codereward" / "v1" / "reward_service_pb2.py")
    _fill(folder / "reward_server" / "rpc" / "answers.py")
    return folder


def python_path(tree: Path) -> str:
    """Returns the value of PYTHONPATH with which a process imports a tree and nothing of others."""
    return f"{tree}:{tree / 'proto'}"


def _grow(stub: Path) -> None:
    """Adds a field to messages of the generated module, as the compiler would write it."""
    text = stub.read_text()
    [written] = re.findall(r"AddSerializedFile\((b'.*')\)", text)
    file = descriptor_pb2.FileDescriptorProto.FromString(ast.literal_eval(written))
    messages = {one.name: one for one in file.message_type}
    for name in _GROWN:
        messages[name].field.add(
            name=NEW_FIELD,
            number=NEW_NUMBER,
            type=_FIELD.TYPE_STRING,
            label=_FIELD.LABEL_OPTIONAL,
            json_name=NEW_FIELD,
        )
    stub.write_text(text.replace(written, repr(file.SerializeToString())))
    with stub.with_name("revisions.txt").open("a") as table:
        table.writelines(
            f"{revision() + 1} codereward.v1.{name}.{NEW_FIELD} {NEW_NUMBER} string\n"
            for name in _GROWN
        )


def _fill(module: Path) -> None:
    """Lets answers hold the new field."""
    text, found = module.read_text(), "id=assessment.id,\n"
    assert text.count(found) == 1
    module.write_text(text.replace(found, f'{found}        {NEW_FIELD}="a text",\n'))
