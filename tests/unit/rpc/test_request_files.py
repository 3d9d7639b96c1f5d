"""Files of a request are taken when they stay where they belong."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import Limits
from reward_server.errors import InvalidRequestError
from reward_server.languages import load_languages
from reward_server.rpc import convert, files
from reward_server.rpc.convert import Bounds

BOUNDS = Bounds(languages=load_languages(), default_limits=Limits(), maximum_limits=Limits())


def request(**changes: object) -> pb.ScoreRequest:
    return pb.ScoreRequest(
        completion="x",
        function=pb.FunctionTests(asserts=["assert f()"]),
        **changes,  # type: ignore[arg-type]  # fields by name
    )


def program(**changes: object) -> pb.ExecuteRequest:
    return pb.ExecuteRequest(source="x", **changes)  # type: ignore[arg-type]  # fields by name


def test_files_cross_in_the_order_of_their_paths() -> None:
    found = convert.submission(
        request(files={"b.py": b"2", "a/b.py": b"\0"}, data_files={"d/x.csv": b"1"}), BOUNDS
    )
    assert found.files == (("a/b.py", b"\0"), ("b.py", b"2"))
    assert found.data_files == (("d/x.csv", b"1"),)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../x", "does not stay"),
        ("a/../../x", "does not stay"),
        ("a/..", "does not stay"),
        ("/etc/passwd", "does not stay"),
        ("", "an empty part"),
        ("a//b", "an empty part"),
        ("a/", "an empty part"),
        ("./a", "a dot"),
        ("a/./b", "a dot"),
        ("a\\b", "a backslash"),
        ("a\0b", "cannot be seen"),
        ("a\nb", "cannot be seen"),
        ("x" * 257, "longer than 256 bytes"),
        ("\u00e9" * 129, "longer than 256 bytes"),
        ("a/" * 16 + "b", "has 17 parts; at most 16"),
    ],
)
@pytest.mark.parametrize("field", ["files", "data_files"])
def test_a_path_that_leads_elsewhere_is_refused_by_name(field: str, path: str, words: str) -> None:
    with pytest.raises(InvalidRequestError, match=words) as refused:
        convert.job(program(**{field: {path: b""}}), BOUNDS)
    assert refused.value.field.startswith(f'{field}["')


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a\0b", "x" * 257, "solution.py", "data"])
def test_files_of_a_completion_that_no_program_can_have_are_judged(path: str) -> None:
    found = convert.submission(
        request(files={path: b"", "fine.py": b""}, data_files={"data": b""}), BOUNDS
    )
    assert found.refusal.startswith("the completion's files[")
    assert (found.files, found.completion) == ((), "")
    assert found.data_files == (("data", b""),)


def test_files_of_a_completion_that_are_too_many_or_too_large_are_judged() -> None:
    many = convert.submission(request(files={f"f{n}": b"" for n in range(257)}), BOUNDS)
    assert "at most 256" in many.refusal
    large = convert.submission(request(files={"a": bytes(17 << 20)}), BOUNDS)
    assert "at most 16777216" in large.refusal


def test_data_of_the_task_is_refused_by_name_whatever_the_completion_holds() -> None:
    with pytest.raises(InvalidRequestError, match="does not stay"):
        convert.submission(request(files={"../x": b""}, data_files={"../y": b""}), BOUNDS)


@pytest.mark.parametrize(
    ("given_files", "data", "field"),
    [
        ({"a": b"", "a/b": b""}, {}, 'files["a"]'),
        ({"solution.py": b""}, {}, 'files["solution.py"]'),
        ({"solution.py/x": b""}, {}, 'files["solution.py/x"]'),
        ({"a": b""}, {"a": b""}, 'data_files["a"]'),
        ({"a/b": b""}, {"a": b""}, 'data_files["a"]'),
        ({"a": b""}, {"a/b": b""}, 'data_files["a/b"]'),
    ],
)
def test_two_files_cannot_have_one_place(
    given_files: dict[str, bytes], data: dict[str, bytes], field: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        convert.job(program(files=given_files, data_files=data), BOUNDS)
    assert refused.value.field == field


def test_files_are_bounded_in_number_and_size() -> None:
    with pytest.raises(InvalidRequestError, match="at most 256"):
        convert.job(program(files={f"f{n}": b"" for n in range(257)}), BOUNDS)
    large = {"a": bytes(9 << 20), "b": bytes(8 << 20)}
    with pytest.raises(InvalidRequestError, match="at most 16777216 are allowed"):
        convert.submission(request(data_files=large), BOUNDS)


@pytest.mark.promise("Files of a request stay below the working folder.", "Confinement")
@given(st.text(alphabet="ab./\\ \0\n", max_size=20))
def test_an_accepted_path_stays_below_its_folder(path: str) -> None:
    try:
        files.check_path("f", path)
    except InvalidRequestError:
        return
    joined = posixpath.normpath(posixpath.join("/box/work", path))
    assert joined == f"/box/work/{path}"


def test_files_of_text_and_of_bytes_lie_beside_one_another() -> None:
    found = convert.submission(
        request(
            files={"b.py": b"2"},
            text_files={"a.py": "\u00fc"},
            data_files={"d/x.csv": b"1"},
            text_data_files={"d/y.csv": "abcd"},
        ),
        BOUNDS,
    )
    assert found.files == (("a.py", "\u00fc".encode()), ("b.py", b"2"))
    assert found.data_files == (("d/x.csv", b"1"), ("d/y.csv", b"abcd"))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"files": {"a": b""}, "text_files": {"a": ""}}, 'text_files["a"]'),
        ({"data_files": {"a": b""}, "text_data_files": {"a": ""}}, 'text_data_files["a"]'),
        ({"text_files": {"../a": ""}}, 'text_files["../a"]'),
        ({"text_data_files": {"/a": ""}}, 'text_data_files["/a"]'),
        ({"text_files": {"a": ""}, "text_data_files": {"a": ""}}, 'data_files["a"]'),
        ({"text_files": {"a": "", "a/b": ""}}, 'files["a"]'),
    ],
)
def test_files_of_text_keep_to_the_same_rules(fields: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        convert.job(program(**fields), BOUNDS)
    assert refused.value.field == named
