"""Code in an interpreter of a session: state, values, output, exceptions, limits and ends."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reward_server.app import App, running_app
from tests.sessions.conftest import BLUE, SMALL, settings
from tests.support.common import PACKAGES, on_the_servers_loop
from trainer_client import (
    AsyncRewardClient,
    AsyncSession,
    CallError,
    CodeOutcome,
    RewardClient,
    SessionEndedError,
    SessionProcessError,
)

pytestmark = on_the_servers_loop

LOST = CodeOutcome.INTERPRETER_LOST
SWALLOWING = """
import time
while True:
    try: time.sleep(60)
    except BaseException: pass
"""


async def test_state_stays_from_call_to_call_and_the_last_value_is_told(
    session: AsyncSession,
) -> None:
    await session.write_files({"own.py": "def double(x): return 2 * x"})
    first = await session.run_code("import own\nx = own.double(4)\nprint('out')\nx")
    assert (first.outcome, first.value, first.stdout) == (CodeOutcome.COMPLETED, "8", b"out\n")
    assert (first.execution_count, first.restarted, first.explanation) == (1, False, "")
    second = await session.run_code("class A: pass\n__import__('pickle').dumps(A()) != b'' and x")
    assert (second.value, second.execution_count) == ("8", 2)
    assert (await session.run_code("x = 9")).value is None
    assert (await session.run_code("None")).value is None
    assert (await session.run_code("")).success
    assert (await session.run_code("__name__, __import__('sys').argv, x")).value == (
        "('__main__', [''], 9)"
    )


async def test_streams_are_told_apart_and_those_of_child_processes_belong_to_them(
    session: AsyncSession,
) -> None:
    result = await session.run_code(
        "import os, sys\nprint('a')\nprint('b', file=sys.stderr)\nos.system('echo c; echo d >&2')\n"
    )
    assert (result.stdout, result.stderr, result.value) == (b"a\nc\n", b"b\nd\n", "0")
    cut = await session.run_code("print('x' * 100_000)", output_bytes=70_000)
    assert (len(cut.stdout), cut.stdout_size_bytes) == (70_000, 100_001)
    assert (cut.stdout_truncated, cut.stderr_truncated) == (True, False)
    assert cut.limits_hit == ("OUTPUT",)
    long = await session.run_code("'y' * 100_000")
    assert long.value is not None
    assert (len(long.value), long.value_truncated) == (64 << 10, True)
    assert (await session.run_code("input()")).error_name == "EOFError"


async def test_output_is_sent_while_code_runs_and_dropped_when_none_runs(
    session: AsyncSession,
) -> None:
    chatting = """
import threading, time
def chat():
    while not stop: print('late', flush=True); begun.set(); time.sleep(0.001)
stop, begun = False, threading.Event()
thread = threading.Thread(target=chat); thread.start(); begun.wait()
"""
    assert b"late" in (await session.run_code(chatting)).stdout
    assert (await session.run_code("stop = True; thread.join()")).success
    assert (await session.run_code("print('only')")).stdout == b"only\n"
    flood = "import sys\nfor _ in range(2000): sys.stdout.write('z' * 1000)"
    whole = await session.run_code(flood)
    assert whole.stdout == b"z" * 2_000_000


async def test_a_traceback_has_lines_of_the_code_and_of_own_files_alone(
    session: AsyncSession,
) -> None:
    await session.write_files({"own.py": "import json\ndef read(text): return json.loads(text)"})
    code = "import own\ndef f():\n    try: own.read('{')\n    except ValueError as e: 1 / 0\nf()"
    result = await session.run_code(code)
    assert (result.outcome, result.error_name) == (CodeOutcome.RAISED, "ZeroDivisionError")
    assert result.error_message == "division by zero"
    for part in (
        'File "<cell 1>", line 5, in <module>\n    f()',
        "line 4, in f\n    except ValueError as e: 1 / 0",
        '/own.py", line 2, in read\n',
        "During handling of the above exception",
        "JSONDecodeError: ",
    ):
        assert part in result.traceback
    assert result.traceback.count("File ") == 4
    wrong = await session.run_code("x = (1")
    assert (wrong.error_name, wrong.value) == ("SyntaxError", None)
    assert "'(' was never closed" in wrong.traceback
    assert "Traceback" not in wrong.traceback
    left = await session.run_code("import sys; sys.exit(3)")
    assert (left.outcome, left.error_name, left.error_message) == (
        CodeOutcome.RAISED,
        "SystemExit",
        "3",
    )


HOSTILE = {
    "an exception that cannot be shown": (
        "class E(Exception):\n    def __str__(self): raise RuntimeError('no')\nraise E",
        "E",
    ),
    "an exception with a huge message": ("raise ValueError('x' * 10_000_000)", "ValueError"),
    "a value that cannot be shown": (
        "class V:\n    def __repr__(self): raise KeyError('no')\nV()",
        "KeyError",
    ),
    "endless recursion": ("def f(): f()\nf()", "RecursionError"),
    "code nested too deeply": ("(" * 5000 + ")" * 5000, "*"),
    "a zero byte": ("x = 1\0", "*"),
    "a half of a character": ("raise ValueError('\\ud800')", "ValueError"),
    "closed streams": ("import sys; sys.stdout.close(); 1 / 0", "ZeroDivisionError"),
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_code_whose_end_is_hard_to_tell_keeps_its_interpreter(
    name: str, shared_session: AsyncSession
) -> None:
    code, error = HOSTILE[name]
    result = await shared_session.run_code(code, context="hostile")
    assert result.outcome is CodeOutcome.RAISED
    assert error in ("*", result.error_name)
    assert len(result.error_message.encode()) <= 16 << 10
    assert len(result.traceback.encode()) <= 64 << 10
    after = await shared_session.run_code("40 + 2", context="hostile")
    assert (after.value, after.restarted) == ("42", False)


@pytest.mark.promise(
    "Code at its time limit is interrupted, and its interpreter keeps its state.", "Sessions"
)
async def test_a_time_limit_interrupts_code_and_keeps_the_state(session: AsyncSession) -> None:
    await session.run_code("kept = 5\nimport subprocess")
    code = "subprocess.run(['sleep', '605'])"
    result = await session.run_code(code, time_limit_seconds=0.4)
    assert (result.outcome, result.error_name) == (CodeOutcome.INTERRUPTED, "KeyboardInterrupt")
    assert result.limits_hit == ("WALL_TIME",)
    assert result.explanation.startswith("stopped at its time limit, after ")
    assert 'File "<cell 2>", line 1' in result.traceback
    after = await session.run_code("kept")
    assert (after.value, after.restarted, after.execution_count) == ("5", False, 3)
    listed = await session.exec(["bash", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"])
    assert b"sleep 605" not in listed.stdout


async def test_code_that_ignores_its_interrupt_is_killed_with_its_interpreter(
    session: AsyncSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reward_server.sandbox.sessions.interpreter.INTERRUPT_SECONDS", 0.2)
    assert (await session.run_code("kept = 1")).success
    result = await session.run_code(SWALLOWING, time_limit_seconds=0.2)
    assert (result.outcome, result.limits_hit) == (LOST, ("WALL_TIME",))
    assert (result.exit_code, result.signal) == (None, None)
    assert "its variables are lost" in result.explanation
    after = await session.run_code("kept")
    assert (after.error_name, after.restarted, after.execution_count) == ("NameError", True, 1)
    assert "another interpreter" in after.explanation


ENDS = {
    "an exit": ("import os\nprint('last', flush=True)\nos._exit(3)", 3, None),
    "a crash": ("import ctypes\nprint('last', flush=True)\nctypes.string_at(0)", None, 11),
    "its own kill": ("import os\nprint('last', flush=True)\nos.kill(os.getpid(), 9)", None, 9),
}


@pytest.mark.parametrize("name", ENDS)
async def test_the_end_of_an_interpreter_is_told_and_its_session_lives_on(
    name: str, shared_session: AsyncSession
) -> None:
    code, exit_code, signal = ENDS[name]
    result = await shared_session.run_code(code, context="ends")
    assert (result.outcome, result.exit_code, result.signal) == (LOST, exit_code, signal)
    assert (result.stdout, result.limits_hit) == (b"last\n", ())
    assert (await shared_session.run_code("1", context="ends")).restarted
    assert (await shared_session.exec(["true"])).success


async def test_an_interpreter_that_takes_too_much_memory_is_lost(session: AsyncSession) -> None:
    result = await session.run_code("x = bytearray(b'x') * (1 << 30)")
    assert (result.outcome, result.limits_hit) == (LOST, ("MEMORY",))
    assert "memory ran out" in result.explanation


async def test_a_copy_that_code_forks_does_not_answer_in_its_place(session: AsyncSession) -> None:
    result = await session.run_code("import os\npid = os.fork()\npid > 0")
    assert result.value == "True"
    assert (await session.run_code("os.waitpid(pid, 0)[1]")).value == "0"


async def test_contexts_have_states_of_their_own_and_may_be_restarted(
    session: AsyncSession,
) -> None:
    await asyncio.gather(
        session.run_code("x = 1", context="a"), session.run_code("x = 2", context="b")
    )
    told = await asyncio.gather(*(session.run_code("x", context=name) for name in ("a", "b", "a")))
    assert [one.value for one in told] == ["1", "2", "1"]
    fresh = await session.run_code("'x' in globals()", context="a", restart=True)
    assert (fresh.value, fresh.restarted) == ("False", True)
    assert (await session.run_code("x", context="b")).value == "2"


async def test_a_session_has_a_limited_number_of_contexts(client: AsyncRewardClient) -> None:
    async with client.session(**{**SMALL, "processes": 4}) as session:
        for name in map(str, range(8)):
            await session.run_code("1", context=name)  # lost, if there is no room for processes
        with pytest.raises(CallError, match=r"FAILED_PRECONDITION.*at most 8 contexts"):
            await session.run_code("1", context="9")
        assert (await session.run_code("1", context="0")).value == "1"


async def test_calls_in_one_context_run_one_after_another(session: AsyncSession) -> None:
    await session.run_code("order = []")
    slow = "import time; order.append(1); open('begun', 'w'); time.sleep(0.2); order.append(2)"
    first = asyncio.create_task(session.run_code(slow))
    await until_written(session, "begun")
    second = await session.run_code("order.append(3); order")
    assert second.value == "[1, 2, 3]"
    assert (await first).success


async def test_code_of_a_caller_that_gives_up_is_interrupted_and_its_state_kept(
    session: AsyncSession,
) -> None:
    await session.run_code("import time\nx = 1")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await session.run_code("while True: print('unread'); time.sleep(0.01)")
    result = await session.run_code("x", time_limit_seconds=30)
    assert (result.value, result.stdout, result.restarted) == ("1", b"", False)


async def until_written(session: AsyncSession, path: str) -> None:
    """Returns once a file of the session exists."""
    while path not in {  # noqa: ASYNC110  # nothing tells of it
        entry.path for entry in await session.list_files()
    }:
        await asyncio.sleep(0.01)


async def test_code_that_ignores_that_its_caller_has_gone_is_killed(
    session: AsyncSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reward_server.sandbox.sessions.interpreter.INTERRUPT_SECONDS", 0.4)
    await session.run_code("x = 1")
    for options in ({}, {"restart": True}):
        name = f"begun-{len(options)}"
        running = asyncio.create_task(session.run_code(f"open({name!r}, 'w')\n{SWALLOWING}"))
        await until_written(session, name)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        result = await session.run_code("'x' in globals()", **options)  # type: ignore[arg-type]  # a choice of keys
        assert (result.value, result.restarted) == ("False", True)


async def test_the_judge_of_a_session_ends_its_interpreters(session: AsyncSession) -> None:
    code = "open('solution.py', 'w').write('def double(x): return 2 * x')"
    assert (await session.run_code(code)).success
    tests = {"function": {"entry_point": "double", "asserts": ["assert double(4) == 8"]}}
    assert (await session.score(tests, completion_path="solution.py")).reward == 1.0
    assert (await session.run_code("1")).restarted


async def test_interpreters_are_no_commands_that_a_caller_can_reach(
    app: App, session: AsyncSession
) -> None:
    result = await session.run_code("import os; os.getppid()")
    assert result.value is not None
    command = session.start(["true"])
    async with command:
        command.pid = int(result.value)
        with pytest.raises(SessionProcessError):
            await command.send_signal(9)
    assert (await session.run_code("1")).execution_count == 2
    running = app.telemetry.registry.get_sample_value
    while running("reward_server_session_commands_running"):  # noqa: ASYNC110  # others count
        await asyncio.sleep(0.01)  # a drain does not wait for an interpreter without code


async def test_an_ended_session_ends_its_code(client: AsyncRewardClient) -> None:
    async with client.session(**SMALL, lifetime_seconds=1.0) as session:
        with pytest.raises(SessionEndedError) as raised:
            await session.run_code("import time; time.sleep(607)")
        assert raised.value.reason == "SESSION_EXPIRED"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"context": "x" * 65}, "context"),
        ({"time_limit_seconds": 0.0}, "time_limit_seconds"),
        ({"output_bytes": -1}, "output_bytes"),
        ({"code": "#" * ((1 << 20) + 1)}, "code"),
    ],
)
async def test_a_wrong_request_is_refused_by_its_field(
    options: dict[str, object], field: str, shared_session: AsyncSession
) -> None:
    with pytest.raises(CallError, match=f"INVALID_ARGUMENT: {field}: "):
        await shared_session.run_code(**{"code": "1", **options})  # type: ignore[arg-type]  # wrong on purpose


async def test_a_client_without_an_event_loop_runs_code(app: App) -> None:
    def work() -> None:
        with RewardClient(app.address, token=BLUE) as blocking, blocking.session(**SMALL) as one:
            one.run_code("x = 20")
            assert one.run_code("x + 1").value == "21"

    await asyncio.to_thread(work)


async def test_figures_are_returned_as_png(tmp_path: Path) -> None:
    packaged = settings(tmp_path, sandbox_packages=PACKAGES, session_warm=0)
    drawing = """
import matplotlib.pyplot as plt
for n in range(2):
    plt.figure(); plt.plot([n, 1]); plt.show()
"""
    async with (
        running_app(packaged) as app,
        AsyncRewardClient(app.address, token=BLUE) as client,
        client.session(memory_bytes=512 << 20) as session,
    ):
        result = await session.run_code(drawing, time_limit_seconds=60)
        assert result.success, result
        assert [image[:8] for image in result.images] == 2 * [b"\x89PNG\r\n\x1a\n"]
        assert b"Warning" not in result.stderr  # of `show` without a screen
        assert result.dropped_images == 0
        assert (await session.run_code("1")).images == ()
