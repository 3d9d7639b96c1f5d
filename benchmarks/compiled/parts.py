"""Shows where the CPU time of compiling and running a solution in C++ or Java goes.

    python -m benchmarks.compiled.parts humaneval_x_cpp.jsonl --row 12

Takes the solution's program of a row of HumanEval-X, as the server compiles it, and runs commands
of the host that do more and more of the work, in turns. Prints for each the medians of the CPU time
in user mode and in the kernel, in ms, of the page faults without input and of the system calls
(if `strace` is installed).
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from reward_server.domain import Limits
from reward_server.grading.compiled_tests.split import SPLITTERS, Task
from reward_server.languages import Language, load_languages

_LANGUAGES = {"CPP": "c++17", "Java": "java"}
_CPP = "g++ -std=c++17 -O2 -pipe -pthread"
_JVM = "-XX:+UseSerialGC -XX:-UsePerfData"
_JAVAC = "javac -J-XX:+UseSerialGC -J-XX:-UsePerfData -J-XX:TieredStopAtLevel=1 -proc:none -nowarn"
_PARTS = {
    "c++17": {
        "an empty program, to assembly": f"{_CPP} -S -o /dev/null empty.cpp",
        "its includes only": f"{_CPP} -S -o /dev/null includes.cpp",
        "parsed, not translated": f"{_CPP} -fsyntax-only main.cpp",
        "to assembly": f"{_CPP} -S -o /dev/null main.cpp",
        "to an object file": f"{_CPP} -c -o main.o main.cpp",
        "linked by ld": f"{_CPP} -fuse-ld=bfd -o main main.o splitwire.o",
        "linked by gold": f"{_CPP} -fuse-ld=gold -o main main.o splitwire.o",
        "all": f"{_CPP} -o main main.cpp splitwire.o",
    },
    "java": {
        "java, a program without code": f"java {_JVM} -cp . Empty",
        "javac -version": f"{_JAVAC} -version",
        "javac, a program without code": f"{_JAVAC} -d . Empty.java",
        "javac, all": f"{_JAVAC} -d . {{source}}",
    },
}


def prepare(language: Language, row: dict[str, str], folder: Path) -> dict[str, str]:
    """Writes the files of a solution's program; returns the commands by what they do."""
    assert language.program is not None
    assert language.program.assertions is not None
    task = Task(prompt=row["prompt"], tests=row["test"], language=language.program.assertions)
    split = SPLITTERS[language.program.split](task)
    if split is None:
        raise SystemExit("the tests of this row are one program with the solution")
    source = split.serving(row["prompt"] + row["canonical_solution"])
    work = language.compilation(source.text, source.files, Limits())
    for name, content in work.files.items():
        (folder / name).write_bytes(content)
    includes = [line for line in source.text.splitlines() if line.startswith("#include <")]
    (folder / "empty.cpp").write_text("int main() {}\n")
    (folder / "includes.cpp").write_text("\n".join([*includes, "int main() {}\n"]))
    (folder / "Empty.java").write_text("class Empty { public static void main(String[] a) {} }\n")
    library = folder / language.source_file(source.library)
    if language.name == "java":
        library.write_text(source.library)
        subprocess.run(["javac", "-d", ".", library.name, "Empty.java"], cwd=folder, check=True)
    else:
        (folder / "library.cpp").write_text(source.library)
        command = shlex.split(f"{_CPP} -c -o splitwire.o library.cpp")
        subprocess.run(command, cwd=folder, check=True)
    name = language.source_file(source.text)
    return {what: text.replace("{source}", name) for what, text in _PARTS[language.name].items()}


def used(command: str, folder: Path) -> tuple[float, float, int]:
    """Runs a command; returns its ms in user mode, its ms in the kernel and its page faults."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(shlex.split(command), cwd=folder, stdout=quiet, stderr=quiet) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} failed")
    return 1000 * usage.ru_utime, 1000 * usage.ru_stime, usage.ru_minflt


def system_calls(command: str, folder: Path) -> str:
    """Returns the number of system calls of a command and its children, or a dash."""
    if shutil.which("strace") is None:
        return "-"
    traced = ["strace", "-f", "-qq", "-o", "calls", *shlex.split(command)]
    subprocess.run(traced, cwd=folder, check=True, capture_output=True)
    return str(len((folder / "calls").read_bytes().splitlines()))


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="rows of HumanEval-X in C++ or Java")
    parser.add_argument("--row", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    row = json.loads(options.data.read_text().splitlines()[options.row])
    language = load_languages().find(_LANGUAGES[row["task_id"].split("/")[0]])
    with tempfile.TemporaryDirectory() as name:
        commands = prepare(language, row, Path(name))
        found: dict[str, list[Sequence[float]]] = {what: [] for what in commands}
        for _ in range(options.rounds + 1):
            for what, command in commands.items():
                found[what].append(used(command, Path(name)))
        for what, rounds in found.items():
            user, kernel, faults = (statistics.median(one) for one in zip(*rounds[1:], strict=True))
            calls = system_calls(commands[what], Path(name))
            times = f"user {user:.0f} ms, kernel {kernel:.0f} ms"
            print(f"{what}: {times}, {faults:.0f} faults, {calls} calls")


if __name__ == "__main__":
    main()
