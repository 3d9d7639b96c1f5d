"""Cuts completions that are too large to be sent, so that they still get a verdict.

The server judges a completion above 1 MiB without running it, since the model is its author. An
error would leave the row out of its group's baseline, which a model could exploit.
"""

from __future__ import annotations

from codereward.v1 import reward_service_pb2 as pb

MOST_COMPLETION_BYTES = 1 << 20
MOST_FILES_BYTES = 16 << 20
_KEPT_CHARACTERS = 1 << 12


def cut(request: pb.ScoreRequest) -> pb.ScoreRequest:
    """Returns the request; a completion that is too large is cut, and its true size recorded."""
    text = len(request.completion)
    text = text if 4 * text <= MOST_COMPLETION_BYTES else len(request.completion.encode())
    files = sum(map(len, request.files.values())) if request.files else 0
    files += sum(len(one.encode()) for one in request.text_files.values())
    if text <= MOST_COMPLETION_BYTES and files <= MOST_FILES_BYTES:
        return request
    short = pb.ScoreRequest()
    short.CopyFrom(request)
    short.completion = request.completion[:_KEPT_CHARACTERS]
    short.completion_size_bytes = max(request.completion_size_bytes, text + files)
    short.ClearField("files")
    short.ClearField("text_files")
    return short
