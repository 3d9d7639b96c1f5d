"""The tools of a session environment, with a real server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest

from tests.conformance.suite.host import processes_marked
from tests.repository.tasks import archive
from trainer_client import Session, SessionEndedError, tasks
from trainer_client.trl.environments import SessionEnvironment, environment_reward

MEBIBYTE = 1 << 20
SESSION = {"memory_bytes": 128 * MEBIBYTE, "processes": 32}
CART = "def total(items):\n    return sum(price for price, quantity in items)\n"
TEST = """import unittest
from cart import total

class TestCart(unittest.TestCase):
    def test_quantities_count(self):
        self.assertEqual(total([(3, 2), (5, 4)]), 26)
"""
FUNCTION = {"entry_point": "double", "asserts": ["assert double(31) == 62"]}


MARK = f"605.{os.getpid():07}"


# A shell would try each refused fork again for 15 s.
MANY_PROCESSES = (
    "python3 -c \"import subprocess as s; [s.Popen(['sleep', '600'], stdout=s.DEVNULL, "
    'stderr=s.DEVNULL) for _ in range(100)]"'
)


def repository_task():
    request = tasks.from_json(
        {
            "repository": {
                "text_test_files": {"test_cart.py": TEST},
                "fail_to_pass": ["test_cart.py::TestCart::test_quantities_count"],
                "framework": "FRAMEWORK_UNITTEST",
            }
        }
    )
    request.repository.archive = archive({"shop/cart.py": CART, "cart.py": CART})
    return request


TEMPLATES = {
    "double": tasks.from_json(
        {"function": FUNCTION, "text_data_files": {"data/hint.txt": "two times"}}
    ),
    "cart": repository_task(),
    "folder": tasks.from_json({"repository": {"folder": "somewhere", "fail_to_pass": ["t"]}}),
}


@pytest.fixture(scope="module")
def reward(lasting_server):
    return environment_reward(lasting_server.target, task=TEMPLATES, timeout_seconds=60)


@pytest.fixture
def begin(reward):
    """Yields a function that begins an episode; its session ends with the test."""
    made: list[SessionEnvironment] = []

    def begin(task_id: str, **options) -> SessionEnvironment:
        environment = SessionEnvironment(reward, **{"session": SESSION, **options})
        made.append(environment)
        environment.reset(prompt="p", task_id=task_id)
        return environment

    yield begin
    for environment in made:
        environment.reset(prompt="p", task_id="double")


def scored(reward, *environments, completion: str = "") -> list[float | None]:
    count = len(environments)
    call = reward(["p"] * count, [completion] * count, environments=list(environments))
    rewards = asyncio.run(call)
    assert all(environment._session is None for environment in environments), "they are closed"
    return rewards


def test_a_session_has_a_shell_files_and_the_data_of_the_task(begin):
    environment = begin("double")
    assert environment.bash("cat data/hint.txt; cd data; export A=1; sleep 100 &") == "two times"
    assert environment.write_file("folder/new.txt", "content") == "Written."
    assert environment.bash("cat folder/new.txt; echo $A; exit 3") == "content\n[exit code 3]"
    assert environment.read_file("folder/new.txt") == "content"
    assert "No such file" in environment.read_file("absent")
    assert "refused" in environment.write_file("zero\0byte", "")
    assert "refused" in environment.bash("echo \0")
    assert environment.episode.failure is None


def test_a_time_limit_is_told_in_words(begin):
    told = begin("double", time_limit_seconds=2).bash("echo begun; sleep 60")
    assert told.startswith("begun\n[stopped at its time limit, after 2")


def test_an_interpreter_keeps_its_variables_and_tells_values_and_errors(begin):
    environment = begin("double", time_limit_seconds=3)
    assert environment.run_python("x = 20\nprint('out')\nx + 1") == "out\n21"
    assert environment.run_python("x += 1") == "[no output]"
    assert "ZeroDivisionError" in environment.run_python("x / 0")
    assert "stopped at its time limit" in environment.run_python("while True: pass")
    assert environment.run_python("x") == "21"
    assert "null bytes" in environment.run_python("x\0")
    assert "refused: code: " in environment.run_python("#" * (2 << 20))


def test_a_model_that_uses_up_its_processes_has_a_reward(begin, reward):
    environment = begin("double")
    told = environment.bash(MANY_PROCESSES)
    assert "fork was refused" in told
    environment.write_file("solution.py", "def double(x): return 2 * x")
    assert "not available" not in environment.bash("true")
    assert "not available" not in environment.run_python("1")
    assert scored(reward, environment) == [1.0]


def test_what_the_session_holds_at_the_end_is_judged(begin, reward):
    right, wrong, nothing, corrected = (begin("double") for _ in range(4))
    right.write_file("solution.py", "def double(x): return 2 * x")
    wrong.bash("echo 'def double(x): return x' > solution.py; echo 1.0 > reward.txt")
    nothing.bash("true")
    corrected.write_file("solution.py", "def double(x): return x")
    corrected.submit()
    corrected.write_file("solution.py", "def double(x): return x + x")
    episodes = (right, wrong, nothing, corrected)
    assert scored(reward, *episodes) == [1.0, 0.0, 0.0, 1.0]
    assert scored(reward, *episodes) == [1.0, 0.0, 0.0, 1.0], "no session is opened again"


def test_without_a_use_of_the_session_the_last_message_is_judged(begin, reward):
    assert scored(reward, begin("double"), completion="def double(x): return 2 * x") == [1.0]


def test_feedback_of_a_submission_leads_to_the_next(begin, reward):
    environment = begin("double", feedback="verdict")
    environment.write_file("solution.py", "def double(x): return x")
    assert environment.submit() == "A test failed.\n[submissions left: 2]"
    environment.write_file("solution.py", "def double(x): return 2 * x")
    assert environment.submit().startswith("All tests passed.")
    assert "over" in environment.write_file("solution.py", "")
    assert scored(reward, environment) == [1.0]


def test_a_model_is_told_which_file_is_judged(begin, reward):
    environment = begin("double", completion_path="src/main.py", feedback="verdict")
    assert "The file src/main.py in the working folder" in environment.reset(task_id="double")
    environment.write_file("main.py", "def double(x): return 2 * x")
    refusal = "[refused: src/main.py is the file that is judged; src/main.py: No such file"
    assert environment.submit().startswith(refusal)
    assert environment.episode.submissions == 0
    environment.write_file("src/main.py", "def double(x): return 2 * x")
    assert environment.submit().startswith("All tests passed.")


def test_a_model_is_told_that_a_repository_is_judged(begin):
    assert "is the repository" in begin("cart").reset(task_id="cart")
    assert begin("double").reset(task_id=None) is None


def test_the_end_of_an_episode_says_that_its_file_is_absent(begin, reward):
    environment = begin("double")
    environment.write_file("main.py", "def double(x): return 2 * x")
    assert scored(reward, environment) == [0.0]
    assert "solution.py: No such file or directory" in environment.episode.score.message


@pytest.mark.parametrize("sabotage", ["mode", "pipe", "size", "folder"])
def test_a_file_that_cannot_be_judged_is_no_submission(begin, sabotage):
    environment = begin("double")
    environment.bash(SABOTAGE[sabotage])
    assert environment.submit().startswith("[refused: solution.py is the file that is judged; ")


def test_a_repository_is_changed_and_judged_elsewhere(begin, reward):
    fixed, untouched = begin("cart"), begin("cart")
    assert "test_cart.py" not in fixed.bash("ls -R /home . 2>/dev/null")
    fixed.bash("sed -i 's/sum(price for/sum(price * quantity for/' cart.py")
    untouched.bash("echo 'import sys; sys.exit(0)' > sitecustomize.py; echo 1 > reward.json")
    assert scored(reward, fixed, untouched) == [1.0, 0.0]


def test_a_repository_that_only_the_server_has_leaves_no_reward(begin, reward):
    first, other = begin("folder"), begin("double")
    assert "not available" in first.bash("ls")
    other.write_file("solution.py", "def double(x): return 2 * x")
    assert scored(reward, first, other) == [None, 1.0]


def test_a_session_that_was_lost_through_no_fault_of_the_model_leaves_no_reward(begin, reward):
    expired, calm = begin("double"), begin("double")
    for environment in (expired, calm):
        environment.write_file("solution.py", "def double(x): return 2 * x")
    expired._session.keep_alive(0.1)
    while "not available" not in expired.bash("true"):
        pass
    assert "SESSION" not in expired.bash("true")
    assert scored(reward, expired, calm) == [None, 1.0]


def test_a_session_that_expired_after_the_last_tool_leaves_no_reward(begin, reward):
    environment = begin("double")
    environment.write_file("solution.py", "def double(x): return 2 * x")
    environment._session.keep_alive(0.1)
    wait_for_the_end(environment._session)
    assert scored(reward, environment) == [None]


@pytest.mark.parametrize("uses_it_again", [True, False])
def test_a_model_that_breaks_its_session_has_failed(begin, reward, uses_it_again):
    environment = begin("double")
    environment.write_file("solution.py", "def double(x): return 2 * x")
    environment.bash(f"sleep {MARK} > /dev/null 2>&1 &")
    while not (found := processes_marked(MARK)):
        pass
    os.kill(_first_of_its_container(found[0]), signal.SIGKILL)
    if uses_it_again:
        while "over" not in environment.bash("true"):
            pass
    else:
        wait_for_the_end(environment._session)
    assert scored(reward, environment) == [0.0]


def wait_for_the_end(session: Session) -> None:
    with contextlib.suppress(SessionEndedError):
        while True:
            session.list_files()


def _first_of_its_container(pid: int) -> int:
    """Returns the process whose end is the end of all others there."""
    while _namespace_pids(pid)[-1] != 1:
        pid = _parent_of(pid)
    return pid


def _namespace_pids(pid: int) -> list[int]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (found,) = [line for line in lines if line.startswith("NSpid:")]
    return [int(number) for number in found.split()[1:]]


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


SABOTAGE = {
    "memory": "head -c 200M /dev/zero > big; tail /dev/zero; true",
    "mode": "echo 'def double(x): return 2 * x' > solution.py; chmod 000 solution.py",
    "pipe": "mkfifo solution.py",
    "link": "ln -s /etc/passwd solution.py",
    "size": "head -c 40M /dev/zero > solution.py",
    "folder": "mkdir solution.py",
    "moved": "rm -rf $PWD; rmdir $PWD",
    "killed": "kill -9 -1",
    "processes": MANY_PROCESSES,
    "loops": "while true; do :; done & true",
    "stopped": "kill -STOP $PPID; kill -STOP 1; true",
}


@pytest.mark.parametrize("sabotage", SABOTAGE)
def test_a_model_cannot_avoid_a_verdict(begin, reward, sabotage):
    environment = begin("double", time_limit_seconds=5)
    environment.bash(SABOTAGE[sabotage])
    assert scored(reward, environment) == [0.0]
