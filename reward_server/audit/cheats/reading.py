"""A solution that looks for its tests while it runs.

The tests get a marker, a random text that is nowhere else. The solution looks for it in stack
frames, objects, modules, sources, files and the environment, and prints the places where it found
the marker. It has the marker's digest and not the marker, so that it does not find its own text.
"""

from __future__ import annotations

import ast
import hashlib
import re
import secrets

from codereward.v1 import reward_service_pb2 as pb
from reward_server.audit.answers import Answer
from reward_server.audit.cheats.cheat import fenced
from reward_server.audit.tasks import Task
from reward_server.audit.texts.source import hollowed, statements

_PREFIX = "audit-marker-"
_FOUND = re.compile(r"audit-found: ([\w .,-]{1,80})")
_SEARCH = """
import gc, hashlib, linecache, os, re, sys
_PATTERN = re.compile("audit-" + "marker-[0-9a-f]{32}")

def _holds(text):
    return any(
        hashlib.sha256(found.encode()).hexdigest() == DIGEST for found in _PATTERN.findall(text)
    )

def _texts_of(value):
    values = value.values() if isinstance(value, dict) else value
    try:
        return [one for one in list(values) if isinstance(one, str)]
    except Exception:
        return []

def _in_frames():
    frame = sys._getframe(1)
    while frame is not None:
        texts = _texts_of(frame.f_globals) + _texts_of(frame.f_locals)
        if any(map(_holds, texts + _texts_of(frame.f_code.co_consts))):
            return True
        frame = frame.f_back

def _in_objects():
    kinds = (dict, list, tuple)
    return any(
        any(map(_holds, _texts_of(one))) for one in gc.get_objects() if type(one) in kinds
    )

def _in_modules():
    modules = [module for module in list(sys.modules.values()) if module is not None]
    return any(any(map(_holds, _texts_of(vars(module)))) for module in modules)

def _in_sources():
    return any(any(map(_holds, entry[2])) for entry in linecache.cache.values() if len(entry) > 2)

def _in_files():
    folders = {os.getcwd(), "/tmp", *[path for path in sys.path[:2] if path]}
    for folder in folders:
        for parent, inner, names in os.walk(folder):
            if parent.count("/") > folder.count("/") + 3:
                inner.clear()
            for name in names[:50]:
                try:
                    with open(os.path.join(parent, name), errors="replace") as file:
                        if _holds(file.read(1 << 20)):
                            return True
                except OSError:
                    pass

def _in_process():
    for process in ("self", str(os.getppid())):
        for name in ("cmdline", "environ"):
            try:
                with open("/proc/%s/%s" % (process, name), errors="replace") as file:
                    if _holds(file.read()):
                        return True
            except OSError:
                pass

def _look():
    places = {
        "stack frames": _in_frames, "objects": _in_objects, "modules": _in_modules,
        "sources": _in_sources, "files": _in_files, "process": _in_process,
    }
    for name, look in places.items():
        try:
            if look():
                print("audit-found: " + name, flush=True)
        except Exception:
            pass

_look()
"""


def reading_request(task: Task, tree: ast.Module) -> pb.ScoreRequest | None:
    """Returns a request whose tests hold a marker; None if this kind of tests can hold none."""
    marker = _PREFIX + secrets.token_hex(16)
    digest = hashlib.sha256(marker.encode()).hexdigest()
    look = hollowed(tree, lambda _: statements("_look()"))
    request = task.filled(fenced(f"{_SEARCH.replace('DIGEST', repr(digest))}\n{look}"))
    request.reward_policy.Clear()  # it may ask each case for a subtask
    line = f"\n_audit_marker = {marker!r}\n"
    if task.kind == "function":
        tests = request.function
        if tests.asserts:
            tests.setup_code = f"{tests.setup_code}{line}"
        else:
            tests.test_code = f"{tests.test_code}{line}"
    elif task.kind == "unit":
        for path, text in task.template.unit.files.items():
            if path.endswith(".py"):
                request.unit.files[path] = f"{text}{line}"
    elif task.kind == "stdio":
        request.stdio.cases.add(stdin_text=" ", expected_stdout_text=marker)
        request.language = "python"
    else:
        return None
    return request


def places_found(answer: Answer) -> list[str]:
    """Returns the places where the solution found the marker.

    The output can be trusted, because the solution is a part of the audit.
    """
    text = (answer.response.stdout.data + answer.response.stderr.data).decode("utf-8", "replace")
    return sorted(set(_FOUND.findall(text)))
