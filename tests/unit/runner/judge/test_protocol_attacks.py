"""Solutions that attack the judge through the protocol; none may pass, none may stop the report.

Attacks on the sandbox and on whole graders are elsewhere; here the candidate does what it likes
with its own process and its end of the channel. `test_line` and `test_contract_answers`
read further answers without a process.
"""

from __future__ import annotations

import json
import textwrap
from itertools import product

import pytest

from tests.support.sampling import sampled
from tests.unit.runner.harness import Zygote

EQUALITY = "assert f(3) == 7919"
TRUTH = "assert f(3) is True"
CLOSE = "assert abs(f(3) - 3.25) < 1e-6"
ORDER = "assert 3.2 < f(3) < 3.3"
MEMBER = "assert 7919 in f(3)"
UNEQUAL = "assert not f(3) != 7919"
KIND = "assert isinstance(f(3), int) and f(3) == 7919"
ALL = "assert all(a == b for a, b in zip([7919, 7907], f(3), strict=True))"
LENGTH = "assert len(f(3)) == 2 and f(3)[0] == 7919"
CAUGHT = "try:\n    value = f(3)\nexcept Exception:\n    value = 7919\nassert value == 7919 == f(4)"
BARE = "try:\n    value = f(3)\nexcept:\n    value = 7919\nassert value == 7919"
FINALLY = (
    "def g():\n    try:\n        return f(3)\n    finally:\n        return 7919\nassert g() == 7919"
)
LOOP = "for number in (1, 2):\n    assert f(number) == 7919"
GENERATED = "assert all(map(f, [1, 2])) and next(map(f, [3])) == 7919"
EVERY = (EQUALITY, TRUTH, CLOSE, ORDER, MEMBER, UNEQUAL, KIND, ALL, LENGTH, LOOP, GENERATED)

CHANNEL = """
import gc, os, socket, struct, sys, time
def channel():
    return next(o for o in gc.get_objects() if type(o).__name__ == 'Frames')._channel
def asked():
    frame = sys._getframe()
    while not (frame.f_code.co_name == 'run' and 'frame' in frame.f_locals): frame = frame.f_back
    return frame.f_locals['frame'][:8]
def send(payload, number=None):
    body = (asked() if number is None else number) + payload
    os.write(channel().fileno(), struct.pack('>I', len(body)) + body)
"""

OBJECTS = {
    "equal to everything": """
        class E:
            def __eq__(self, o): return True
            def __ne__(self, o): return False
            def __hash__(self): return 1
            def __bool__(self): return True
            def __lt__(self, o): return True
            __le__ = __gt__ = __ge__ = __lt__
            def __sub__(self, o): return 0.0
            __rsub__ = __add__ = __radd__ = __mul__ = __sub__
            def __abs__(self): return 0.0
            def __contains__(self, o): return True
            def __len__(self): return 2
            def __getitem__(self, n): return self
            def __float__(self): return 0.0
            def __iter__(self): return iter([self, self])
            def __getattr__(self, name): return self
            def __call__(self, *a, **k): return self
            def __instancecheck__(self, o): return True
        def f(x): return E()
    """,
    "of class int by its own word": """
        class E:
            @property
            def __class__(self): return int
            def __eq__(self, o): return True
            def __index__(self): return 7919
        def f(x): return E()
    """,
    "an int that is equal to everything": """
        class E(int):
            def __eq__(self, o): return True
            def __ne__(self, o): return False
            def __sub__(self, o): return 0
            def __lt__(self, o): return True
            __gt__ = __lt__
            __hash__ = int.__hash__
        def f(x): return E(0)
    """,
    "a list that holds everything": """
        class E(list):
            def __eq__(self, o): return True
            def __contains__(self, o): return True
            def __len__(self): return 2
            def __getitem__(self, n): return E()
            def __iter__(self): return iter([E(), E()])
        def f(x): return E()
    """,
    "a metaclass": """
        class M(type):
            def __eq__(self, o): return True
            def __instancecheck__(self, o): return True
            def __sub__(self, o): return 0.0
            def __lt__(self, o): return True
            __gt__ = __lt__
            __hash__ = type.__hash__
        class E(metaclass=M): pass
        def f(x): return E
    """,
    "a generator that ends early": "def f(x):\n    return\n    yield",
    "StopIteration": "def f(x): raise StopIteration",
    "GeneratorExit": "def f(x): raise GeneratorExit",
    "SystemExit": "def f(x): raise SystemExit(0)",
    "KeyboardInterrupt": "def f(x): raise KeyboardInterrupt",
    "SkipTest": "import unittest\ndef f(x): raise unittest.SkipTest('skipped')",
    "SkipTest by name": """
        class SkipTest(Exception): pass
        SkipTest.__module__ = 'unittest.case'
        SkipTest.__qualname__ = 'SkipTest'
        def f(x): raise SkipTest('skipped')
    """,
    "the judge's own exception by name": """
        class SessionEnded(BaseException): pass
        SessionEnded.__module__ = 'reward_server.runner.judge.endings'
        def f(x): raise SessionEnded
    """,
    "an outcome of pytest by name": """
        class Skipped(BaseException): pass
        Skipped.__module__ = 'builtins'
        def f(x): raise Skipped
    """,
    "nothing": "def f(x): pass",
    "leave": "import os\ndef f(x): os._exit(0)",
    "leave when loaded": "import os, threading\nthreading.Timer(0.05, os._exit, [0]).start()\n"
    "import time\ndef f(x): time.sleep(60)",
    "killed": "import os, signal\ndef f(x): os.kill(os.getpid(), signal.SIGKILL)",
    "a crash": "import ctypes\ndef f(x): ctypes.string_at(0)",
    "a cycle": "def f(x):\n    a = []\n    a.append(a)\n    return a",
    "a deep list": "def f(x):\n    a = []\n    for _ in range(20_000): a = [a]\n    return a",
    "a huge integer": "def f(x): return 1 << (1 << 23)",
    "a huge list": "def f(x): return [7919] * 10**6",
    "a memory bomb": "def f(x):\n    a = [0]\n    for _ in range(99): a = [a, a]\n    return a",
    "patched builtins": """
        import builtins, json, operator
        builtins.isinstance = lambda *a: True
        builtins.all = builtins.any = lambda *a: True
        json.dumps = lambda *a, **k: '[7919]'
        operator.eq = lambda *a: True
        def f(x): return 0
    """,
    "patched modules": """
        import sys
        for name, module in list(sys.modules.items()):
            if 'runner' in name and hasattr(module, 'Reader'):
                module.Reader.value = lambda *a: 7919
        sys.modules['unittest'] = sys.modules['math'] = None
        def f(x): return 0
    """,
}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_a_false_answer_passes_no_test(zygote: Zygote, name: str) -> None:
    source = textwrap.dedent(OBJECTS[name])
    for test in sampled(EVERY, 3):
        result = zygote.function(source, asserts=[test], result_bytes=1 << 17)
        assert not result.passed, (test, result.explanation)
        assert result.outcomes != ["PASSED"], (test, result.explanation)
        assert result.outcomes != ["SKIPPED"], (test, result.explanation)


CLOSING = """
def f(x):
    channel().{}
    return 7919
"""
SENDING = """
def f(x):
    {}
    return 7919
"""
ANSWER = b'["return",7919,[],[],false]'
FRAMES = {
    "two answers": SENDING.format(f"send({ANSWER})"),
    "an answer in advance": SENDING.format(
        f"send({ANSWER}, struct.pack('>Q', struct.unpack('>Q', asked())[0] + 1))"
    ),
    "an answer to another question": SENDING.format(f"send({ANSWER}, bytes(8))"),
    "half a frame": SENDING.format(r"os.write(channel().fileno(), b'\0\0\1')"),
    "an endless frame": SENDING.format(r"os.write(channel().fileno(), b'\xff' * 4)"),
    "no JSON": SENDING.format("send(b'7919')"),
    "a closed channel": CLOSING.format("close()"),
    "a channel shut for writing": CLOSING.format("shutdown(socket.SHUT_WR)"),
    "a channel shut for reading": CLOSING.format("shutdown(socket.SHUT_RD)"),
    "every descriptor closed": SENDING.format("os.closerange(0, 100)"),
    "output everywhere": """
        def f(x):
            for d in range(64):
                try: os.write(d, b'PASSED 7919\\n')
                except OSError: pass
            return 7919
    """,
}
# What is sent instead of an answer to `f(3)`.
ANSWERS = {
    "a word": ["passed"],
    "the old form of an answer": ["return", 7919, None, 0],
    "an unknown tag": ["return", {"eval": ["7919"]}, [], [], False],
    "a change of nothing that was given": ["return", 7919, [], [[0, ["l"]]], False],
    "an object of the tests": ["return", {"h": ["test", 0]}, [], [], False],
    "an exception without a name": ["raise", [1], [], "", {}, [], [], False],
    "a limit that is none": ["large", 7919],
    "an array of memory": ["return", {"r": 0}, [["a", "O", [1], "\0" * 8]], [], False],
}
FORGERIES = FRAMES | {
    name: SENDING.format(f"send({json.dumps(answer).encode()}); time.sleep(60)")
    for name, answer in ANSWERS.items()
}
CATCHING = {"loop": LOOP, "caught": CAUGHT, "bare": BARE, "finally": FINALLY}


# Every third pair has each forgery and each test.
@pytest.mark.parametrize(("name", "test"), sampled([*product(FORGERIES, CATCHING)], 3))
def test_a_forged_frame_fails_the_run_whatever_the_tests_catch(
    zygote: Zygote, name: str, test: str
) -> None:
    source, tests = CHANNEL + textwrap.dedent(FORGERIES[name]), CATCHING[test]
    if name == "an answer in advance":
        tests = f"assert f(0) == f(0)\n{tests}"
    seconds = 0.3 if name == "half a frame" else 20.0  # its other half never comes
    result = zygote.function(source, asserts=[tests, "assert f(5) == 7919"], wall_seconds=seconds)
    assert not result.passed, result.explanation
    assert result.report["broken"] in ("forged", "closed"), result.explanation
    assert "ERROR" in result.outcomes, result.explanation
    assert result.outcomes[1] != "PASSED", result.explanation
    signal = "tampering" if result.report["broken"] == "forged" else "early_exit"
    assert result.report["signals"] == {signal: 1}


@pytest.mark.parametrize(
    "source", ["def f(x): raise SystemExit('x' * 10**6)", "raise ValueError('x' * 10**6)"]
)
def test_no_long_word_of_an_end_is_taken_for_a_forgery(zygote: Zygote, source: str) -> None:
    result = zygote.function(source, asserts=[EQUALITY], result_bytes=1000)
    assert "tampering" not in result.report["signals"]
    assert result.outcomes == ["ERROR"]


LOADS = {
    "loaded twice": "send(b'', b'[\"loaded\"]')",
    "another word": "send(b'', b'[\"passed\"]')",
    "no message": "send(b'', b'1')",
    "a verdict": 'send(b"", b\'{"verdict":"PASSED"}\')',
    "gone": "os._exit(0)",
    "unloaded by an object": 'send(b"", b\'["unloaded",[],{"t":[]}]\')',
}


@pytest.mark.parametrize("name", LOADS)
def test_a_forged_word_at_loading_fails_the_run(zygote: Zygote, name: str) -> None:
    source = CHANNEL + LOADS[name] + "\ndef f(x): return 7919\n"
    result = zygote.function(source, asserts=[EQUALITY])
    assert not result.passed, result.explanation
    assert result.report["broken"] in ("forged", "closed")
    assert result.report["ready"]


def test_an_uncaught_frame_after_the_last_answer_fails_the_last_test(zygote: Zygote) -> None:
    source = CHANNEL + textwrap.dedent(
        """
        import threading
        def f(x):
            body = asked() + b'["return",7919,[],[],false]'
            answer = struct.pack('>I', len(body)) + body
            os.write(channel().fileno(), answer + answer)
            threading.Event().wait(60)
        """
    )
    result = zygote.function(source, asserts=[EQUALITY])
    assert result.outcomes == ["ERROR"]
    assert result.report["broken"] == "forged"


def test_the_candidates_process_holds_nothing_of_the_tests(zygote: Zygote) -> None:
    source = textwrap.dedent(
        """
        import gc, sys
        def texts(thing, depth=3):
            if isinstance(thing, (str, bytes)):
                yield thing if isinstance(thing, str) else thing.decode('latin-1')
            elif isinstance(thing, dict) and depth:
                for item in list(thing.items()):
                    yield from texts(item, depth - 1)
            elif isinstance(thing, (list, tuple, set, bytearray)) and depth:
                if isinstance(thing, bytearray):
                    yield thing.decode('latin-1')
                else:
                    for item in list(thing):
                        yield from texts(item, depth - 1)
        def f(x):
            frame, found = sys._getframe(), []
            while frame:
                found += texts(dict(frame.f_locals))
                frame = frame.f_back
            for thing in gc.get_objects():
                found += texts(thing)
            with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', 0) as memory:
                for line in maps:
                    low, high = (int(part, 16) for part in line.split()[0].split('-'))
                    if line.split()[1].startswith('rw'):
                        try:
                            memory.seek(low)
                            found.append(memory.read(high - low).decode('latin-1'))
                        except (OSError, ValueError, OverflowError):
                            pass
            needle = ''.join(['exp', 'ected-', 'secret'])
            return any(needle in text for text in found)
        """
    )
    assert zygote.function(source, asserts=["assert f('expected-secret') is True"]).passed
    tests = "def check(f):\n    note = 'expected-secret'\n    assert f(1) is False, note"
    assert zygote.function(source, test_code=tests).passed
    ahead = "def check(f):\n    assert f(1) is False\n    assert f(2) != 'expected-secret'"
    assert zygote.function(source, test_code=ahead).passed
    cases = [([1], False), (["expected-secret"], True)]
    assert zygote.call(source, cases).passed


def test_no_object_is_near_data_by_its_own_word(zygote: Zygote) -> None:
    source = textwrap.dedent(
        """
        class Zero:
            def __sub__(self, other): return 0.0
            __rsub__ = __isub__ = __sub__
            def __lt__(self, other): return True
            __gt__ = __le__ = __ge__ = __lt__
        """
    )
    for text in ("abs(Zero() - 3.5) < 1", "abs(3.5 - Zero()) < 1", "Zero() < 1", "1 < Zero()"):
        assert zygote.function(source, asserts=[f"assert {text}"]).outcomes == ["ERROR"]
    assert zygote.function(
        source, asserts=["assert Zero() - Zero() == 0 and Zero() < Zero()"]
    ).passed


def test_a_number_of_a_subclass_is_compared_as_its_base_and_told(zygote: Zygote) -> None:
    source = "class E(int):\n    def __eq__(self, o): return True\ndef f(x): return E(1)"
    result = zygote.function(source, asserts=["assert f(1) == 2", "assert f(1) == 1"])
    assert result.outcomes == ["FAILED", "PASSED"]
    assert result.report["signals"] == {"cast_down": 2}


@pytest.mark.parametrize(
    ("base", "own", "other"),
    [("str", "'a'", "'b'"), ("dict", "{1: 2}", "{3: 4}"), ("list", "[1]", "[]")],
)
def test_data_that_equals_everything_equals_no_other_data(
    zygote: Zygote, base: str, own: str, other: str
) -> None:
    methods = "__eq__ = lambda self, o: True\n    __ne__ = lambda self, o: False"
    source = f"class E({base}):\n    {methods}\ndef f(x): return E({own})"
    asserts = [f"assert {test}" for test in (f"f(1) == {other}", f"not f(1) != {other}")]
    result = zygote.function(source, asserts=[*asserts, f"assert f(1) == {own}"])
    assert result.outcomes == ["FAILED", "FAILED", "PASSED"]


def test_a_full_pipe_stalls_nobody(zygote: Zygote) -> None:
    source = textwrap.dedent(
        """
        import sys
        def f(x):
            sys.stderr.write('e' * 300_000)
            print('o' * 300_000)
            return x
        """
    )
    tests = "def check(candidate):\n    big = ['y' * 1000] * 500\n    assert candidate(big) == big"
    assert zygote.function(source, test_code=tests).passed


def test_silence_is_ended_from_outside_and_reported(zygote: Zygote) -> None:
    source = "import time\ndef f(x): time.sleep(60)"
    result = zygote.function(source, asserts=["assert f(1)", "assert f(2)"], wall_seconds=0.5)
    assert result.reply.timed_out
    assert result.outcomes == ["ERROR", "NOT_RUN"]
    assert result.report["broken"] == "closed"


@pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "GeneratorExit"])
def test_leaving_is_no_exception_that_a_test_expects(zygote: Zygote, name: str) -> None:
    tests = "try:\n    f(3)\nexcept Exception:\n    pass\nelse:\n    assert False\n"
    assert zygote.function("def f(x): raise ValueError", asserts=[tests]).passed
    result = zygote.function(f"def f(x): raise {name}", asserts=[tests])
    assert result.outcomes == ["ERROR"]
