"""A signal that a program sends itself acts as it does for any program."""

from __future__ import annotations

import pytest

from reward_server.domain import (
    CallCase,
    CallTests,
    FunctionTests,
    StdioCase,
    StdioTests,
    Verdict,
)
from tests.support.common import Judge, is_refused, on_the_servers_loop

pytestmark = on_the_servers_loop

PRINTED = StdioTests(cases=(StdioCase(stdin=b"", expected_stdout=b"done\n"),))
CALLED = CallTests(entry_point="solve", cases=(CallCase(args_json="[1]", expected_json="1"),))
CHECKED = FunctionTests(entry_point="solve", asserts=("assert solve(1) == 1",))
ENDS = {
    "kill(SIGSEGV)": "os.kill(os.getpid(), signal.SIGSEGV)",
    "kill(SIGTERM)": "os.kill(os.getpid(), signal.SIGTERM)",
    "kill(SIGKILL)": "os.kill(os.getpid(), signal.SIGKILL)",
    "kill(SIGUSR1)": "os.kill(os.getpid(), signal.SIGUSR1)",
    "kill(0)": "os.kill(0, signal.SIGTERM)",
    "killpg": "os.killpg(os.getpgrp(), signal.SIGKILL)",
    "raise": "signal.raise_signal(signal.SIGBUS)",
    "abort": "os.abort()",
    "an alarm": "signal.alarm(1); signal.pause()",
    "a thread's signal": "signal.pthread_kill(threading.get_ident(), signal.SIGQUIT)",
    "a child's signal": (
        "os.fork() == 0 and (os.kill(os.getppid(), signal.SIGTERM), os._exit(0)); time.sleep(2)"
    ),
    "a null pointer": "ctypes.string_at(0)",
    "an illegal access in a thread": (
        "t = threading.Thread(target=ctypes.string_at, args=(0,)); t.start(); t.join()"
    ),
    "a shell": "os.execvp('sh', ['sh', '-c', 'kill -TERM $$'])",
}
IMPORTS = "import ctypes, os, signal, sys, threading, time\n"


@pytest.mark.parametrize("name", ENDS)
async def test_a_program_that_ends_itself_by_a_signal_has_not_passed(
    judge: Judge, name: str
) -> None:
    assessment = await judge(f"{IMPORTS}print('done', flush=True)\n{ENDS[name]}\n", PRINTED)
    assert is_refused(assessment)
    assert assessment.verdict is Verdict.RUNTIME_ERROR, assessment.message


@pytest.mark.parametrize("tests", [CALLED, CHECKED], ids=["calls", "asserts"])
@pytest.mark.parametrize("name", ["kill(SIGSEGV)", "kill(SIGKILL)", "raise", "kill(0)"])
async def test_a_function_that_ends_its_process_by_a_signal_has_not_passed(
    judge: Judge, tests: CallTests | FunctionTests, name: str
) -> None:
    solution = f"{IMPORTS}def solve(x):\n    {ENDS[name]}\n    return x\n"
    assert is_refused(await judge(solution, tests))


@pytest.mark.parametrize(
    "lines",
    [
        "signal.signal(signal.SIGTERM, lambda *_: None)\nos.kill(os.getpid(), signal.SIGTERM)",
        "os.kill(os.getpid(), signal.SIGWINCH)",
        "os.kill(os.getpid(), 0)",
        "child = os.fork()\nif not child: signal.pause()\nos.kill(child, 9)\nos.wait()",
        "if os.fork() == 0:\n    os.fork() or time.sleep(0.1)\n    os._exit(0)\nos.wait()",
        "os.setsid() if os.getsid(0) != os.getpid() else None",
        "assert threading.main_thread().is_alive() and os.getpid() != os.getppid()",
        "t = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(8)]\n"
        "[one.start() for one in t]\n[one.join() for one in t]",
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(1)\n"
        "except KeyboardInterrupt:\n    pass",
    ],
)
async def test_a_program_that_stays_alive_passes(judge: Judge, lines: str) -> None:
    assessment = await judge(f"{IMPORTS}{lines}\nprint('done')\n", PRINTED)
    assert assessment.verdict is Verdict.PASSED, (assessment.message, assessment.stderr.data)


async def test_an_exit_status_is_a_programs_own(judge: Judge) -> None:
    for status in (1, 3, 139, 255):
        assessment = await judge(f"print('done', flush=True)\nexit({status})\n", PRINTED)
        assert assessment.verdict is Verdict.RUNTIME_ERROR
        assert str(status) in assessment.message


async def test_a_forbidden_system_call_is_still_a_violation(judge: Judge) -> None:
    source = f"{IMPORTS}print('done', flush=True)\nctypes.CDLL(None).syscall(101, 0, 0, 0, 0)\n"
    assessment = await judge(source, PRINTED)
    assert assessment.verdict is Verdict.SECURITY_VIOLATION
