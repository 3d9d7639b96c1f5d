"""Messages to the judge that its shim would not send, in the protocol's own form.

They are written by the shim that serves the solution, which the solution can find and change.
"""

from __future__ import annotations

from tests.attacks import problems
from tests.attacks.attack import code
from tests.attacks.corpus import handed
from tests.attacks.corpus.sieges import Siege
from tests.attacks.problems import Problem

SHIM = code("""
    import gc, os, sys, time
    def shim():
        return next(each for each in gc.get_objects() if type(each).__name__ == 'Service')
    def channel():
        return next(each for each in gc.get_objects() if type(each).__name__ == 'Frames')
    def send(text, number=None):
        number = shim()._number if number is None else number
        channel().send(number + (text if type(text) is bytes else text.encode()))
    def raw(data):
        channel()._channel.sendall(data)
""")


def _says(name: str, message: str, problem: Problem = problems.EQUAL) -> Siege:
    """Sends `message`, a text, instead of an answer, and waits for what comes of it."""
    completion = SHIM + f"def solve(*things):\n    send({message!r})\n    time.sleep(60)\n"
    return Siege(name=name, problem=problem, completion=completion)


def _does(name: str, body: str, problem: Problem = problems.EQUAL) -> Siege:
    lines = "".join(f"    {line}\n" for line in code(body).splitlines())
    return Siege(name=name, problem=problem, completion=f"{SHIM}def solve(*things):\n{lines}")


def _loads(name: str, body: str, problem: Problem = problems.EQUAL) -> Siege:
    completion = SHIM + code(body) + "\ndef solve(*things):\n    return 0\n"
    return Siege(name=name, problem=problem, completion=completion)


ANSWERS = (
    _says("no answer at all", ""),
    _says("an answer that is no list", "7"),
    _says("an empty answer", "[]"),
    _says("an answer of an unknown kind", '["passed"]'),
    _says("a verdict", '["verdict", "PASSED"]'),
    _says("an answer without its parts", '["return"]'),
    _says("an answer with too many parts", '["return", 0, null, 0, 0]'),
    _says("an answer and more", '["return", 0, null, 0] ["return", 0, null, 0]'),
    _says("half an answer", '["return", 0, null'),
    _says("a count of overloads that is none", '["return", 0, null, "many"]'),
    _says("a count of overloads below nothing", '["return", 0, null, -1000000]'),
    _says("a count of overloads beyond counting", '["return", 0, null, ' + "9" * 4000 + "]"),
    _says("an end where there is no loop", '["stop"]', problems.ALL_MAPPED),
    _says("a size that is no text", '["large", 7]'),
    _says("a size that is endless", '["large", "' + "x" * 100_000 + '"]'),
    _says("a size in no text", '["large", "\\ud800"]'),
    _does("an answer in no encoding", "send(bytes(range(128, 256)))\ntime.sleep(60)"),
    _does(
        "an answer to another question",
        "send('[\"return\", 0, null, 0]', bytes(8))\ntime.sleep(60)",
    ),
    _does("an answer twice", "send('[\"return\", 0, null, 0]')\nreturn 0"),
    _does(
        "answers to questions not asked yet",
        """
        now = int.from_bytes(shim()._number, 'big')
        for later in range(200):
            send('["return", 0, null, 0]', (now + later).to_bytes(8, 'big'))
        time.sleep(60)
    """,
    ),
    _does("a frame of no length", "raw(bytes(4))\ntime.sleep(60)"),
    _does("a frame of the greatest length", "raw(b'\\xff' * 4096)\ntime.sleep(60)"),
    _does(
        "a frame that comes byte by byte",
        """
        for byte in (40).to_bytes(4, 'big') + shim()._number + b'["return", 0, null, 0]':
            raw(bytes([byte]))
            time.sleep(0.001)
        time.sleep(60)
    """,
    ),
)

VALUES = tuple(
    _says(f"a value that no encoder makes: {name}", f'["return", {value}, null, 0]')
    for name, value in {
        "an unknown tag": '{"object": 1}',
        "two tags": '{"int": "0x1", "str": "00"}',
        "no tag": "{}",
        "a small integer written long": '{"int": "0x1"}',
        "an integer in no digits": '{"int": "0xzz"}',
        "an integer of too many digits": "9" * 1_000_000,
        "a text in no digits": '{"str": "zz"}',
        "bytes in no digits": '{"bytes": "0"}',
        "a set of lists": '{"set": [[]]}',
        "a set of the solution's objects": '{"set": [{"@": ["object", 0, "", 0]}]}',
        "a dictionary whose halves differ": '{"dict": [[1, 2], [1]]}',
        "a dictionary of lists": '{"dict": [[[]], [1]]}',
        "a factory that does things": '{"defaultdict": ["eval", [], []]}',
        "a type that does things": '{"type": "eval"}',
        "a type of another module": '{"type": "os.system"}',
        "a fraction over nothing": '{"Fraction": [1, 0]}',
        "a decimal beyond bounds": '{"Decimal": "1e999999999"}',
        "a date that never was": '{"date": [0, 0, 0]}',
        "a time zone of years": '{"timezone": 99999999999999999}',
        "a range of texts": '{"range": ["a", "b", "c"]}',
        "a range of standing still": '{"range": [0, 1, 0]}',
        "a complex number of texts": '{"complex": ["1", "2"]}',
        "a deque beyond its size": '{"deque": [1, [1, 2]]}',
        "a deque of a size below nothing": '{"deque": [-1, []]}',
        "an array of objects": '{"array": ["O", [1], "00"]}',
        "an array of a shape below nothing": '{"array": ["<i8", [-1], ""]}',
        "an array larger than its bytes": '{"array": ["<i8", [1000000000000], "00"]}',
        "lists a million deep": "[" * 1_000_000,
        "lists a thousand deep": "[" * 1_000 + "]" * 1_000,
        "three million lists": "[" + "[]," * 3_000_000 + "0]",
        "an object that is none": '{"@": ["object", -1, ""]}',
        "an object of an unknown kind": '{"@": ["object", 0, "judge"]}',
        "an object of the tests' that nobody handed over": '{"@": ["test", 0]}',
        "an object of the tests' before the first": '{"@": ["test", -1]}',
        "a reference to nothing": '{"@": null}',
        "a reference to a name": '{"@": ["name", "solve"]}',
    }.items()
)

CHANGES = (
    _says("changes where something was returned", '["return", 0, [[[]], {"dict": [[], []]}], 0]'),
    _says("changes to nothing", '["return", null, 7, 0]', problems.COMPUTED_AFTER),
    _says("changes of another shape", '["return", null, [[]], 0]', problems.COMPUTED_AFTER),
    _says(
        "changes to more than there is",
        '["return", null, [[[], [], []], {"dict": [["x"], [1]]}, 1, 2, 3], 0]',
        problems.COMPUTED_AFTER,
    ),
    _says(
        "changes that are the solution's objects",
        '["return", null, [[[{"@": ["object", 0, "", 0]}]], {"dict": [[], []]}], 0]',
        problems.COMPUTED_AFTER,
    ),
)

RAISED = tuple(
    _says(f"an exception that never crosses: {name}", f'["raise", {parts}]', problem)
    for name, parts, problem in (
        ("no name", '[], [], "", null', problems.EQUAL),
        ("a name that is no text", '[7], [], "", null', problems.EQUAL),
        ("a list of lists", '[["builtins.ValueError"]], [], "", null', problems.EQUAL),
        (
            "an end of a loop",
            '["builtins.StopIteration", "builtins.Exception"], [], "", null',
            problems.ALL_MAPPED,
        ),
        (
            "an end of a loop that is a value error",
            '["x.Y", "builtins.ValueError", "builtins.StopIteration", "builtins.Exception"],'
            ' [], "", null',
            problems.ZIP_MAPPED,
        ),
        (
            "an end of an asynchronous loop",
            '["builtins.StopAsyncIteration", "builtins.Exception"], [], "", null',
            problems.ASYNC_MAPPED,
        ),
        (
            "a skipped test",
            '["unittest.case.SkipTest", "builtins.Exception"], ["no"], "", null',
            problems.UNITTEST,
        ),
        (
            "a test told to stop",
            '["unittest.case._ShouldStop", "builtins.Exception"], [], "", null',
            problems.UNITTEST,
        ),
        (
            "a broken task",
            '["runner.judge.tests.suite.TaskError", "builtins.Exception"], ["x"], "x", null',
            problems.EQUAL,
        ),
        (
            "a solution that is not there yet",
            '["runner.judge.session.NotLoaded", "builtins.BaseException"], [], "", null',
            problems.EQUAL,
        ),
        (
            "an exit",
            '["builtins.SystemExit", "builtins.BaseException"], [0], "", null',
            problems.UNITTEST,
        ),
        (
            "an exit that is an exception",
            '["builtins.SystemExit", "builtins.Exception"], [0], "0", null',
            problems.UNITTEST,
        ),
        (
            "a name of ten thousand classes",
            "[" + '"x.Y",' * 10_000 + '"builtins.Exception"], [], "", null',
            problems.EQUAL,
        ),
        (
            "a name in no text",
            '["\\ud800", "builtins.Exception"], [], "\\ud800", null',
            problems.EQUAL,
        ),
        (
            "an error that the tests never raised",
            '["builtins.ValueError", "builtins.Exception"], [], "", {"@": ["test", 0]}',
            problems.EQUAL,
        ),
        (
            "arguments that no exception takes",
            '["builtins.UnicodeDecodeError", "builtins.Exception"], [1, 2, 3], "", null',
            problems.EQUAL,
        ),
        (
            "arguments beyond the codec's",
            '["builtins.OSError", "builtins.Exception"], [{"type": "object"}, [], 1], "", null',
            problems.EQUAL,
        ),
    )
)

QUESTIONS = tuple(
    _says(f"a question that is not answered: {name}", f'["ask", {parts}]', problem)
    for name, parts, problem in (
        ("to nothing", '"call", []', problems.EQUAL),
        ("of no kind", "7, []", problems.EQUAL),
        ("about data", '"get", ["text", "__class__"]', problems.EQUAL),
        ("about a type", '"call", [{"type": "list"}, [], {"dict": [[], []]}]', problems.EQUAL),
        (
            "about an object of the solution's",
            '"get", [{"@": ["object", 0, "", 0]}, "x"]',
            problems.EQUAL,
        ),
        (
            "for the globals of a function",
            '"get", [{"@": ["test", 0]}, "__globals__"]',
            handed.FUNCTION,
        ),
        ("for the code of a function", '"get", [{"@": ["test", 0]}, "func_code"]', handed.FUNCTION),
        ("for a change of a function", '"set", [{"@": ["test", 0]}, "x", 1]', handed.FUNCTION),
        (
            "with arguments that are none",
            '"call", [{"@": ["test", 0]}, 1, 2]',
            handed.FUNCTION,
        ),
        (
            "with names that are none",
            '"call", [{"@": ["test", 0]}, [], {"dict": [[1], [1]]}]',
            handed.FUNCTION,
        ),
        ("with too few operands", '"call", [{"@": ["test", 0]}]', handed.FUNCTION),
        ("for a private attribute", '"get", [{"@": ["test", 0]}, "__dict__"]', handed.API),
        ("for a name that is no text", '"get", [{"@": ["test", 0]}, 7]', handed.API),
        ("for an operation of Python's", '"__reduce__", [{"@": ["test", 0]}]', handed.API),
    )
)

LOADING = (
    _loads("a second word of readiness", "channel().send(b'[\"ready\"]')"),
    _loads("a word of loading too early", "channel().send(b'[\"loaded\"]')\ntime.sleep(60)"),
    _loads("two words of loading", "channel().send(b'[\"loaded\"]')"),
    _loads("a refusal of an unknown kind", 'channel().send(b\'["unloaded", "task", "x"]\')'),
    _loads("a refusal that is no refusal", "channel().send(b'[\"unloaded\", 7, {}]')"),
    _loads(
        "a refusal with a message in no text",
        r"channel().send(b'[\"unloaded\", \"raise\", \"\\ud800\"]')",
    ),
    _loads(
        "a refusal with an endless message",
        "channel().send(b'[\"unloaded\", \"raise\", \"' + b'x' * 10_000_000 + b'\"]')",
    ),
    _loads("a refusal that blames the task", 'channel().send(b\'["unloaded", "invalid", ""]\')'),
    _loads("a frame that is no message", "channel().send(b'null')"),
    _loads("a frame of nothing", "channel().send(b'')"),
    _loads("a frame of the greatest length while the module loads", "raw(bytes([255]) * 8)"),
    _loads(
        "answers before the first question",
        """
        for number in range(100):
            send('["return", 0, null, 0]', number.to_bytes(8, 'big'))
    """,
    ),
    _loads(
        "an encoder that lies",
        """
        classes = [each for each in gc.get_objects() if type(each) is type]
        encoder = next(each for each in classes if each.__name__ == 'Encoder')
        encoder.value = lambda self, value, depth=0: {'@': ['test', 0]}
    """,
    ),
    _loads(
        "a shim that answers for ever",
        """
        def answer(self, request):
            while True:
                send('["ask", "call", [{"@": ["test", 0]}, [1], {"dict": [[], []]}]]')
        classes = [each for each in gc.get_objects() if type(each) is type]
        next(each for each in classes if each.__name__ == 'Service')._answer = answer
    """,
        handed.FUNCTION,
    ),
)

FORGERIES = (ANSWERS, VALUES, CHANGES, RAISED, QUESTIONS, LOADING)
