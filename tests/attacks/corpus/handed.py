"""What tests hand to a solution, functions and objects of theirs, as a way into the tests.

`reach` asks an object for an attribute in the ordinary way, and where the object is only a stand-in
for one of the judge's, through the stand-in's own means.
"""

from __future__ import annotations

from reward_server.domain import FunctionTests
from tests.attacks.attack import Attack, code
from tests.attacks.naive import Grader
from tests.attacks.problems import INPUTS, SECRET, Problem, secret

REACH = code("""
    def reach(thing, name):
        try:
            return getattr(thing, name)
        except AttributeError:
            return thing._runner_ask('get', name)
""")
SEARCH = code("""
    import re
    def search(make_path, name):
        places = ['main.py', '/proc/self/cmdline', '/proc/self/environ']
        places += [f'/proc/self/fd/{number}' for number in reversed(range(64))]
        for place in places:
            try:
                text = read(make_path(place))
            except Exception:
                continue
            found = re.search(rf'{name}\\W+== (\\d+)', str(text))
            if found:
                return int(found[1])
""")


def _handed(name: str, argument: str, solution: str, *, before: str = "") -> Problem:
    """A problem whose tests hand over `argument`, an expression in terms of {x}."""
    table = f"CASES = {[(x, secret(2 * x)) for x in INPUTS]}\n"
    lines = "".join(
        f"    assert candidate({argument.format(x=x)}) == {secret(2 * x)}\n" for x in INPUTS
    )
    return Problem(
        name=name,
        tests=FunctionTests(
            entry_point="solve", test_code=f"{table}{before}def check(candidate):\n{lines}"
        ),
        solution=f"{SECRET}{solution}",
    )


FUNCTION = _handed(
    "handed a function",
    "double, {x}",
    "def solve(double, x):\n    return secret(double(x))\n",
    before="def double(number):\n    return 2 * number\n",
)
ITERATOR = _handed(
    "handed an iterator",
    "(number for number in ({x}, {x}))",
    "def solve(numbers):\n    return secret(sum(numbers))\n",
)
METHOD = _handed(
    "handed a method",
    "Doubler().double, {x}",
    "def solve(double, x):\n    return secret(double(x))\n",
    before=code("""
        class Doubler:
            def __init__(self):
                self.answers = dict(CASES)
            def double(self, number):
                return 2 * number
    """),
)
OBJECT = _handed(
    "handed an object",
    "Box({x})",
    "def solve(box):\n    return secret(2 * box.value)\n",
    before=code("""
        class Box:
            def __init__(self, value):
                self.value = value
    """),
)
PATH = _handed(
    "handed a path",
    "Path('data/{x}')",
    "def solve(path):\n    return secret(2 * int(str(path)[5:]))\n",
    before="from pathlib import Path\n",
)
PATH_CLASS = _handed(
    "handed a class of paths",
    "Path, {x}",
    "def solve(path, x):\n    return secret(2 * x)\n",
    before="from pathlib import Path\n",
)
OPENER = _handed("handed open()", "open, {x}", "def solve(opener, x):\n    return secret(2 * x)\n")
READER = _handed(
    "handed a function that reads files",
    "codecs.open, {x}",
    "def solve(reader, x):\n    return secret(2 * x)\n",
    before="import codecs\n",
)
GETTER = _handed(
    "handed getattr()",
    "getattr, double, {x}",
    "def solve(getter, double, x):\n    return secret(double(x))\n",
    before="def double(number):\n    return 2 * number\n",
)
FORMATTER = _handed(
    "handed str.format()",
    "str.format, double, {x}",
    "def solve(formatter, double, x):\n    return secret(double(x))\n",
    before="def double(number):\n    return 2 * number\n",
)


def _attack(
    name: str, problem: Problem, completion: str, grader: Grader = Grader.IN_PROCESS
) -> Attack:
    return Attack(name=name, problem=problem, completion=completion, beats=(grader,))


ATTACKS = (
    _attack(
        "the globals of a function that the tests hand over",
        FUNCTION,
        REACH
        + code("""
            def solve(double, x):
                return dict(reach(double, '__globals__')['CASES'])[x]
        """),
    ),
    _attack(
        "the globals behind an exception of the tests' function",
        FUNCTION,
        code("""
            def solve(double, x):
                try:
                    double(None)
                except TypeError as error:
                    trace = error.__traceback__
                    while trace.tb_next:
                        trace = trace.tb_next
                    return dict(trace.tb_frame.f_globals['CASES'])[x]
        """),
    ),
    _attack(
        "the frame of an iterator that the tests hand over",
        ITERATOR,
        REACH
        + code("""
            def solve(numbers):
                table = reach(numbers, 'gi_frame').f_globals['CASES']
                return dict(table)[next(numbers)]
        """),
    ),
    _attack(
        "the object behind a method that the tests hand over",
        METHOD,
        REACH
        + code("""
            def solve(double, x):
                return reach(double, '__self__').answers[x]
        """),
    ),
    _attack(
        "the class behind an object that the tests hand over",
        OBJECT,
        REACH
        + code("""
            def solve(box):
                return dict(reach(reach(box, '__init__'), '__globals__')['CASES'])[box.value]
        """),
    ),
    _attack(
        "a comparison of the tests' object that agrees",
        OBJECT,
        code("""
            class Always:
                def __eq__(self, other): return True
            def solve(box):
                type(box).__eq__ = lambda self, other: True
                return box if type(box).__name__ == 'Box' else Always()
        """),
    ),
    _attack(
        "files through a path that the tests hand over",
        PATH,
        SEARCH
        + code("""
            def read(path):
                return path.read_bytes()
            def solve(path):
                return search(path.cwd().joinpath, str(path)[5:])
        """),
        Grader.EXIT_STATUS,
    ),
    _attack(
        "files through a class of paths that the tests hand over",
        PATH_CLASS,
        SEARCH
        + code("""
            def read(path):
                return path.read_bytes()
            def solve(path, x):
                return search(path, x)
        """),
        Grader.EXIT_STATUS,
    ),
    _attack(
        "files through the open() that the tests hand over",
        OPENER,
        SEARCH
        + code("""
            def read(file):
                return list(file)
            def solve(opener, x):
                return search(lambda place: opener(place, 'rb'), x)
        """),
        Grader.EXIT_STATUS,
    ),
    _attack(
        "files through a function that the tests hand over",
        READER,
        SEARCH
        + code("""
            def read(file):
                return list(file)
            def solve(reader, x):
                return search(lambda place: reader(place, 'r', 'latin-1'), x)
        """),
        Grader.EXIT_STATUS,
    ),
    _attack(
        "attributes through the getattr() that the tests hand over",
        GETTER,
        code("""
            def solve(getter, double, x):
                return dict(getter(double, '__globals__')['CASES'])[x]
        """),
    ),
    _attack(
        "attributes through the str.format() that the tests hand over",
        FORMATTER,
        code("""
            import ast
            def solve(formatter, double, x):
                return dict(ast.literal_eval(formatter('{0.__globals__[CASES]}', double)))[x]
        """),
    ),
)
