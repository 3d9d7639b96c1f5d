"""The digest by which a task is recognised, whatever its completion, id, limits and labels are."""

from __future__ import annotations

import hashlib
import json

from google.protobuf import json_format

from codereward.v1 import reward_service_pb2 as pb

_FIELDS = ("language", "prompt", "data_files", "text_data_files")


def task_digest(request: pb.ScoreRequest) -> str:
    """Returns SHA-256, in hexadecimal, of the fields that `Task` has.

    It is computed from the JSON form with sorted names, which does not depend on the version of
    protobuf or on how a message was made.
    """
    known = json_format.MessageToDict(request, preserving_proto_field_name=True)
    kept = {name: known[name] for name in _FIELDS if name in known}
    if kind := request.WhichOneof("tests"):
        kept["tests"] = {kind: known.get(kind, {})}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
