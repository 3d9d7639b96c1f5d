"""Converts rows of known data sets to requests.

    humaneval, mbpp             a function, tested by Python code
    apps, code_contests         a program, tested by inputs and outputs; APPS also has calls
    livecodebench, leetcode     a method, tested by calls; LiveCodeBench also has whole programs
    bigcodebench, classeval     functions or a class, tested by a unittest file
    humaneval_x, multipl_e, mceval   a function in one of many languages, tested by a program
    cruxeval_output, cruxeval_input  a prediction of what a function returns, or of its arguments
    acecode, kodcode            a function, tested by assertions or a file of pytest
    verl, synthetic, deepcoder, rstar_coder, taco   a program or a function, tested by data
    codeforces                  a program, whose output a checker may judge
    evalplus                    a function, compared with the reference solution
    ds1000                      a piece of code that a test program inserts into another program
    stdio, calls, asserts, pytest   rows of one's own, by the kind of their tests

`unit_tests` makes a request from test files of pytest or unittest, `swe` from a row of
SWE-bench's shape and an archive of its repository, `harbor` from a task folder of Harbor, and
`exercise` from the folder of an exercise. Each other function takes
`(row, completion="", *, id="")`. Without a completion the request is a template. Keep templates by
task id, so that tests stay out of a trainer's data set, and complete them with `fill`.
`write_templates` and `read_templates` store them in a file of JSON lines.

To support another data set, write such a function in the module of its kind of tests, and add it to
`TASKS` and `ID_FIELDS` below. It reads fields with `rows.Reader`, whose errors name the wrong
field, and has the decorator `limits.bounded`, which refuses what no server would judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import TaskError
from trainer_client.tasks.checked import codeforces, open_r1_checker, testlib_checker
from trainer_client.tasks.columns import asserts, calls, pytest, renamed, stdio
from trainer_client.tasks.contests import livecodebench
from trainer_client.tasks.exercises import Exercise, exercise
from trainer_client.tasks.files import decoded, from_json, read_templates, write_templates
from trainer_client.tasks.functions import acecode, humaneval, mbpp
from trainer_client.tasks.insertion import ds1000
from trainer_client.tasks.languages import humaneval_x, mceval, multipl_e
from trainer_client.tasks.listed import (
    GROUND_TRUTH,
    deepcoder,
    has_assertions,
    rstar_coder,
    synthetic,
    verl,
)
from trainer_client.tasks.methods import leetcode
from trainer_client.tasks.prediction import cruxeval_input, cruxeval_output
from trainer_client.tasks.programs import apps, code_contests
from trainer_client.tasks.references import evalplus
from trainer_client.tasks.repositories import HarborTask, harbor, swe
from trainer_client.tasks.rows import Row
from trainer_client.tasks.suites import bigcodebench, classeval, kodcode, unit_tests
from trainer_client.text import kind_of, well_formed

__all__ = [
    "GROUND_TRUTH",
    "ID_FIELDS",
    "TASKS",
    "Exercise",
    "HarborTask",
    "Row",
    "acecode",
    "apps",
    "asserts",
    "bigcodebench",
    "calls",
    "classeval",
    "code_contests",
    "codeforces",
    "cruxeval_input",
    "cruxeval_output",
    "decoded",
    "deepcoder",
    "ds1000",
    "evalplus",
    "exercise",
    "fill",
    "from_json",
    "harbor",
    "has_assertions",
    "humaneval",
    "humaneval_x",
    "kodcode",
    "leetcode",
    "livecodebench",
    "mbpp",
    "mceval",
    "multipl_e",
    "named",
    "open_r1_checker",
    "pytest",
    "read_templates",
    "renamed",
    "row_id",
    "rstar_coder",
    "stdio",
    "swe",
    "synthetic",
    "templates",
    "testlib_checker",
    "unit_tests",
    "verl",
    "write_templates",
]

TASKS: Mapping[str, Callable[[Row], pb.ScoreRequest]] = MappingProxyType(
    {
        "humaneval": humaneval,
        "mbpp": mbpp,
        "apps": apps,
        "code_contests": code_contests,
        "livecodebench": livecodebench,
        "leetcode": leetcode,
        "bigcodebench": bigcodebench,
        "classeval": classeval,
        "humaneval_x": humaneval_x,
        "multipl_e": multipl_e,
        "mceval": mceval,
        "cruxeval_output": cruxeval_output,
        "cruxeval_input": cruxeval_input,
        "acecode": acecode,
        "kodcode": kodcode,
        "verl": verl,
        "synthetic": synthetic,
        "deepcoder": deepcoder,
        "rstar_coder": rstar_coder,
        "taco": apps,
        "codeforces": codeforces,
        "evalplus": evalplus,
        "ds1000": ds1000,
        "stdio": stdio,
        "calls": calls,
        "asserts": asserts,
        "pytest": pytest,
    }
)

# The field of each data set that identifies a row; a dot leads into an object. If it is empty, the
# set has none, and a row's number in the file identifies it.
ID_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "humaneval": "task_id",
        "mbpp": "task_id",
        "apps": "problem_id",
        "code_contests": "name",
        "livecodebench": "question_id",
        "leetcode": "task_id",
        "bigcodebench": "task_id",
        "classeval": "task_id",
        "humaneval_x": "task_id",
        "multipl_e": "name",
        "mceval": "task_id",
        "cruxeval_output": "id",
        "cruxeval_input": "id",
        "acecode": "id",
        "kodcode": "question_id",
        "verl": "",
        "synthetic": "problem_id",
        "deepcoder": "",
        "rstar_coder": "question_id",
        "taco": "",
        "codeforces": "id",
        "evalplus": "task_id",
        "ds1000": "metadata.problem_id",
        "stdio": "task_id",
        "calls": "task_id",
        "asserts": "task_id",
        "pytest": "task_id",
    }
)


def named(task: str) -> Callable[[Row], pb.ScoreRequest]:
    """Returns the function that reads a data set's rows.

    Raises:
        ValueError: there is no such data set.
    """
    if task not in TASKS:
        raise ValueError(f"no task format {task!r}; there are {', '.join(TASKS)}")
    return TASKS[task]


def templates(
    task: str,
    rows: Iterable[Row],
    *,
    id_field: str | None = None,
    left_out: dict[str, TaskError] | None = None,
) -> dict[str, pb.ScoreRequest]:
    """Returns a template of each row, by the row's id as text.

    Args:
        task: the format of the rows, one of `TASKS`.
        rows: the rows.
        id_field: the field that identifies a row; that of the format if None.
        left_out: if it is given, rows that cannot be read are left out, and it gets their errors by
            id. Mixed sets have such rows, for example about mathematics.

    Raises:
        TaskError: a row is wrong, has no id, or has the same id as another row.

    Examples:
        >>> from trainer_client import tasks
        >>> rows = [{"task_id": 7, "test_list": ["assert double(3) == 6"]}, {"task_id": 8}]
        >>> left_out = {}
        >>> found = tasks.templates("mbpp", rows, left_out=left_out)
        >>> found["7"].function.entry_point
        'double'
        >>> for key, error in left_out.items():
        ...     print(error)
        mbpp row 8: test_list: has no asserts
    """
    make, field = named(task), ID_FIELDS[task] if id_field is None else id_field
    found: dict[str, pb.ScoreRequest] = {}
    left = {} if left_out is None else left_out
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            problem = f"must be a mapping, not {kind_of(row)}"
            raise TaskError(task, "row", problem, row=f"number {number}")
        key = row_id(row, field, number)
        if not key or key in found or key in left:
            raise TaskError(task, field, f"{key!r} is another row's" if key else "is absent")
        try:
            found[key] = make(row)
        except TaskError as error:
            left[key] = TaskError(error.task, error.field, error.problem, row=key)
            if left_out is None:
                raise left[key] from None
    return found


def row_id(row: Row, field: str, number: int) -> str:
    """Returns the id of a row, or "" if it has none.

    Args:
        row: the row.
        field: the field that identifies it; empty if its number does.
        number: its number in its file, from 0.
    """
    if not field:
        return str(number)
    value: object = row
    for name in [field] if field in row else field.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    try:
        return "" if value is None else str(value)
    except ValueError:  # an integer of too many digits for a text
        return ""


def fill(template: pb.ScoreRequest, completion: str, *, id: str = "") -> pb.ScoreRequest:
    """Makes a request from a template and a completion.

    Examples:
        >>> from trainer_client import RewardClient, tasks
        >>> template = tasks.mbpp({"test_list": ["assert double(3) == 6"]})
        >>> with RewardClient("localhost:50051") as client:
        ...     [score] = client.score(tasks.fill(template, "def double(x): return x + x"))
        >>> score.reward
        1.0
    """
    request = pb.ScoreRequest()
    request.CopyFrom(template)
    request.completion = well_formed(completion)
    request.id = id
    return request
