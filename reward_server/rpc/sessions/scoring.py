"""Makes a submission of the files that a session leaves."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from codereward.v1 import reward_service_pb2 as reward_pb
from reward_server.domain import Extraction, RepositoryTests, Submission
from reward_server.errors import SessionFileError
from reward_server.rpc.convert import SOURCE_BYTES
from reward_server.sessions.session import Session


async def with_files(asked: Submission, session: Session, place: str) -> Submission:
    """Returns a submission with the files of a session, none of whose processes runs any more.

    Files that cannot be judged are the completion's fault, because the agent is their author.

    Args:
        asked: the submission without them.
        session: the session.
        place: the folder that is a repository, or for other tests the file that is the completion.

    Raises:
        SessionEndedError: the session has ended.
    """
    try:
        if isinstance(asked.tests, RepositoryTests):
            return await _with_folder(asked, session, place)
        return await _with_completion(asked, session, place)
    except SessionFileError as error:
        return replace(asked, refusal=f"the session's {error}")


async def _with_folder(asked: Submission, session: Session, folder: str) -> Submission:
    left = await session.left(folder)
    return replace(
        asked,
        files=tuple(sorted(left.files.items())),
        executable=left.executable,
        is_whole=True,
        refusal=left.refusal,
    )


async def _with_completion(asked: Submission, session: Session, path: str) -> Submission:
    content = await session.left_file(path, SOURCE_BYTES)
    if content is None:
        return replace(asked, refusal=f"{path} has more than {SOURCE_BYTES} bytes")
    is_code = asked.extraction is Extraction.AUTO
    return replace(
        asked,
        completion=content.decode("utf-8", "replace"),
        extraction=Extraction.NONE if is_code else asked.extraction,
    )


def for_record(request: reward_pb.ScoreRequest, submission: Submission) -> reward_pb.ScoreRequest:
    """Returns a request as the audit log records it, with what was judged as its completion.

    Of a folder that is a list of its files, as `sha256sum` writes it.
    """
    told = reward_pb.ScoreRequest(id=request.id, task_digest=request.task_digest)
    told.completion = submission.completion
    if submission.is_whole:
        told.completion = "".join(
            f"{hashlib.sha256(content).hexdigest()}  {path}\n" for path, content in submission.files
        )
    return told
