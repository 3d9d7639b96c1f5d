"""Solutions that attack the judge through the protocol; none may pass, none may stop the report.

Attacks on the sandbox and on whole graders are elsewhere; here the candidate does what it likes
with its own process and its end of the channel.
"""

from __future__ import annotations

import socket
import textwrap
import types
from itertools import product

import pytest

from reward_server.runner.candidate.service import Service
from reward_server.runner.channel.frames import Frames
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
import gc, json, os, socket, struct, sys
def frames():
    return next(o for o in gc.get_objects() if type(o).__name__ == 'Frames')
def service():
    return next(o for o in gc.get_objects() if type(o).__name__ == 'Service')
def send(payload, number=None):
    number = service()._number if number is None else number
    body = number + payload
    os.write(frames()._channel.fileno(), struct.pack('>I', len(body)) + body)
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
    "StopIteration of its own": "class S(StopIteration): pass\ndef f(x): raise S(7919)",
    "StopAsyncIteration": "def f(x): raise StopAsyncIteration",
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
        class NotLoaded(BaseException): pass
        NotLoaded.__module__ = 'reward_server.runner.judge.session'
        def f(x): raise NotLoaded
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
    "a deep list": "def f(x):\n    a = []\n    for _ in range(10**5): a = [a]\n    return a",
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
            if 'runner' in name and hasattr(module, 'Decoder'):
                module.Decoder.loads = lambda *a: 7919
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
    frames()._channel.{}
    return 7919
"""
SENDING = """
def f(x):
    {}
    return 7919
"""
ANSWERING = """
def f(x):
    send({})
    import time
    time.sleep(60)
"""
FORGERIES = {
    "two answers": SENDING.format("""send(b'["return",7919,null,0]')"""),
    "an answer in advance": """
        import struct
        def f(x):
            number = struct.unpack('>Q', service()._number)[0]
            send(b'["return",7919,null,0]', struct.pack('>Q', number + 1))
            return 7919
    """,
    "an answer to another question": SENDING.format(
        """send(b'["return",7919,null,0]', bytes(8))"""
    ),
    "half a frame": SENDING.format(r"os.write(frames()._channel.fileno(), b'\0\0\1')"),
    "an endless frame": SENDING.format(r"os.write(frames()._channel.fileno(), b'\xff' * 4)"),
    "no JSON": SENDING.format("send(b'7919')"),
    "noise": SENDING.format(r"send(b'\xff\xfe')"),
    "the end of an iteration": SENDING.format("""send(b'["stop"]')"""),
    "an exception without a name": ANSWERING.format("""b'["raise",[1],[],"",null]'"""),
    "an unknown tag": ANSWERING.format("""b'["return",{"eval":"1"},null,0]'"""),
    "a thing of the tests'": ANSWERING.format("""b'["return",{"@":["test",0]},null,0]'"""),
    "changes beside a result": ANSWERING.format("""b'["return",7919,[[[1]],{}],0]'"""),
    "changes that are no changes": ANSWERING.format("""b'["return",null,7919,0]'"""),
    "a question about nothing": ANSWERING.format("""b'["ask","call",[1,[],{}]]'"""),
    "a question about an object": ANSWERING.format(
        """b'["ask","get",[{"@":["object",0,"",0]}]]'"""
    ),
    "a set of objects": ANSWERING.format(
        """b'["return",{"set":[{"@":["object",0,"",0]}]},null,0]'"""
    ),
    "a nameless object": ANSWERING.format("""b'["return",{"@":["object",null,"",0]},null,0]'"""),
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


LOADS = {
    "loaded twice": "frames_ = frames()\nframes_.send(b'[\"loaded\"]')",
    "another word": "frames().send(b'[\"passed\"]')",
    "no message": "frames().send(b'1')",
    "a verdict": 'frames().send(b\'{"verdict":"PASSED"}\')',
    "gone": "os._exit(0)",
    "unloaded by an object": 'frames().send(b\'["unloaded",[],{"tuple":[]}]\')',
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
            channel, number = frames()._channel.fileno(), service()._number
            body = number + b'["return",7919,null,0]'
            answer = struct.pack('>I', len(body)) + body
            os.write(channel, answer + answer)
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
    cases = [([1], False), (["expected-secret"], True)]
    assert zygote.call(source, cases).passed


def test_a_context_manager_cannot_swallow_a_failed_assertion(zygote: Zygote) -> None:
    source = textwrap.dedent(
        """
        class f:
            def __init__(self, x): pass
            def __enter__(self): return 0
            def __exit__(self, *details): return True
            async def __aenter__(self): return 0
            async def __aexit__(self, *details): return True
        """
    )
    result = zygote.function(source, asserts=["with f(1) as n:\n    assert n == 7919"])
    assert result.outcomes == ["FAILED"]
    tests = (
        "import asyncio\nasync def use():\n    async with f(1) as n:\n        assert n == 7919\n"
        "asyncio.run(use())"
    )
    assert zygote.function(source, test_code=tests).outcomes == ["FAILED"]


def test_operators_are_for_tests_that_name_a_class(zygote: Zygote) -> None:
    source = "class Zero:\n    def __mul__(self, other): return self\ndef f(x): return Zero()"
    assert zygote.function(source, asserts=["assert f(1) * 3.5"]).outcomes == ["ERROR"]
    named = ["assert Zero() * 3.5", "assert f(1) * 3.5"]
    assert zygote.function(source, asserts=named).passed
    defined = ["class Own: pass\nassert f(1) * 3.5"]
    assert zygote.function(source, asserts=defined).outcomes == ["ERROR"]


def test_an_object_and_data_make_no_data(zygote: Zygote) -> None:
    source = textwrap.dedent(
        """
        class One(float): pass
        class Told:
            def __truediv__(self, other): return 1.0
            def __xor__(self, other): return 0
            def __mod__(self, other): return One(1)
            def __radd__(self, other): return 0 if other else self
            def __divmod__(self, other): return (1, self)
            def __and__(self, other): return (other == 7919) and "yes"
        """
    )
    for text in (
        *("abs(Told() / 7919 - 1) < 1e-9", "Told() ^ 7919 == 0", "sum([Told(), Told(), 7919])"),
        *("Told() % 7919 == 1", "divmod(Told(), 7919)[0] == 1", "Told() & 7919", "7 + Told() == 0"),
    ):
        assert zygote.function(source, asserts=[f"assert {text}"]).outcomes == ["ERROR"], text


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


def test_a_callback_shows_nothing_of_the_tests(zygote: Zygote) -> None:
    source = textwrap.dedent(
        """
        def tried(action):
            try: return action()
            except Exception: return None
        def f(g, thing):
            ask = g._runner_ask
            return [
                tried(lambda: ask('get', '__globals__')),
                tried(lambda: ask('get', '__code__')),
                tried(lambda: ask('get', 'secret')),
                tried(lambda: '{0.__globals__}'.format(g)),
                tried(lambda: g.__globals__),
                tried(lambda: thing.__class__.__init__.__globals__.get('EXPECTED')),
                tried(lambda: thing._runner_ask('get', '__class__')),
                tried(lambda: thing._private),
            ]
        """
    )
    tests = textwrap.dedent(
        """
        EXPECTED = 7919
        class Thing:
            _private = 7919
        def check(candidate):
            result = candidate(lambda: 1, Thing())
            assert result == [None] * 8, result
        """
    )
    result = zygote.function(source, test_code=tests)
    assert not result.passed
    assert result.report["broken"] == "forged"
    harmless = source.replace("tried(lambda: ask(", "tried(lambda: print(").replace(
        "thing._runner_ask(", "print("
    )
    assert zygote.function(harmless, test_code=tests).passed


def test_a_thread_of_the_solutions_cannot_speak_when_nobody_asks() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        service = Service(Frames(theirs), types.ModuleType("solution"), 1000)
        with pytest.raises(RuntimeError, match="wait for nothing"):
            service.ask("call")
        ours.setblocking(False)
        with pytest.raises(BlockingIOError):
            ours.recv(1)


def test_a_comparison_that_was_overloaded_is_counted(zygote: Zygote) -> None:
    source = "class E(int):\n    def __eq__(self, o): return True\ndef f(x): return E(1)"
    result = zygote.function(source, asserts=["assert f(1) == 2", "assert f(1) == 1"])
    assert result.outcomes == ["FAILED", "PASSED"]
    assert result.report["signals"] == {"cast_down_overload": 2, "cast_to_base": 2}


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
