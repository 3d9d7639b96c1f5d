"""Converts rows of known data sets to requests.

    humaneval, mbpp             a function, tested by Python code
    apps, code_contests         a program, tested by inputs and outputs; APPS also has calls
    livecodebench, leetcode     a method, tested by calls; LiveCodeBench also has whole programs
    bigcodebench                functions, tested by a unittest file
    humaneval_x, multipl_e      a function in one of many languages, tested by a program

`unit_tests` makes a request from test files of pytest or unittest. Each other function takes
`(row, completion="", *, id="")`. Without a completion the request is a template. Keep templates by
task id, so that tests stay out of a trainer's data set, and complete them with `fill`.
`write_templates` and `read_templates` store them in a file of JSON lines.

To support another data set, write such a function in the module of its kind of tests, and add it to
`TASKS` and `ID_FIELDS` below. It reads fields with `rows.Reader`, whose errors name the wrong
field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from codereward.v1 import reward_service_pb2 as pb
from trainer_client.errors import TaskError
from trainer_client.tasks.contests import livecodebench
from trainer_client.tasks.files import decoded, from_json, read_templates, write_templates
from trainer_client.tasks.functions import humaneval, mbpp
from trainer_client.tasks.languages import humaneval_x, multipl_e
from trainer_client.tasks.methods import leetcode
from trainer_client.tasks.programs import apps, code_contests
from trainer_client.tasks.rows import Row
from trainer_client.tasks.suites import bigcodebench, unit_tests
from trainer_client.text import well_formed

__all__ = [
    "ID_FIELDS",
    "TASKS",
    "Row",
    "apps",
    "bigcodebench",
    "code_contests",
    "decoded",
    "fill",
    "from_json",
    "humaneval",
    "humaneval_x",
    "leetcode",
    "livecodebench",
    "mbpp",
    "multipl_e",
    "named",
    "read_templates",
    "templates",
    "unit_tests",
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
        "humaneval_x": humaneval_x,
        "multipl_e": multipl_e,
    }
)

# The field of each data set that identifies a row.
ID_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "humaneval": "task_id",
        "mbpp": "task_id",
        "apps": "problem_id",
        "code_contests": "name",
        "livecodebench": "question_id",
        "leetcode": "task_id",
        "bigcodebench": "task_id",
        "humaneval_x": "task_id",
        "multipl_e": "name",
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
    task: str, rows: Iterable[Row], *, id_field: str | None = None
) -> dict[str, pb.ScoreRequest]:
    """Returns a template of each row, by the row's id as text.

    Raises:
        TaskError: a row is wrong, has no id, or has the same id as another row.

    Examples:
        >>> from trainer_client import tasks
        >>> rows = [{"task_id": 7, "test_list": ["assert double(3) == 6"]}]
        >>> found = tasks.templates("mbpp", rows)
        >>> found["7"].function.entry_point
        'double'
    """
    make, field = named(task), id_field or ID_FIELDS[task]
    found: dict[str, pb.ScoreRequest] = {}
    for row in rows:
        key = str(row.get(field, ""))
        if not key or key in found:
            raise TaskError(task, field, f"{key!r} is another row's" if key else "is absent")
        try:
            found[key] = make(row)
        except TaskError as error:
            raise TaskError(error.task, error.field, error.problem, row=key) from None
    return found


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
