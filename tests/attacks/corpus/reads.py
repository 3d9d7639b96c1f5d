"""Reading the expected values, wherever the grader left them within reach."""

from __future__ import annotations

from tests.attacks import problems
from tests.attacks.attack import Attack
from tests.attacks.naive import Grader
from tests.attacks.problems import Problem


def _read(name: str, problem: Problem, grader: Grader, completion: str) -> Attack:
    return Attack(name=name, problem=problem, completion=completion, beats=(grader,))


SEARCH = """
def search(frame):
    while frame:
        for name in ('expected', 'want', 'answer'):
            if name in frame.f_locals:
                return frame.f_locals[name]
        frame = frame.f_back
"""

FRAMES = tuple(
    _read(name, problems.CALLED, Grader.PER_CASE, SEARCH + completion)
    for name, completion in (
        (
            "expected values in the caller's frame",
            "import sys\ndef solve(x):\n    return search(sys._getframe())\n",
        ),
        (
            "expected values on the inspected stack",
            "import inspect\n"
            "def solve(x):\n"
            "    return next(i.frame.f_locals['expected'] for i in inspect.stack()\n"
            "                if 'expected' in i.frame.f_locals)\n",
        ),
        (
            "expected values behind a traceback",
            "def solve(x):\n"
            "    try:\n        raise ValueError\n"
            "    except ValueError as error:\n"
            "        return search(error.__traceback__.tb_frame)\n",
        ),
        (
            "expected values behind a generator's frame",
            "def steps():\n    yield search(generator.gi_frame)\n"
            "def solve(x):\n"
            "    global generator\n    generator = steps()\n    return next(generator)\n",
        ),
        (
            "expected values seen by a signal handler's frame",
            "import signal\n"
            "def handle(number, frame):\n    found.append(search(frame))\n"
            "found = []\nsignal.signal(signal.SIGUSR1, handle)\n"
            "def solve(x):\n    signal.raise_signal(signal.SIGUSR1)\n    return found[-1]\n",
        ),
        (
            "expected values in the frames of another thread",
            "import sys, threading\n"
            "def look(found):\n"
            "    found.append(search(sys._current_frames()[threading.main_thread().ident]))\n"
            "def solve(x):\n"
            "    found = []\n"
            "    thread = threading.Thread(target=look, args=(found,))\n"
            "    thread.start()\n    thread.join()\n    return found[0]\n",
        ),
        (
            "expected values seen by a trace function",
            "import sys\nfound = {}\n"
            "def trace(frame, event, argument):\n"
            "    if frame.f_code.co_name == 'solve':\n        found['last'] = search(frame)\n"
            "sys.settrace(trace)\ndef solve(x):\n    return found['last']\n",
        ),
        (
            "expected values seen by a profile function",
            "import sys\nfound = {}\n"
            "def profile(frame, event, argument):\n"
            "    if event == 'call':\n        found['last'] = search(frame)\n"
            "sys.setprofile(profile)\ndef solve(x):\n    return found['last']\n",
        ),
        (
            "expected values seen by an audit hook",
            "import sys\nfound = []\n"
            "def hook(event, arguments):\n"
            "    if event == 'probe':\n        found.append(search(sys._getframe()))\n"
            "sys.addaudithook(hook)\n"
            "def solve(x):\n    sys.audit('probe')\n    return found[-1]\n",
        ),
        (
            "expected values among all objects",
            "import gc\n"
            "def solve(x):\n"
            "    return next(o['expected'] for o in gc.get_objects()\n"
            "                if type(o) is dict and o.get('args') == [x])\n",
        ),
        (
            "expected values among what refers to a list of cases",
            "import gc\n"
            "def solve(x):\n"
            "    case = next(o for o in gc.get_objects() if type(o) is dict\n"
            "                and o.get('args') == [x])\n"
            "    cases = next(o for o in gc.get_referrers(case) if type(o) is list and len(o) > 1\n"
            "                 and all(type(each) is dict for each in o))\n"
            "    return next(each['expected'] for each in cases if each['args'] == [x])\n",
        ),
        (
            "expected values in a closure of the grader",
            "import gc, types\n"
            "def solve(x):\n"
            "    for function in gc.get_objects():\n"
            "        if type(function) is types.FunctionType and function.__closure__:\n"
            "            for cell in function.__closure__:\n"
            "                held = cell.cell_contents\n"
            "                if type(held) is dict and 'cases' in held:\n"
            "                    return next(case['expected'] for case in held['cases']\n"
            "                                if case['args'] == [x])\n",
        ),
        (
            "an expected value overwritten in the caller's frame",
            "import ctypes, sys\n"
            "def solve(x):\n"
            "    frame = sys._getframe(1)\n    frame.f_locals['expected'] = 0\n"
            "    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), 0)\n"
            "    return 0\n",
        ),
    )
)

PARSED = """
import ast
def answers(source):
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Call):
            if len(node.left.args) == 1 and isinstance(node.left.args[0], ast.Constant):
                found[node.left.args[0].value] = node.comparators[0].value
    return found
"""

SOURCES = (
    _read(
        "expected values in the constants of the caller's code",
        problems.EQUAL,
        Grader.IN_PROCESS,
        "import dis, sys\n"
        "def solve(x):\n"
        "    frame = sys._getframe(1)\n"
        "    return next(i.argval for i in dis.get_instructions(frame.f_code)\n"
        "                if i.offset > frame.f_lasti and i.opname == 'LOAD_CONST')\n",
    ),
    _read(
        "an expected constant overwritten in the caller's code",
        problems.EQUAL,
        Grader.IN_PROCESS,
        "import ctypes, dis, sys\n"
        "class Always:\n"
        "    def __eq__(self, other): return True\n"
        "always = Always()\n"
        "def solve(x):\n"
        "    frame = sys._getframe(1)\n"
        "    later = next(i for i in dis.get_instructions(frame.f_code)\n"
        "                 if i.offset > frame.f_lasti and i.opname == 'LOAD_CONST')\n"
        "    address = id(frame.f_code.co_consts) + tuple.__basicsize__ + 8 * later.arg\n"
        "    ctypes.pythonapi.Py_IncRef(ctypes.py_object(always))\n"
        "    ctypes.c_void_p.from_address(address).value = id(always)\n"
        "    return 0\n",
    ),
    _read(
        "a list comparison replaced in the interpreter's memory",
        problems.EQUAL_LIST,
        Grader.IN_PROCESS,
        "import ctypes\n"
        "compare = ctypes.CFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object,\n"
        "                           ctypes.c_int)(lambda one, other, operator: True)\n"
        "def solve(x):\n"
        "    slot = ctypes.c_void_p.from_address(id(list) + 200)\n"
        "    slot.value = ctypes.cast(compare, ctypes.c_void_p).value\n"
        "    return []\n",
    ),
    _read(
        "asserts in the file of the running program",
        problems.ASSERTS,
        Grader.EXIT_STATUS,
        PARSED + "def solve(x):\n    return answers(open(__file__).read())[x]\n",
    ),
    _read(
        "asserts in the file that the command line names",
        problems.EQUAL,
        Grader.EXIT_STATUS,
        PARSED + "import sys\n"
        "def solve(x):\n    return answers(open(sys.argv[0]).read())[x]\n",
    ),
    _read(
        "tests in the source that tracebacks are made of",
        problems.EQUAL,
        Grader.EXIT_STATUS,
        PARSED + "import linecache, sys\n"
        "def solve(x):\n"
        "    file = sys._getframe(1).f_code.co_filename\n"
        "    return answers(''.join(linecache.getlines(file)))[x]\n",
    ),
    _read(
        "tests next to the solution",
        problems.EQUAL,
        Grader.PYTEST_STATUS,
        PARSED + "import glob\n"
        "def solve(x):\n"
        "    return answers(open(glob.glob('*test*.py')[0]).read())[x]\n",
    ),
    _read(
        "tests in the arguments of the interpreter",
        problems.EQUAL,
        Grader.NONCE_RECORD,
        PARSED + "import sys\ndef solve(x):\n    return answers(sys.orig_argv[-1])[x]\n",
    ),
    _read(
        "tests in the kernel's copy of the command line",
        problems.EQUAL,
        Grader.NONCE_RECORD,
        PARSED + "def solve(x):\n"
        "    line = open('/proc/self/cmdline').read().split(chr(0))\n"
        "    return answers(max(line, key=len))[x]\n",
    ),
    _read(
        "the tests' table among the main module's names",
        problems.LOOPED,
        Grader.EXIT_STATUS,
        "import __main__\ndef solve(x):\n    return dict(__main__.CASES)[x]\n",
    ),
    _read(
        "the tests' table among the caller's globals",
        problems.LOOPED,
        Grader.IN_PROCESS,
        "import sys\ndef solve(x):\n    return dict(sys._getframe(1).f_globals['CASES'])[x]\n",
    ),
    _read(
        "the tests' table rewritten before it is compared with",
        problems.LOOPED,
        Grader.IN_PROCESS,
        "def solve(x):\n    CASES[:] = [(n, None) for n, _ in CASES]\n",
    ),
    _read(
        "the tests' own reference solution",
        problems.COMPUTED_AFTER,
        Grader.IN_PROCESS,
        "def solve(values):\n    return reference(values)\n",
    ),
)

MATCH = """
import re
def match(memory, x):
    found = re.search(rb'"args": \\[%d\\], "expected": (\\d+)' % x, memory)
    return int(found[1]) if found else None
def regions(pid):
    for line in open(f'/proc/{pid}/maps'):
        span, mode, *_ = line.split()
        start, end = (int(part, 16) for part in span.split('-'))
        if mode.startswith('rw') and '[v' not in line and end - start < 1 << 26:
            yield start, end - start
"""
MATCH_STDIO = MATCH + """
given = input()
def report(memory):
    pattern = rb'"stdin": "%s\\\\n", "expected_stdout": "([^"]+)"' % given.encode()
    found = re.search(pattern, memory)
    if found:
        print(found[1].decode().replace('\\\\n', chr(10)))
        raise SystemExit
"""

MEMORY = (
    _read(
        "expected values in the process's own memory file",
        problems.CALLED,
        Grader.PER_CASE,
        MATCH + "def solve(x):\n"
        "    with open('/proc/self/mem', 'rb', 0) as memory:\n"
        "        for start, size in regions('self'):\n"
        "            memory.seek(start)\n"
        "            answer = match(memory.read(size), x)\n"
        "            if answer is not None:\n                return answer\n",
    ),
    _read(
        "expected values behind bare pointers",
        problems.CALLED,
        Grader.PER_CASE,
        MATCH + "import ctypes\n"
        "def solve(x):\n"
        "    for start, size in regions('self'):\n"
        "        answer = match(ctypes.string_at(start, size), x)\n"
        "        if answer is not None:\n            return answer\n",
    ),
    _read(
        "expected output in the parent's memory file",
        problems.PRINTED,
        Grader.STDIO_EXACT,
        MATCH_STDIO + "import os\n"
        "with open(f'/proc/{os.getppid()}/mem', 'rb', 0) as memory:\n"
        "    for start, size in regions(os.getppid()):\n"
        "        memory.seek(start)\n        report(memory.read(size))\n",
    ),
    _read(
        "expected output in the memory of any process",
        problems.PRINTED,
        Grader.STDIO_EXACT,
        MATCH_STDIO + "import os\n"
        "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
        "    if int(pid) == os.getpid():\n        continue\n"
        "    try:\n        memory = open(f'/proc/{pid}/mem', 'rb', 0)\n"
        "        spans = list(regions(pid))\n"
        "    except OSError:\n        continue\n"
        "    for start, size in spans:\n"
        "        memory.seek(start)\n        report(memory.read(size))\n",
    ),
    _read(
        "expected output copied from the parent by the kernel",
        problems.PRINTED,
        Grader.STDIO_EXACT,
        MATCH_STDIO + "import ctypes, os\n"
        "class Span(ctypes.Structure):\n"
        "    _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]\n"
        "libc = ctypes.CDLL(None)\n"
        "for start, size in regions(os.getppid()):\n"
        "    room = ctypes.create_string_buffer(size)\n"
        "    here = Span(ctypes.addressof(room), size)\n"
        "    libc.process_vm_readv(os.getppid(), ctypes.byref(here), 1,\n"
        "                          ctypes.byref(Span(start, size)), 1, 0)\n"
        "    report(room.raw)\n",
    ),
)

OPEN_FILE = """
import json
given = input()
def report(file):
    cases = json.loads(os.pread(file, 1 << 20, 0))
    print(*(case['expected_stdout'] for case in cases if case['stdin'].strip() == given))
    raise SystemExit
"""

FILES = (
    _read(
        "expected output in the working folder",
        problems.PRINTED,
        Grader.STDIO_ON_DISK,
        "import glob\ngiven = input()\n"
        "for file in glob.glob('**/*.in', recursive=True):\n"
        "    if open(file).read().strip() == given:\n"
        "        print(open(file[:-2] + 'out').read())\n",
    ),
    _read(
        "expected output in the folder of temporary files",
        problems.PRINTED,
        Grader.STDIO_ON_DISK,
        "import os\ngiven = input()\n"
        "for folder, _, files in os.walk('/tmp'):\n"
        "    for file in files:\n"
        "        path = os.path.join(folder, file)\n"
        "        if file.endswith('.in') and open(path).read().strip() == given:\n"
        "            print(open(path[:-2] + 'out').read())\n",
    ),
    _read(
        "expected output in a folder that the environment names",
        problems.PRINTED,
        Grader.STDIO_ON_DISK,
        "import os\ngiven = input()\n"
        "for place in os.environ.values():\n"
        "    for file in os.listdir(place) if os.path.isdir(place) else ():\n"
        "        path = os.path.join(place, file)\n"
        "        if file.endswith('.in') and open(path).read().strip() == given:\n"
        "            print(open(path[:-2] + 'out').read())\n",
    ),
    _read(
        "expected output in the parent's working folder",
        problems.PRINTED,
        Grader.STDIO_ON_DISK,
        "import glob, os\ngiven = input()\n"
        "for file in glob.glob(f'/proc/{os.getppid()}/cwd/*/*.in'):\n"
        "    if open(file).read().strip() == given:\n"
        "        print(open(file[:-2] + 'out').read())\n",
    ),
    _read(
        "expected output through the parent's root folder",
        problems.PRINTED,
        Grader.STDIO_ON_DISK,
        "import glob, os\ngiven = input()\n"
        "for file in glob.glob(f'/proc/{os.getppid()}/root/tmp/**/*.in', recursive=True):\n"
        "    if open(file).read().strip() == given:\n"
        "        print(open(file[:-2] + 'out').read())\n",
    ),
    _read(
        "expected output in the parent's open file",
        problems.PRINTED,
        Grader.STDIO_OPEN_FILE,
        "import os\n" + OPEN_FILE + "folder = f'/proc/{os.getppid()}/fd'\n"
        "for number in os.listdir(folder):\n"
        "    try:\n        report(os.open(f'{folder}/{number}', os.O_RDONLY | os.O_NONBLOCK))\n"
        "    except (OSError, ValueError):\n        pass\n",
    ),
    _read(
        "expected output in a file descriptor taken from the parent",
        problems.PRINTED,
        Grader.STDIO_OPEN_FILE,
        "import ctypes, os\n" + OPEN_FILE + "parent = os.pidfd_open(os.getppid())\n"
        "for number in range(64):\n"
        "    taken = ctypes.CDLL(None).syscall(438, parent, number, 0)\n"
        "    try:\n        report(taken)\n"
        "    except (OSError, ValueError):\n        pass\n",
    ),
    _read(
        "expected output in the frame of a grader that runs the program itself",
        problems.PRINTED,
        Grader.STDIO_IN_PROCESS,
        SEARCH + "import sys\nsys.stdout.write(search(sys._getframe()))\n",
    ),
    _read(
        "an output stream whose text equals everything",
        problems.PRINTED,
        Grader.STDIO_IN_PROCESS,
        "import sys\n"
        "class Always:\n    def __eq__(self, other): return True\n"
        "class Stream:\n    def getvalue(self): return Always()\n"
        "sys.stdout = Stream()\n",
    ),
)

ATTACKS = (*FRAMES, *SOURCES, *MEMORY, *FILES)
