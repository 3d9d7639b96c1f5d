"""The tools of a code environment, with a real server."""

from __future__ import annotations

import asyncio

import pytest

from trainer_client import tasks
from trainer_client.trl.environments import CodeEnvironment, environment_reward, python_tool

CASE = {"stdin_text": "31\n", "expected_stdout_text": "62\n"}
TEMPLATES = {"double": tasks.from_json({"stdio": {"cases": [CASE]}})}
RIGHT, WRONG = "print(2 * int(input()))", "print(1 + int(input()))"
RAISES = "import sys\nprint('debugging', file=sys.stderr)\nprint(2 * int(inptu()))"


@pytest.fixture(scope="module")
def reward(lasting_server):
    return environment_reward(lasting_server.target, task=TEMPLATES)


def begun(reward, **options) -> CodeEnvironment:
    environment = CodeEnvironment(reward, **options)
    environment.reset(prompt="Double a number.", task_id="double")
    return environment


def scored(reward, *environments) -> list[float | None]:
    count = len(environments)
    call = reward(["p"] * count, [""] * count, environments=list(environments))
    return asyncio.run(call)


def test_a_run_tells_output_errors_and_the_exit_code(reward):
    environment = begun(reward)
    assert environment.run("print(input()[::-1])", stdin="abc") == "cba"
    assert environment.run("pass") == "[no output]"
    told = environment.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(3)")
    assert told == "out\n[stderr]\nerr\n[exit code 3]"
    assert "NameError: name 'x' is not defined" in environment.run("x")
    assert "[ended by signal 9]" in environment.run("import os\nos.kill(os.getpid(), 9)")


def test_a_limit_is_told_in_words(reward):
    environment = begun(reward, cpu_time_seconds=1)
    told = environment.run("print('begun', flush=True)\nwhile True: pass")
    assert told.startswith("begun\n[stopped after ")
    told = begun(reward, cpu_time_seconds=0.2).run("import time\ntime.sleep(60)")
    assert told == "[stopped after 0.6 s]"
    assert "[ran out of memory: the limit is " in environment.run("bytearray(10 ** 12)")


def test_the_middle_of_a_long_output_is_left_out(reward):
    told = begun(reward, output_characters=20).run("print('a' * 50 + 'b' * 50)")
    assert told == f"{'a' * 10}\n[80 characters are left out]\n{'b' * 10}"


def test_what_only_the_model_can_have_done_wrong_is_told_and_judged(reward):
    environment = begun(reward)
    assert "[refused: source: " in environment.run("x" * (2 << 20))
    assert "null bytes" in environment.run("print(1)\0")
    environment.run("print('\udcff')")
    environment.submit(WRONG)
    assert scored(reward, environment) == [0.0]


def test_the_second_submission_uses_the_errors_of_the_first(reward):
    environment = begun(reward, feedback="stderr")
    told = environment.submit(RAISES)
    assert told.startswith("The solution crashed, or raised an exception.")
    assert "case 1" in told
    assert "debugging" in told
    assert "NameError: name 'inptu' is not defined" in told
    assert environment.submit(RIGHT) == "All tests passed. The task is over. End your turn."
    assert scored(reward, environment) == [1.0]


@pytest.mark.parametrize("completion", [RIGHT, WRONG, RAISES, "while True: pass"])
def test_without_feedback_right_and_wrong_are_told_the_same(reward, completion):
    told = begun(reward).submit(completion)
    assert told == "Submitted. The tests run at the end."


@pytest.mark.parametrize("feedback", ["verdict", "failing_test_name", "stderr"])
def test_no_level_tells_the_input_or_the_output_of_a_hidden_test(reward, feedback):
    environment = begun(reward, feedback=feedback)
    told = environment.submit(WRONG) + environment.submit(RAISES)
    assert "31" not in told
    assert "62" not in told


def test_a_batch_of_episodes_is_scored_together(reward):
    environments = [begun(reward) for _ in range(4)]
    for environment, code in zip(environments, (RIGHT, WRONG, RIGHT, RAISES), strict=True):
        environment.submit(code)
    assert scored(reward, *environments) == [1.0, 0.0, 1.0, 0.0]


def test_a_tool_without_an_environment_runs_programs(lasting_server):
    run_python = python_tool(lasting_server.target)
    assert run_python("print(6 * 7)") == "42"


def test_a_program_may_talk_about_verdicts_and_earns_nothing(reward):
    environment = begun(reward, feedback="verdict")
    told = environment.submit("print('All tests passed.')")
    assert told.startswith("A test failed.")
    assert scored(reward, environment) == [0.0]
