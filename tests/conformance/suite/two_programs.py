"""What every sandbox promises of two programs in one execution, the tests' and the solution's."""

from __future__ import annotations

import textwrap
from typing import Any

from reward_server.domain import (
    Commands,
    Ending,
    Execution,
    Job,
    LimitKind,
    Limits,
    SplitPrograms,
    Termination,
    TerminationKind,
)
from reward_server.sandbox.base import Sandbox
from tests.conformance.suite.checks import LIMITS, Check
from tests.conformance.suite.host import Host

EXITED = Termination(kind=TerminationKind.EXITED)
TESTS_HEAD = """
import os, struct, sys
number = 0
def read(size):
    data = b""
    while len(data) < size:
        piece = os.read(3, size - len(data))
        if not piece: sys.exit(9)
        data += piece
    return data
def write(payload):
    data = struct.pack(">I", len(payload)) + payload
    while data: data = data[os.write(4, data):]
def ask(content=b""):
    global number
    number += 1
    write(b"C" + struct.pack(">I", number) + content)
    answer = read(struct.unpack(">I", read(4))[0])
    return answer[5:]
"""
SOLUTION_HEAD = """
import os, struct, sys, time
def read(size):
    data = b""
    while len(data) < size:
        piece = os.read(3, size - len(data))
        if not piece: sys.exit(0)
        data += piece
    return data
def write(payload):
    data = struct.pack(">I", len(payload)) + payload
    while data: data = data[os.write(4, data):]
def hear(): return read(struct.unpack(">I", read(4))[0])
def answer(content, call): write(b"R" + call[1:5] + content)
def serve(function):
    while True:
        call = hear()
        answer(function(call[5:]), call)
"""
ECHO = "serve(lambda content: content[::-1])"
ASK_ONCE = "ask()"


def program(head: str, text: str) -> Commands:
    source = head + textwrap.dedent(text)
    return Commands(commands=(("python3", "-S", "main.py"),), files={"main.py": source.encode()})


async def run(sandbox: Sandbox, tests: str, solution: str, **limits: Any) -> Execution:
    work = SplitPrograms(
        tests=program(TESTS_HEAD, tests), solution=program(SOLUTION_HEAD, solution)
    )
    return await sandbox.run(Job(work=work, limits=Limits(**{**LIMITS, **limits})))


def told(execution: Execution) -> str:
    """Returns what the tests' program wrote, which has to have come to a good end."""
    assert execution.ending is Ending.COMPLETED, execution
    assert execution.tests_program is not None
    assert execution.tests_program.termination == EXITED, execution
    return execution.tests_program.stdout.data.decode()


async def two_programs_talk_and_write_apart(sandbox: Sandbox, host: Host) -> None:
    tests = "print(ask(b'abc'), ask(b'def'), flush=True); print('!', file=sys.stderr)"
    solution = """
        print("loaded", flush=True)
        print("?", file=sys.stderr, flush=True)
        serve(lambda content: content[::-1])
    """
    execution = await run(sandbox, tests, solution)
    assert told(execution) == "b'cba' b'fed'\n"
    assert execution.tests_program is not None
    assert execution.tests_program.stderr.data == b"!\n"
    assert (execution.stdout.data, execution.stderr.data) == (b"loaded\n", b"?\n")


async def large_frames_pass_whole(sandbox: Sandbox, host: Host) -> None:
    tests = """
        import random
        data = random.Random(1).randbytes(3_000_000)
        for _ in range(3): assert ask(data) == data[::-1]
    """
    assert told(await run(sandbox, tests, ECHO)) == ""


async def a_status_of_the_tests_is_told(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, "ask(); sys.exit(7)", ECHO)
    assert execution.ending is Ending.COMPLETED
    assert execution.tests_program is not None
    assert execution.tests_program.termination.value == 7


async def neither_program_sees_the_other(sandbox: Sandbox, host: Host) -> None:
    look = textwrap.dedent("""
        def look():
            numbers = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
            links = [os.readlink(f"/proc/self/fd/{n}")[:4] for n in (0, 1, 2, 3, 4)]
            others = []
            for n in range(5, 64):
                try: others.append(os.fstat(n))
                except OSError: pass
            return repr((len(numbers), links, others, os.listdir("."), os.listdir("/tmp")))
    """)
    tests = look + "open('of-tests', 'w'); open('/tmp/of-tests', 'w')\nprint(ask().decode())"
    execution = await run(sandbox, tests, look + "serve(lambda _: look().encode())")
    pipes = ["pipe"] * 5
    assert told(execution) == f"{(2, pipes, [], ['main.py'], [])!r}\n"


async def nothing_of_the_solution_runs_before_it_is_called(sandbox: Sandbox, host: Host) -> None:
    tests = """
        import time
        before = time.monotonic()
        time.sleep(0.3)
        print(float(ask()) > before + 0.3)
    """
    solution = "began = time.monotonic()\nserve(lambda _: repr(began).encode())"
    assert told(await run(sandbox, tests, solution)) == "True\n"


async def the_solution_cannot_end_the_tests(sandbox: Sandbox, host: Host) -> None:
    solution = """
        import signal
        for number in range(2, 200):
            if number != os.getpid():
                try: os.kill(number, signal.SIGKILL)
                except OSError: pass
        serve(lambda content: content)
    """
    assert told(await run(sandbox, "print(ask(b'1'))", solution)) == "b'1'\n"


FORGERIES = (
    "write(b'R' + struct.pack('>I', 3)); hear(); time.sleep(5)",
    "call = hear(); answer(b'', call); answer(b'', call); hear()",
    "hear(); write(b'R' + struct.pack('>I', 2)); hear()",
    "hear(); write(b'R' + struct.pack('>I', 2)); os._exit(0)",
    "call = hear(); answer(b'', call); hear(); answer(b'', call); os._exit(0)",
    "hear(); write(b'R'); hear()",
    "hear(); write(b''); hear()",
    "call = hear(); write(b'C' + call[1:]); hear()",
    "call = hear(); write(b'F' + call[1:]); hear()",
    "call = hear(); write(b'S' + call[1:]); hear()",
    "call = hear(); os.write(4, b'\\0\\0\\0\\x05R' + call[1:5] + b'\\0'); hear()",
)


async def a_forged_frame_is_a_violation(sandbox: Sandbox, host: Host) -> None:
    for forgery in FORGERIES:
        execution = await run(sandbox, "ask(); ask(); ask()", forgery)
        assert execution.ending is Ending.VIOLATION, (forgery, execution)
        assert execution.signals == {"tampering": 1}


async def an_answer_that_the_tests_refuse_is_a_violation(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, "ask(); write(b'F' + b'malformed'); sys.exit(1)", ECHO)
    assert execution.ending is Ending.VIOLATION


async def tests_that_hand_over_what_stays_are_the_tasks_fault(sandbox: Sandbox, host: Host) -> None:
    says = "write(b'S' + struct.pack('>I', 2) + b'it')"
    for tests in (says, f"{says}; time.sleep(9)", f"{says}; sys.exit(1)"):
        execution = await run(sandbox, f"import time\n{tests}", ECHO)
        assert (execution.ending, execution.message) == (Ending.INVALID_TASK, "it"), execution
    execution = await run(sandbox, f"ask(); {says}; sys.exit(1)", ECHO)
    assert execution.ending is not Ending.INVALID_TASK, execution
    leaves = "answer(b'', hear()); os._exit(0)"
    execution = await run(sandbox, f"import time\nask(); time.sleep(1); {says}", leaves)
    assert execution.ending is Ending.CRASHED, execution


async def a_solution_that_does_not_compile_says_so(sandbox: Sandbox, host: Host) -> None:
    solution = "hear(); write(b'X' + struct.pack('>I', 5) + b'no; 3')"
    execution = await run(sandbox, ASK_ONCE, solution)
    assert (execution.ending, execution.message) == (Ending.COMPILE_ERROR, "no; 3")


async def a_solution_that_leaves_has_left_early(sandbox: Sandbox, host: Host) -> None:
    for solution in ("sys.exit(0)", "hear(); os._exit(0)", "answer(b'', hear()); os._exit(0)"):
        execution = await run(sandbox, "ask(); ask()", solution)
        assert execution.ending is Ending.CRASHED, (solution, execution)
        assert execution.signals == {"early_exit": 1}
        assert execution.termination == EXITED
    execution = await run(sandbox, ASK_ONCE, "os.kill(os.getpid(), 11)")
    assert execution.ending is Ending.CRASHED
    assert execution.termination == Termination(kind=TerminationKind.SIGNALED, value=11)


async def the_time_that_an_answer_takes_is_bounded(sandbox: Sandbox, host: Host) -> None:
    slept = await run(sandbox, ASK_ONCE, "hear(); time.sleep(30)", wall_time_seconds=1.0)
    assert (slept.ending, slept.limits_hit) == (Ending.LIMIT, (LimitKind.WALL_TIME,))
    span = await run(sandbox, ASK_ONCE, "hear()\nwhile True: pass", cpu_time_seconds=1.0)
    assert (span.ending, span.limits_hit) == (Ending.LIMIT, (LimitKind.CPU_TIME,))
    mute = "os.close(3); os.close(4); time.sleep(30)"
    closed = await run(sandbox, ASK_ONCE, mute, wall_time_seconds=1.0)
    assert (closed.ending, closed.limits_hit) == (Ending.LIMIT, (LimitKind.WALL_TIME,))


async def the_memory_of_both_is_bounded(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, ASK_ONCE, "hear(); kept = bytearray(1 << 30)")
    assert execution.limits_hit == (LimitKind.MEMORY,), execution


async def frames_are_bounded_in_size(sandbox: Sandbox, host: Host) -> None:
    large = "os.write(4, b'\\xff' * 9); hear()"
    for solution in (f"hear(); {large}", "answer(bytes(2000), hear())"):
        execution = await run(sandbox, ASK_ONCE, solution, result_bytes=1000)
        assert execution.limits_hit == (LimitKind.RESULT,), execution


async def calls_without_end_meet_a_clock_and_no_count(sandbox: Sandbox, host: Host) -> None:
    execution = await run(sandbox, "while True: ask()", ECHO, calls=2, cpu_time_seconds=0.5)
    assert execution.limits_hit == (LimitKind.CPU_TIME,), execution


async def the_output_of_both_is_bounded(sandbox: Sandbox, host: Host) -> None:
    flood = "while True: os.write(1, b'x' * 4096)"
    execution = await run(sandbox, ASK_ONCE, f"hear()\n{flood}", output_bytes=1 << 16)
    assert execution.limits_hit == (LimitKind.OUTPUT,)
    execution = await run(sandbox, f"ask()\n{flood}", ECHO, output_bytes=1 << 16)
    assert execution.limits_hit == (LimitKind.OUTPUT,)


async def tests_that_never_call_are_the_tasks_fault(sandbox: Sandbox, host: Host) -> None:
    for tests in ("", "sys.exit(1)", "os.kill(os.getpid(), 9)", "write(b'F' + b'?')"):
        execution = await run(sandbox, tests, ECHO)
        assert execution.ending is Ending.INVALID_TASK, (tests, execution)
    for tests in ("while True: pass", "import time; time.sleep(30)"):
        execution = await run(sandbox, tests, ECHO, wall_time_seconds=1.0)
        assert execution.ending is Ending.INVALID_TASK, (tests, execution)


TWO_PROGRAMS: tuple[Check, ...] = (
    two_programs_talk_and_write_apart,
    large_frames_pass_whole,
    a_status_of_the_tests_is_told,
    neither_program_sees_the_other,
    nothing_of_the_solution_runs_before_it_is_called,
    the_solution_cannot_end_the_tests,
    a_forged_frame_is_a_violation,
    an_answer_that_the_tests_refuse_is_a_violation,
    tests_that_hand_over_what_stays_are_the_tasks_fault,
    a_solution_that_does_not_compile_says_so,
    a_solution_that_leaves_has_left_early,
    the_time_that_an_answer_takes_is_bounded,
    the_memory_of_both_is_bounded,
    frames_are_bounded_in_size,
    calls_without_end_meet_a_clock_and_no_count,
    the_output_of_both_is_bounded,
    tests_that_never_call_are_the_tasks_fault,
)
