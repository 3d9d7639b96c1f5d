"""Kinds of completions and of programs that a soak sends, and what becomes of each."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from codereward.v1 import reward_service_pb2 as pb
from tests.repository.tasks import BASE, GOLDEN_PATCH, archive

RARE = 20  # a heavy kind is so much rarer in the light mix
SHARES_OF_MIX = 100

LIMITS = pb.Limits(
    cpu_time_seconds=2.0,
    wall_time_seconds=5.0,
    memory_bytes=96 << 20,
    processes=16,
    disk_bytes=8 << 20,
    file_size_bytes=8 << 20,
    output_bytes=1 << 20,
)
SHORT = {"cpu_time_seconds": 0.15, "wall_time_seconds": 0.5}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of completion: how many of a hundred are of it, and what becomes of it.

    Args:
        share: how many of a hundred.
        source: the completion, or the program of an Execute call.
        verdict: what becomes of it: the name of a verdict, or `execution_end` of an Execute call.
        language: what it is written in.
        comment: begins a comment in its language; with "", nothing is added to the completion.
        needs: the host's program without which the kind is left out.
        short: whether its limits of time are short.
        heavy: whether it takes ten times the CPU of others, or more: a container is replaced after
            it, or many executions confirm it.
        tests: adds the tests to a request; without it, the program is sent by Execute.
    """

    share: int
    source: str
    verdict: str
    language: str = "python"
    comment: str = "#"
    needs: str = "python3"
    short: bool = False
    heavy: bool = False
    tests: Callable[[pb.ScoreRequest], None] | None = None


def _stdio(request: pb.ScoreRequest) -> None:
    request.stdio.cases.add(stdin=b"2\n", expected_stdout=b"3\n")


def _function(request: pb.ScoreRequest) -> None:
    request.function.entry_point = "f"
    request.function.asserts.extend(["assert f(1) == 2", "assert f(2) == 3"])


def _objects(request: pb.ScoreRequest) -> None:
    request.function.entry_point = "Tally"
    request.function.asserts.append("t = Tally(); t.add(2); t.add(3); assert t.total() == 5")


def _calls(request: pb.ScoreRequest) -> None:
    request.call.entry_point = "f"
    request.call.cases.add(args_json="[1]", expected_json="2")
    request.call.cases.add(args_json="[2]", expected_json="3")


def _file(request: pb.ScoreRequest) -> None:
    request.unit.framework = pb.FRAMEWORK_UNITTEST
    text = "import unittest\nfrom solution import f\n\nclass TestF(unittest.TestCase):\n"
    text += "    def test_f(self): self.assertEqual([f(1), f(2)], [2, 3])\n"
    request.unit.files["test_f.py"] = text.encode()


def _repository(request: pb.ScoreRequest) -> None:
    given = request.repository
    given.archive = ARCHIVE
    given.text_test_files["tests/test_cart.py"] = CART_TESTS
    given.text_test_files["tests/number.txt"] = request.id
    given.fail_to_pass.append("tests/test_cart.py::Carts::test_total")
    given.framework = pb.FRAMEWORK_UNITTEST
    given.import_paths.append("src")


ARCHIVE = archive({f"src/{path}": text for path, text in BASE.items() if "shop" in path})
CART_TESTS = """import unittest
from shop.cart import total


class Carts(unittest.TestCase):
    def test_total(self): self.assertEqual(total([(3, 2)]), 6)
"""
PATCH = GOLDEN_PATCH.replace("shop/cart.py", "src/shop/cart.py")
CPP = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n + 1; }"
SCRIPT = "console.log(Number(require('fs').readFileSync(0, 'utf8')) + 1)"
ORPHANS = """
import os
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        os.execv('/usr/bin/sleep', ['sleep', '60'])
print(3)
"""
FORKS = "import os\nwhile True: os.fork()"
FILES = "while True: open(str(id(object())) + 'x', 'ab').write(bytes(1 << 20))"
FAULT = "import ctypes; ctypes.string_at(0)"
MEMORY = "x = bytearray(200 << 20)"
OUTPUT = "while True: print('x' * 999)"
ASLEEP = "import time; time.sleep(60)"
ATTACK = "import ctypes; ctypes.CDLL(None).unshare(0x10000000)"
RIGHT, WRONG = "def f(x): return x + 1", "def f(x): return x"
LEFT = "import os\ndef f(x): os._exit(0)"
TALLY = """
class Tally:
    def __init__(self): self.sum = 0
    def add(self, n): self.sum += n
    def total(self): return self.sum
"""
KINDS = {
    "right": Kind(share=14, source="print(int(input()) + 1)", verdict="PASSED", tests=_stdio),
    "wrong": Kind(share=6, source="print(4)", verdict="FAILED", tests=_stdio),
    "exit": Kind(share=4, source="import os; os._exit(3)", verdict="RUNTIME_ERROR", tests=_stdio),
    "fault": Kind(share=2, source=FAULT, verdict="RUNTIME_ERROR", tests=_stdio),
    "orphans": Kind(share=4, source=ORPHANS, verdict="PASSED", tests=_stdio),
    "memory": Kind(
        share=2, source=MEMORY, verdict="MEMORY_LIMIT_EXCEEDED", heavy=True, tests=_stdio
    ),
    "forks": Kind(share=2, source=FORKS, verdict="RUNTIME_ERROR", heavy=True, tests=_stdio),
    "output": Kind(
        share=2, source=OUTPUT, verdict="OUTPUT_LIMIT_EXCEEDED", heavy=True, tests=_stdio
    ),
    "files": Kind(share=2, source=FILES, verdict="OUTPUT_LIMIT_EXCEEDED", heavy=True, tests=_stdio),
    "busy": Kind(
        share=2,
        source="while True: pass",
        verdict="TIME_LIMIT_EXCEEDED",
        short=True,
        heavy=True,
        tests=_stdio,
    ),
    "asleep": Kind(
        share=2,
        source=ASLEEP,
        verdict="TIME_LIMIT_EXCEEDED",
        short=True,
        heavy=True,
        tests=_stdio,
    ),
    "attack": Kind(share=2, source=ATTACK, verdict="SECURITY_VIOLATION", heavy=True, tests=_stdio),
    "right function": Kind(share=18, source=RIGHT, verdict="PASSED", tests=_function),
    "wrong function": Kind(share=6, source=WRONG, verdict="FAILED", tests=_function),
    "left function": Kind(share=4, source=LEFT, verdict="RUNTIME_ERROR", tests=_function),
    "broken function": Kind(
        share=4, source="def f(x: return x", verdict="COMPILE_ERROR", tests=_function
    ),
    "right object": Kind(share=4, source=TALLY, verdict="PASSED", heavy=True, tests=_objects),
    "wrong object": Kind(
        share=2, source=TALLY.replace("+=", "="), verdict="FAILED", tests=_objects
    ),
    "right calls": Kind(share=6, source=RIGHT, verdict="PASSED", tests=_calls),
    "wrong calls": Kind(share=2, source=WRONG, verdict="FAILED", tests=_calls),
    "right file": Kind(share=1, source=RIGHT, verdict="PASSED", heavy=True, tests=_file),
    "wrong file": Kind(share=1, source=WRONG, verdict="FAILED", tests=_file),
    "right C++": Kind(
        share=1,
        source=CPP,
        verdict="PASSED",
        language="c++",
        comment="//",
        needs="g++",
        heavy=True,
        tests=_stdio,
    ),
    "wrong C++": Kind(
        share=1,
        source=CPP.replace("+ 1", "+ 2"),
        verdict="FAILED",
        language="c++",
        comment="//",
        needs="g++",
        heavy=True,
        tests=_stdio,
    ),
    "right JavaScript": Kind(
        share=1,
        source=SCRIPT,
        verdict="PASSED",
        language="javascript",
        comment="//",
        needs="node",
        heavy=True,
        tests=_stdio,
    ),
    "right patch": Kind(
        share=1, source=PATCH, verdict="PASSED", comment="", heavy=True, tests=_repository
    ),
    "wrong patch": Kind(
        share=1,
        source=PATCH.replace("price * quantity", "price + quantity"),
        verdict="FAILED",
        comment="",
        heavy=True,
        tests=_repository,
    ),
    "executed": Kind(share=2, source="print(int(input()) + 1)", verdict="EXITED 0 b'3\\n'"),
    "executed exit": Kind(share=1, source="import os; os._exit(3)", verdict="EXITED 3 b''"),
}


def request(name: str, number: int) -> pb.ScoreRequest:
    """Builds a request; its number makes it unlike all others, so that nothing is shared."""
    kind = KINDS[name]
    assert kind.tests is not None
    made = pb.ScoreRequest(
        id=f"{name}-{number}",
        language=kind.language,
        completion=_numbered(kind, number),
        extraction=pb.EXTRACTION_NONE,
        limits=_limits(kind),
    )
    kind.tests(made)
    return made


def execution(name: str, number: int) -> pb.ExecuteRequest:
    """Builds an Execute call, whose program reads a 2."""
    kind = KINDS[name]
    return pb.ExecuteRequest(
        id=f"{name}-{number}",
        language=kind.language,
        source=_numbered(kind, number),
        stdin=b"2\n",
        limits=_limits(kind),
    )


def execution_end(response: pb.ExecuteResponse) -> str:
    """Returns how a program ended, its exit code and its standard output."""
    ended = response.termination
    kind = pb.TerminationKind.Name(ended.kind).removeprefix("TERMINATION_KIND_")
    return f"{kind} {ended.exit_code} {response.stdout.data!r}"


def _numbered(kind: Kind, number: int) -> str:
    return f"{kind.source}\n{kind.comment} {number}\n" if kind.comment else kind.source


def _limits(kind: Kind) -> pb.Limits:
    if kind.language != "python":
        return pb.Limits()  # the language's own: others' runtimes need more
    made = pb.Limits()
    made.CopyFrom(LIMITS)
    if kind.short:
        made.MergeFrom(pb.Limits(**SHORT))
    return made


def names(count: int, *, light: bool = False) -> list[str]:
    """Mixes kinds by their shares, in an order of this run's own.

    Args:
        count: how many names.
        light: whether heavy kinds are `RARE` times rarer.
    """
    assert sum(kind.share for kind in KINDS.values()) == SHARES_OF_MIX
    shares: list[str] = []
    for name, kind in KINDS.items():
        if shutil.which(kind.needs) is None:
            continue
        shares += [name] * kind.share * (RARE if light and not kind.heavy else 1)
    random.shuffle(shares)
    mixed = [shares[number % len(shares)] for number in range(count)]
    random.shuffle(mixed)
    return mixed
