"""Messages to the judge that its shim would not send, in the protocol's own form.

They are written by the shim that serves the solution, which the solution can find and change.
`test_protocol_attacks` forges values, changes and exceptions.
"""

from __future__ import annotations

from tests.attacks import problems
from tests.attacks.attack import code
from tests.attacks.corpus.sieges import Siege

SHIM = code("""
    import gc, os, sys, time
    def channel():
        return next(each for each in gc.get_objects() if type(each).__name__ == 'Frames')
    def asked():
        frame = sys._getframe()
        while not (frame.f_code.co_name == 'run' and 'frame' in frame.f_locals):
            frame = frame.f_back
        return frame.f_locals['frame'][:8]
    def send(text, number=None):
        number = asked() if number is None else number
        channel().send(number + (text if type(text) is bytes else text.encode()))
    def raw(data):
        channel()._channel.sendall(data)
""")
RIGHT = '["return", 0, [], [], false]'


def _says(name: str, message: str) -> Siege:
    """Sends `message`, a text, instead of an answer, and waits for what comes of it."""
    completion = SHIM + f"def solve(*things):\n    send({message!r})\n    time.sleep(60)\n"
    return Siege(name=name, problem=problems.EQUAL, completion=completion)


def _does(name: str, body: str) -> Siege:
    lines = "".join(f"    {line}\n" for line in code(body).splitlines())
    return Siege(
        name=name, problem=problems.EQUAL, completion=f"{SHIM}def solve(*things):\n{lines}"
    )


def _loads(name: str, body: str) -> Siege:
    completion = SHIM + code(body) + "\ndef solve(*things):\n    return 0\n"
    return Siege(name=name, problem=problems.EQUAL, completion=completion)


ANSWERS = (
    _says("no answer at all", ""),
    _says("an answer that is no list", "7"),
    _says("a verdict", '["verdict", "PASSED"]'),
    _says("a word that only questions ahead get", '["behind"]'),
    _says("an answer with too many parts", '["return", 0, [], [], false, 0]'),
    _says("half an answer", '["return", 0, ['),
    _says("a size that is endless", '["large", "' + "x" * 100_000 + '"]'),
    _does("an answer in no encoding", "send(bytes(range(128, 256)))\ntime.sleep(60)"),
    _does("an answer to another question", f"send('{RIGHT}', bytes(8))\ntime.sleep(60)"),
    _does("an answer twice", f"send('{RIGHT}')\nreturn 0"),
    _does(
        "answers to questions not asked yet",
        f"""
        now = int.from_bytes(asked(), 'big')
        for later in range(1, 200):
            send('{RIGHT}', (now + later).to_bytes(8, 'big'))
        time.sleep(60)
    """,
    ),
    _does("a frame of no length", "raw(bytes(4))\ntime.sleep(60)"),
    _does("a frame of the greatest length", "raw(b'\\xff' * 4096)\ntime.sleep(60)"),
    _does(
        "a frame that comes byte by byte",
        f"""
        for byte in (36).to_bytes(4, 'big') + asked() + b'{RIGHT}':
            raw(bytes([byte]))
            time.sleep(0.001)
        time.sleep(60)
    """,
    ),
)

LOADING = (
    _loads("a second word of readiness", "channel().send(b'[\"ready\"]')"),
    _loads("two words of loading", "channel().send(b'[\"loaded\"]')"),
    _loads("a refusal of an unknown kind", 'channel().send(b\'["unloaded", "task", "x"]\')'),
    _loads("a refusal that is no refusal", "channel().send(b'[\"unloaded\", 7, {}]')"),
    _loads(
        "a refusal with an endless message",
        "channel().send(b'[\"unloaded\", \"raise\", \"' + b'x' * 10_000_000 + b'\"]')",
    ),
    _loads("a frame of nothing", "channel().send(b'')"),
    _loads("a frame of the greatest length while the module loads", "raw(bytes([255]) * 8)"),
    _loads(
        "answers before the first question",
        f"""
        for number in range(100):
            send('{RIGHT}', number.to_bytes(8, 'big'))
    """,
    ),
    _loads(
        "a shim that answers for ever",
        f"""
        def answer(self, question):
            while True:
                send('{RIGHT}')
        classes = [each for each in gc.get_objects() if type(each) is type]
        next(each for each in classes if each.__name__ == 'Answers')._answer = answer
    """,
    ),
)

FORGERIES = (ANSWERS, LOADING)
