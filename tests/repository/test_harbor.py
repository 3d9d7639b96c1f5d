"""Task folders of Harbor: what becomes of them, what is refused, and what a real server judges."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codereward.v1 import reward_service_pb2 as pb
from tests.e2e.conftest import PYTHON
from tests.repository.harbor_folders import DOCKERFILE, FOLDERS, PLAIN_SCRIPT, UV_SCRIPT, Folder
from tests.support.common import PACKAGES
from tests.support.sampling import sampled
from trainer_client import RewardClient, Score, Session, TaskError, Verdict, tasks
from trainer_client.local_server import LocalServer
from trainer_client.tasks import HarborTask

SESSION = {"memory_bytes": 128 << 20, "processes": 32}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RewardClient]:
    log = tmp_path_factory.mktemp("server") / "server.log"
    chosen = (f"sandbox_packages={PACKAGES[0]}", "sandbox_preload=pytest")
    settings = (*chosen, f"session_memory_bytes={256 << 20}")
    arguments = [part for setting in settings for part in ("--set", setting)]
    with (
        LocalServer(log, [*PYTHON, *arguments]) as server,
        RewardClient(server.target) as made,
    ):
        yield made


def read(name: str, place: Path) -> HarborTask:
    return tasks.harbor(FOLDERS[name].write(place / name), **FOLDERS[name].options)


def solved(session: Session, task: HarborTask, solution: Path) -> Score:
    """Runs a solution in a session, as Harbor's oracle does, and judges what it leaves."""
    for path, content in task.files.items():
        session.write_files({f"app/{path}": content}, executable=path in task.executable)
    here = session.working_folder
    for file in solution.iterdir():
        text = file.read_text().replace(f"{task.workdir}/", f"{here}/app/")
        text = text.replace("/solution/", f"{here}/solution/")
        session.write_files({f"solution/{file.name}": text})
    done = session.exec(["bash", f"{here}/solution/solve.sh"], cwd="app")
    assert done.exit_code == 0, done
    return session.score(task.template, folder="app")


@pytest.mark.parametrize("name", sampled(list(FOLDERS), 2))
def test_the_solution_passes(name: str, client: RewardClient, tmp_path: Path) -> None:
    task = read(name, tmp_path)
    with client.session(**SESSION) as session:
        score = solved(session, task, tmp_path / name / "solution")
    assert (score.verdict, score.reward) == (Verdict.PASSED, 1.0), score


def test_what_changes_nothing_earns_nothing(client: RewardClient, tmp_path: Path) -> None:
    found = {name: read(name, tmp_path) for name in FOLDERS}
    for task in found.values():
        task.template.limits.wall_time_seconds = 2
    scores = client.score([tasks.fill(task.template, "Nothing.") for task in found.values()])
    assert {name: score.reward for name, score in zip(found, scores, strict=True)} == dict.fromkeys(
        FOLDERS, 0.0
    )


def test_a_task_has_its_files_names_limits_and_image(tmp_path: Path) -> None:
    task = read("timeouts", tmp_path)
    assert (task.template.limits.wall_time_seconds, task.agent_seconds) == (7.5, 120.0)
    assert task.template.limits.cpu_time_seconds == 15.0
    assert task.template.limits.memory_bytes == 1 << 30
    shop = read("workdir-and-copy", tmp_path)
    assert shop.workdir == "/srv/shop"
    assert sorted(shop.files) == [
        *("data/prices.csv", "report.sh", "shop/__init__.py", "shop/prices.py")
    ]
    assert sorted(shop.template.repository.test_files) == [
        *("tests/expected.txt", "tests/test_outputs.py")
    ]
    assert read("hello-world", tmp_path).files.keys() == {"instruction.md"}
    assert list(read("classes", tmp_path).template.repository.fail_to_pass) == [
        "tests/test_outputs.py::TestStack::test_push",
        "tests/test_outputs.py::TestStack::test_order",
    ]
    assert list(read("reward-json", tmp_path).template.repository.fail_to_pass) == [
        "tests/more/more_test.py::test_many",
        "tests/test_numbers.py::test_some",
        "tests/test_numbers.py::test_none",
    ]


@pytest.mark.parametrize("key", ["uv-with-packages", "python:3.12-slim"])
def test_tests_run_in_the_image_that_the_caller_names(key: str, tmp_path: Path) -> None:
    folder = FOLDERS["uv-with-packages"].write(tmp_path / "uv-with-packages")
    task = tasks.harbor(folder, images={key: "codereward-pluggy"})
    tests = task.template.repository
    assert (task.image, tests.image) == ("codereward-pluggy", "codereward-pluggy")
    assert tests.archive
    first = tasks.harbor(folder, images={key: ""})
    assert (first.image, first.template.repository.image) == ("", "")


def test_the_repository_can_be_that_of_the_image(tmp_path: Path) -> None:
    """Then absolute paths below the working folder lead to the files of an execution."""
    text = "def test_x():\n    assert open('/app/x.txt').read() == '1'\n"
    files = {DOCKER: f"{DOCKERFILE}RUN make\n", TESTS: text}
    folder = Folder(files=files).write(tmp_path / "made")
    chosen = {"images": {"made": "codereward-made"}, "from_image": True}
    task = tasks.harbor(folder, **chosen, import_paths=["src"])
    tests = task.template.repository
    assert (tests.WhichOneof("base"), tests.image_folder) == ("image_folder", "/app")
    assert (tests.image, list(tests.import_paths)) == ("codereward-made", ["src"])
    assert (task.files, tests.test_files[TESTS]) == ({}, text.encode())
    with pytest.raises(TaskError, match="has no image: name the one with its WORKDIR"):
        tasks.harbor(folder, **{**chosen, "images": {"made": ""}})
    with pytest.raises(TaskError, match="names '/app'"):
        tasks.harbor(folder, **{**chosen, "from_image": False})


TOML = "version = '1.0'\n"
DOCKER, SCRIPT, TESTS = "environment/Dockerfile", "tests/test.sh", "tests/test_outputs.py"
REFUSED: dict[str, tuple[dict[str, str], str, str]] = {
    "RUN": ({DOCKER: f"{DOCKERFILE}RUN pip install six\n"}, f"{DOCKER}:4", "images={"),
    "ENV": ({DOCKER: f"{DOCKERFILE}ENV MODE=fast\n"}, f"{DOCKER}:4", "images={"),
    "entry point": ({DOCKER: f'{DOCKERFILE}ENTRYPOINT ["serve"]\n'}, f"{DOCKER}:4", "images={"),
    "two stages": ({DOCKER: f"FROM golang AS one\n{DOCKERFILE}"}, f"{DOCKER}:2", "one stage"),
    "another stage's files": (
        {DOCKER: f"{DOCKERFILE}COPY --from=one a b\n"},
        f"{DOCKER}:4",
        "remove it",
    ),
    "a file beside": ({DOCKER: f"{DOCKERFILE}COPY a.py /etc/a.py\n"}, f"{DOCKER}:4", "images={"),
    "a path above": ({DOCKER: f"{DOCKERFILE}COPY ../tests .\n"}, f"{DOCKER}:4", "no path below"),
    "a URL": ({DOCKER: f"{DOCKERFILE}ADD https://x.org/a .\n"}, f"{DOCKER}:4", "no path below"),
    "an archive": ({DOCKER: f"{DOCKERFILE}ADD a.tar.gz .\n"}, f"{DOCKER}:4", "unpacks"),
    "an absent file": ({DOCKER: f"{DOCKERFILE}COPY b.py .\n"}, f"{DOCKER}:4", "not in environment"),
    "a variable": ({DOCKER: "FROM x\nARG D=/app\nWORKDIR $D\n"}, f"{DOCKER}:3", "variable"),
    "no folder": ({DOCKER: "FROM x\nCOPY a.py /app/\n"}, DOCKER, "no WORKDIR"),
    "a here-document": (
        {DOCKER: f"{DOCKERFILE}COPY <<E /app/a.txt\nWORKDIR /x\nE\n"},
        f"{DOCKER}:4",
        "here-document",
    ),
    "a long path": ({DOCKER: f"FROM x\nWORKDIR /{'a/' * 99999}\n"}, f"{DOCKER}:2", "too long"),
    "options alone": ({DOCKER: f"{DOCKERFILE}COPY --link\n"}, f"{DOCKER}:4", "names no source"),
    "deep JSON": ({DOCKER: f"{DOCKERFILE}COPY {'[' * 99999}\n"}, f"{DOCKER}:4", "cannot be read"),
    "no instruction": ({DOCKER: f"{DOCKERFILE}INCLUDE a\n"}, f"{DOCKER}:4", "no instruction"),
    "ignored files": ({"environment/.dockerignore": "a.py"}, "environment/.dockerignore", "remove"),
    "services": (
        {"environment/docker-compose.yaml": "services: {}"},
        "environment/docker-compose.yaml",
        "services",
    ),
    "its own reward": (
        {SCRIPT: "#!/bin/bash\nif [ -f /app/a ]; then\necho 1 > /logs/verifier/reward.txt\nfi\n"},
        f"{SCRIPT}:2",
        "command=",
    ),
    "a constant reward": (
        {SCRIPT: "pytest /tests/test_outputs.py\necho 1 > /logs/verifier/reward.txt\n"},
        f"{SCRIPT}:2",
        "command=",
    ),
    "a swapped reward": (
        {SCRIPT: PLAIN_SCRIPT.replace("-eq", "-ne")},
        f"{SCRIPT}:5",
        "command=",
    ),
    "a part of a reward": (
        {SCRIPT: PLAIN_SCRIPT.replace("echo 1", "echo 0.5")},
        f"{SCRIPT}:6",
        "neither 1 nor 0",
    ),
    "the status of another command": (
        {SCRIPT: PLAIN_SCRIPT.replace("-rA\n", "-rA | tee log\n")},
        f"{SCRIPT}:3",
        "command=",
    ),
    "a choice of tests": (
        {SCRIPT: PLAIN_SCRIPT.replace("-rA", "-k fast")},
        f"{SCRIPT}:3",
        "'-k'",
    ),
    "tests of the agent": (
        {SCRIPT: PLAIN_SCRIPT.replace("/tests/test_outputs.py ", "")},
        f"{SCRIPT}:3",
        "no files of /tests",
    ),
    "a package": (
        {SCRIPT: UV_SCRIPT.replace("--with pytest==8.4.1", "--with requests==2.32")},
        f"{SCRIPT}:17",
        "'requests'",
    ),
    "no script": ({SCRIPT: ""}, f"{SCRIPT}:1", "command="),
    "no tests": ({TESTS: "ONE = 1\n"}, f"{SCRIPT}:3", "fail_to_pass="),
    "no file of tests": (
        {SCRIPT: PLAIN_SCRIPT.replace("outputs", "absent")},
        f"{SCRIPT}:3",
        "fail_to_pass=",
    ),
    "parameters": (
        {TESTS: "import pytest\n@pytest.mark.parametrize('x', [1])\ndef test_x(x): pass\n"},
        f"{TESTS}:3",
        "fail_to_pass=",
    ),
    "tests that depend": (
        {TESTS: "import sys\nif sys.argv:\n    def test_x(): pass\n"},
        f"{TESTS}:2",
        "fail_to_pass=",
    ),
    "settings of pytest": (
        {"tests/pytest.ini": "[pytest]\npython_files = check_*.py\n"},
        "tests/pytest.ini",
        "fail_to_pass=",
    ),
    "no Python": ({TESTS: "def test_x(:\n"}, TESTS, "is not Python"),
    "absolute paths": (
        {TESTS: "def test_x():\n    assert open('/app/a.txt')\n"},
        f"{TESTS}:2",
        "relative_paths=True",
    ),
    "a newer version": ({"task.toml": "version = '2.0'\n"}, "task.toml", "version '2.0'"),
    "deep TOML": ({"task.toml": f"a = {'[' * 9999}"}, "task.toml", "not TOML"),
    "costly TOML": ({"task.toml": f"a{'.a' * 3000} = 1"}, "task.toml", "too many parts"),
    "no TOML": ({"task.toml": "version ="}, "task.toml", "not TOML"),
    "variables": (
        {"task.toml": f"{TOML}[verifier]\nenv = {{KEY = '1'}}\n"},
        "task.toml",
        "verifier.env",
    ),
    "steps": ({"task.toml": f"{TOML}[[steps]]\nname = 'one'\n"}, "task.toml", "steps"),
    "time": (
        {"task.toml": f"{TOML}[verifier]\ntimeout_sec = -1\n"},
        "task.toml",
        "verifier.timeout_sec",
    ),
    "memory": ({"task.toml": f"{TOML}[environment]\nmemory = 'big'\n"}, "task.toml", "memory"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_judged_is_refused_with_the_place_and_the_remedy(
    case: str, tmp_path: Path
) -> None:
    files, place, said = REFUSED[case]
    folder = Folder(files={**FOLDERS["pytest"].files, "environment/a.py": "", **files})
    with pytest.raises(TaskError) as caught:
        tasks.harbor(folder.write(tmp_path / "task"))
    assert (caught.value.row, caught.value.field) == ("task", place), caught.value
    assert said in caught.value.problem


def _link(path: str, target: str) -> Callable[[Path], None]:
    return lambda folder: os.symlink(target, folder / path)


def _part_elsewhere(folder: Path) -> None:
    (folder / "environment").rename(folder.parent / "elsewhere")
    os.symlink(folder.parent / "elsewhere", folder / "environment")


def _instruction_elsewhere(folder: Path) -> None:
    (folder / "instruction.md").unlink()
    os.symlink("/etc/hostname", folder / "instruction.md")


HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "a file of this machine": (_link("environment/x", "/etc/passwd"), "environment/x"),
    "the solution": (_link("environment/x", "../solution/solve.sh"), "environment/x"),
    "the hidden tests": (_link("environment/x", "../tests/test_outputs.py"), "environment/x"),
    "a folder": (_link("tests/x", "."), "tests/x"),
    "nothing": (_link("tests/x", "absent"), "tests/x"),
    "itself": (_link("tests/x", "x"), "tests/x"),
    "a pipe": (lambda folder: os.mkfifo(folder / "tests/x"), "tests/x"),
    "another folder": (_part_elsewhere, "environment"),
    "an instruction": (_instruction_elsewhere, "instruction.md"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_links_out_of_a_part_of_the_folder_are_refused(case: str, tmp_path: Path) -> None:
    change, place = HOSTILE[case]
    folder = FOLDERS["pytest"].write(tmp_path / "task")
    change(folder)
    with pytest.raises(TaskError) as caught:
        tasks.harbor(folder)
    assert caught.value.field == place, caught.value


def test_a_link_within_its_part_is_a_copy(tmp_path: Path) -> None:
    folder = FOLDERS["pytest"].write(tmp_path / "task")
    os.symlink("numbers_of.py", folder / "environment/same.py")
    task = tasks.harbor(folder)
    assert task.files["same.py"] == task.files["numbers_of.py"]


def test_a_command_of_the_caller_takes_the_place_of_the_script(tmp_path: Path) -> None:
    files = {**FOLDERS["pytest"].files, "tests/test.sh": "./own-runner\n"}
    folder = Folder(files=files).write(tmp_path / "task")
    command = pb.TestCommand(argv=["node", "--test"], format=pb.REPORT_FORMAT_TAP)
    with pytest.raises(TaskError, match="fail_to_pass"):
        tasks.harbor(folder, command=command)
    task = tasks.harbor(folder, command=command, fail_to_pass=["sums"])
    assert task.template.repository.command == command
    assert list(task.template.repository.fail_to_pass) == ["sums"]
