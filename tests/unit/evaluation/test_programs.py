"""What a test program and its output come to."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from reward_server.domain import (
    Assessment,
    CapturedStream,
    Commands,
    Ending,
    Execution,
    Integrity,
    Job,
    LimitKind,
    ProgramTests,
    Provenance,
    RewardPolicy,
    RewardPolicyKind,
    Submission,
    Termination,
    TerminationKind,
    TestOutcome,
    Verdict,
)
from reward_server.errors import UnsupportedError
from reward_server.evaluation import Evaluation
from reward_server.languages import load_languages, parse_language
from reward_server.languages.composing import parse_composition
from reward_server.runner import wire
from reward_server.scheduler import Scheduler

EXITED = Termination(kind=TerminationKind.EXITED)
TWO = "#include <assert.h>\nint main() {\n  assert(f(1) == 2);\n  assert(f(2) == 3);\n}\n"
UNSEEN = "int main() {\n  if (f(1) != 2) abort();\n}\n"
FRACTION = RewardPolicy(kind=RewardPolicyKind.FRACTION)

Program = Callable[[str], Execution]


def wrote(text: str, *, status: int = 0, ending: Ending = Ending.COMPLETED) -> Execution:
    data = text.encode()
    return Execution(
        ending=ending,
        termination=replace(EXITED, value=status),
        stdout=CapturedStream(data=data, size_bytes=len(data)),
    )


class Executor:
    """Compiles anything, and behaves as its program does; the probe of the language works.

    So do the imports of the tests, which are tried after a solution that did not pass.
    """

    slots = 2

    def __init__(self, program: Program, *, compiles: bool = True) -> None:
        self.sources: list[str] = []
        self._program = program
        self._compiles = compiles
        self._only_imports = False

    async def run(self, job: Job) -> Execution:
        assert isinstance(job.work, Commands)
        if job.work.stdin:
            return wrote("42")
        if job.work.keep:
            source = job.work.files["main.cpp"]
            self._only_imports = source.endswith(b"\nint main() { return 0; }\n")
            if self._only_imports:
                return wrote("")
            if b"namespace splitwire" in source and b"main(" not in source:  # a library
                return replace(wrote(""), product=wire.pack({}, {}))
            self.sources.append(source.decode())
            is_probe = "scanf" in self.sources[-1] or "std::cin" in self.sources[-1]
            return wrote("", status=0 if self._compiles or is_probe else 1)
        return wrote("") if self._only_imports else self._program(self.sources[-1])


async def judged(
    program: Program, tests: str = TWO, *, compiles: bool = True, **rest: object
) -> tuple[Assessment, Executor]:
    executor = Executor(program, compiles=compiles)
    languages = load_languages()
    provenance = {one.name: Provenance() for one in languages.all}
    evaluation = Evaluation(Scheduler(executor), languages, provenance=provenance)
    submission = Submission(
        language="c++",
        completion="int f(int x) { return x + 1; }",
        tests=ProgramTests(test_code=tests),
    )
    wanted = replace(submission, **rest)  # type: ignore[arg-type]  # fields by name
    return await evaluation.score(wanted), executor


def groups(source: str) -> list[list[tuple[str, str, str]]]:
    """Gives, for each assertion, the expected value and the two words of each comparison."""
    lines = (
        re.findall(r"== (\d+)\) \? \"\\n(\w+)\\n\" : \"\\n(\w+)\\n\"", line)
        for line in source.split("\n")
    )
    return [line for line in lines if line]


def ending(source: str) -> str:
    return re.findall(r'if \(status == 0\) \w+say\("\\n(\w+)\\n"\)', source)[0]


def honest(*values: str, ends: bool = True, status: int = 0) -> Program:
    """Returns a program whose function returns these values, one for each assertion."""

    def program(source: str) -> Execution:
        said = ["before"]
        for value, group in zip(values, groups(source), strict=False):
            said += [held if expected == value else missed for expected, held, missed in group]
        said += [ending(source)] if ends else []
        return wrote("".join(f"\n{word}\n" for word in said), status=status)

    return program


def outcomes(assessment: Assessment) -> list[TestOutcome]:
    return [test.outcome for test in assessment.tests]


async def test_a_right_solution_passes_each_assertion() -> None:
    assessment, executor = await judged(honest("2", "3"))
    assert assessment.verdict is Verdict.PASSED
    assert assessment.reward == 1.0
    assert assessment.integrity is Integrity.SHARED
    assert [test.name for test in assessment.tests] == [
        "assertion 1 at line 3",
        "assertion 2 at line 4",
    ]
    assert assessment.stdout.data == b"\nbefore\n"
    assert not assessment.stdout.truncated
    assert "assert(" not in executor.sources[-1]


async def test_every_verdict_has_words_of_its_own() -> None:
    _, first = await judged(honest("2", "3"))
    _, second = await judged(honest("2", "3"))
    words = [set(re.findall(r"[0-9a-f]{16}", one.sources[-1])) for one in (first, second)]
    assert words[0]
    assert not words[0] & words[1]


async def test_a_wrong_answer_fails_its_assertion_alone() -> None:
    assessment, _ = await judged(honest("2", "77"), reward_policy=FRACTION)
    assert assessment.verdict is Verdict.FAILED
    assert assessment.reward == 0.5
    assert outcomes(assessment) == [TestOutcome.PASSED, TestOutcome.FAILED]
    assert assessment.message == "assertion 2 at line 4: it does not hold"


async def test_a_crash_in_the_middle_keeps_what_was_observed() -> None:
    assessment, _ = await judged(honest("2", ends=False, status=3), reward_policy=FRACTION)
    assert assessment.verdict is Verdict.RUNTIME_ERROR
    assert outcomes(assessment) == [TestOutcome.PASSED, TestOutcome.ERROR]
    assert assessment.reward == 0.5


async def test_a_limit_in_the_middle_keeps_what_was_observed() -> None:
    def program(source: str) -> Execution:
        execution = honest("2", ends=False)(source)
        return replace(execution, ending=Ending.LIMIT, limits_hit=(LimitKind.CPU_TIME,))

    assessment, _ = await judged(program)
    assert assessment.verdict is Verdict.TIME_LIMIT_EXCEEDED
    assert outcomes(assessment) == [TestOutcome.PASSED, TestOutcome.LIMIT]


@pytest.mark.promise(
    "A solution that exits before the end of a test program earns nothing.", "Languages"
)
@pytest.mark.parametrize("said", [("2", "3"), ("2",), ()])
async def test_who_leaves_before_the_ending_earns_nothing(said: tuple[str, ...]) -> None:
    assessment, _ = await judged(honest(*said, ends=False))
    assert assessment.verdict is Verdict.RUNTIME_ERROR
    assert assessment.reward == 0.0
    assert assessment.signals == {"early_exit": 1}


async def test_the_ending_with_a_bad_exit_status_is_no_pass() -> None:
    assessment, _ = await judged(honest("2", "3", status=1))
    assert assessment.verdict is Verdict.RUNTIME_ERROR
    assert assessment.reward == 0.0


async def test_output_that_was_not_kept_whole_is_no_pass() -> None:
    def program(source: str) -> Execution:
        execution = honest("2", "3")(source)
        return replace(execution, stdout=replace(execution.stdout, size_bytes=1 << 30))

    assessment, _ = await judged(program)
    assert assessment.reward == 0.0


async def test_tampering_costs_every_test() -> None:
    def program(source: str) -> Execution:
        first, second = groups(source)
        said = [held for _, held, _ in first]
        said += [held if value == "3" else missed for value, held, missed in second]
        return wrote("\n".join([*said, ending(source)]))

    assessment, _ = await judged(program, reward_policy=FRACTION)
    assert assessment.signals == {"twin_passed": 1}
    assert outcomes(assessment) == [TestOutcome.FAILED] * 2
    assert assessment.reward == 0.0


async def test_a_program_that_is_not_understood_is_one_test() -> None:
    def program(source: str) -> Execution:
        return wrote(f"\n{ending(source)}\n")

    assessment, executor = await judged(program, UNSEEN)
    assert assessment.verdict is Verdict.PASSED
    assert assessment.integrity is Integrity.SHARED
    assert [test.name for test in assessment.tests] == ["program"]
    left, _ = await judged(lambda _: wrote(""), UNSEEN)
    assert left.verdict is Verdict.RUNTIME_ERROR
    assert left.signals == {"early_exit": 1}
    assert executor.sources


async def test_an_assertion_that_ends_the_program_is_a_wrong_answer() -> None:
    def program(source: str) -> Execution:
        said = b"main: tests.cpp:3: int main(): Assertion `f(1) == g()' failed.\n"
        return replace(
            wrote("", status=134), stderr=CapturedStream(data=said, size_bytes=len(said))
        )

    assessment, _ = await judged(program, UNSEEN)
    assert assessment.verdict is Verdict.FAILED
    crashed, _ = await judged(lambda _: wrote("", status=139), UNSEEN)
    assert crashed.verdict is Verdict.RUNTIME_ERROR


async def test_what_does_not_compile_is_a_compile_error() -> None:
    assessment, _ = await judged(honest("2", "3"), compiles=False)
    assert assessment.verdict is Verdict.COMPILE_ERROR
    assert outcomes(assessment) == [TestOutcome.NOT_RUN] * 2


DECIDERS = (
    "  assert(f(3) == 4);",
    "  return failures;",
    "  if (f(3) != 4) __builtin_trap();",
    "  MY_EQ(f(3), 4);",
    "  if (f(3) > 9) { assert(f(3) == 4); }",
)


@pytest.mark.promise(
    "Tests in one process or program with the solution are always `SHARED`.", "Labels"
)
@pytest.mark.parametrize("required", [Integrity.SHARED_TWINS, Integrity.ISOLATED])
@pytest.mark.parametrize("decider", DECIDERS)
async def test_whatever_is_one_program_with_the_solution_is_shared(
    decider: str, required: Integrity
) -> None:
    """Refused before anything runs, with what would be judged apart."""
    executor = Executor(honest("2", "3"))
    evaluation = Evaluation(Scheduler(executor), load_languages(), provenance={})
    submission = Submission(
        language="c++",
        completion="",
        tests=ProgramTests(test_code=TWO.replace("\n}", f"\n{decider}\n}}")),
        require_integrity=required,
    )
    told = f"{required.name} is not on offer .* SHARED is.*standard input.*java, javascript"
    with pytest.raises(UnsupportedError, match=told):
        await evaluation.score(submission)
    assert not executor.sources


@pytest.mark.parametrize("required", [Integrity.SHARED_TWINS, Integrity.ISOLATED])
async def test_tests_that_do_not_run_apart_after_all_are_no_less_than_required(
    required: Integrity,
) -> None:
    """The prompt's text promised ISOLATED; the tests' program does not compile."""
    prompt = "int f(int x) {\n"
    assessment, executor = await judged(
        honest("2", "3"), prompt=prompt, completion="return x + 1; }", require_integrity=required,
        compiles=False,
    )  # fmt: skip
    assert assessment.verdict is Verdict.INVALID_TASK
    assert "do not run apart" in assessment.message
    assert len(executor.sources) == 2


# ------------------------------------------------------------------------------ languages


def test_every_language_with_program_tests_can_compose_a_program() -> None:
    found = [one for one in load_languages().all if one.program is not None]
    assert found
    for language in found:
        assert language.program is not None
        main = {"go": "func main() { TESTS }", "rust": "fn main() { TESTS }"}
        tests = main.get(language.name, "TESTS")
        composed = language.program.compose("SOLUTION", tests, secret="zsecret", word="w0rd")
        text = composed.source + "".join(str(content) for content in composed.files.values())
        assert text.count("SOLUTION") == text.count("TESTS") == 1
        assert language.program.rename is not None or "w0rd" in text
        assert "{secret}" not in text
        assert "{word}" not in text


def test_what_a_solution_says_of_secrets_is_left_as_it_is() -> None:
    composition = parse_composition(
        {"layout": "{solution}\n{tests}\n{ending}", "ending": "print({word})"}
    )
    composed = composition.compose("{word} {tests}", "{ending} {secret}", secret="s", word="w")
    assert composed.source == "{word} {tests}\n{ending} {secret}\nprint(w)"


def test_only_the_first_main_is_renamed_and_its_absence_is_seen() -> None:
    program = load_languages().find("java").program
    assert program is not None
    tests = "class Main { public static void main(String[] args) { } }"
    assert program.refusal(tests) == ""
    assert program.refusal("class Main { }") == "has no main program"
    source = program.compose("", tests + "// void main(String[] a)", secret="z", word="w").source
    assert source.count("mz(args)") == 1
    assert source.endswith("// void main(String[] a)\n\n") or "// void main(String[] a)" in source


MAINS = {  # language, tests, what becomes of the main
    "a sign for a type": (
        "c++",
        "signed main() { }",
        'signed main() __asm__("zmain"); signed main() {',
    ),
    "behind a directive": (
        "c",
        "#endif\nint main(void) { }",
        ' int main(void) __asm__("zmain"); int main(void)',
    ),
    "a type in a library": ("c++", "std::int32_t main() { }", "; std::int32_t main() {"),
    "behind a statement": ("c++", "using namespace std; int main() { }", "int main() __asm__"),
    "a type on a line of its own": ("c", "int\nmain(void)\n{\n}", "int\nmain(void) __asm__"),
    "a type behind it": ("c++", "auto main() -> int { }", 'auto main() -> int __asm__("zmain");'),
    "another in a comment": (
        "c++",
        "/*\nint main() { }\n*/\nint main() { }",
        "*/\n int main() __asm__",
    ),
    "another in a text": (
        "c++",
        'auto s = R"(\nint main() {)";\nint main() { }',
        '";\n int main() __asm__',
    ),
    "another in a line of comment": (
        "c",
        "// x; int main() {\nint main() { }",
        "{\n int main() __asm__",
    ),
    "a comment of Java's": (
        "java",
        "/** void main(String[] a) */ class M { void main(final String... xs) { } }",
        "*/ class M { void main(String[] xs) throws",
    ),
    "a text of Java's": (
        "java",
        'class M { String s = "void main(String[] a)"; void main(String[] xs) { } }',
        '(String[] a)"; void main(String[] xs) throws',
    ),
    "a function in a comment of Go's": (
        "go",
        "// func main() {}\nfunc main() {}",
        "{}\nfunc mz() {}",
    ),
    "a function in a comment of Rust's": (
        "rust",
        "// fn main() {}\nfn main() {}",
        "{}\nfn mz() {}",
    ),
}
EXITS = {  # language, tests, what becomes of the exit
    "c": (
        "c",
        "int main() { if (g()) exit(1); else exit(0); }",
        "if (g()) zexit(1); else zexit(0);",
    ),
    "c: in a macro": ("c", "#define DONE exit(0)\nint main() { DONE; }", "#define DONE zexit(0)"),
    "c: at once": ("c", "int main() {\n  _Exit(0);\n}", "  zexit(0);"),
    "c: another's": (
        "c",
        "int main() { m.exit(0); p->exit(1); my_exit(2); }",
        "{ m.exit(0); p->exit(1); my_exit(2); }",
    ),
    "c: in a text": ("c", 'int main() { puts(";exit(0);"); }', '";exit(0);"'),
    "c++": (
        "c++",
        "int main() { std::exit(f(1)); ::quick_exit(0); }",
        "{ zexit(f(1)); zexit(0); }",
    ),
    "c++: a method": ("c++", "struct S { void exit(int); };\nint main() { }", "void exit(int)"),
    "java": (
        "java",
        "class M { void main(String[] a) { System.exit(n > 0 ? 1 : 0); } }",
        "z.Observe.exit(n > 0",
    ),
    "java: by an import": (
        "java",
        "import static java.lang.System.exit;\nclass M { void main(String[] a) { exit(0); } }",
        "import static z.Observe.exit;",
    ),
    "java: as a function": (
        "java",
        "class M { void main(String[] a) { o.ifPresent(System::exit); } }",
        "(z.Observe::exit)",
    ),
    "java: halting": (
        "java",
        "class M { void main(String[] a) { Runtime.getRuntime().halt(0); } }",
        "{ z.Observe.exit(0);",
    ),
    "javascript": ("javascript", "process.exit(failed ? 1 : 0)", "zexit(failed ? 1 : 0)"),
    "javascript: as a function": ("javascript", "main().then(process.exit)", ".then(zexit)"),
    "javascript: required": ("javascript", "require('node:process').exit()", "zexit()"),
    "javascript: one of their own": (
        "javascript",
        "process.exit = (c) => {}; maze.exit(2)",
        "process.exit = (c) => {}; maze.exit(2)",
    ),
    "typescript": ("typescript", "globalThis.process.exit(0)", "zexit(0)"),
    "go": ("go", 'import "os"\nfunc main() { os.Exit(0) }', "{ zexit(0) }"),
    "go: by a call of the system": (
        "go",
        'import "syscall"\nfunc main() { syscall.Exit(code) }',
        "{ zexit(code) }",
    ),
    "rust": ("rust", "fn main() { std::process::exit(0) }", "{ crate::zexit(0) }"),
    "rust: by an import": (
        "rust",
        "use std::process::exit;\nfn main() { exit(0) }",
        "use crate::zexit as exit;",
    ),
    "rust: by a module": (
        "rust",
        "use std::process;\nfn main() { process::exit(0) }",
        "{ crate::zexit(0) }",
    ),
    "php": ("php", "if (f(1)) exit(1); exit;", "zexit(1); zexit();"),
    "ruby": ("ruby", "exit(n); Kernel.exit 1; exit!; o.exit", "zexit(n); zexit 1; zquit; o.exit"),
    "lua": ("lua", "_G.os.exit(0)", "\nos.exit(0)"),
    "kotlin": (
        "kotlin",
        "import kotlin.system.exitProcess\nfun main() { exitProcess(f(1)); System.exit(0) }",
        "{ zexit(f(1)); zexit(0) }",
    ),
    "c#": (
        "c#",
        'class T { static void Main() { f("Environment.Exit(1)"); System.Environment.Exit(0); } }',
        '"Environment.Exit(1)"); Wz.Exit(0);',
    ),
    "scala": (
        "scala",
        "object M { def main(a: Array[String]): Unit = { sys.exit(f(1)); System.exit(0) } }",
        "Wz.exit(f(1)); Wz.exit(0)",
    ),
    "d": (
        "d",
        "import core.stdc.stdlib : exit;\nvoid main() { scope(exit) f(); exit(g()); }",
        "import core.stdc.stdlib : exit;\nvoid main_z() { scope(exit) f(); zexit(g()); }",
    ),
    "r": ("r", 'if (x) quit(status = 1) # quit()\nq("no")', "if (x) zquit(status = 1) # quit()\n"),
    "r: in short": ("r", 'q("no", 1); q <- q(x)', 'zquit("no", 1); q <- q(x)'),
    "haskell": (
        "haskell",
        "import System.Exit (exitSuccess, exitWith)\nmain = f >> exitWith (g 1) -- exitSuccess",
        'import System.Exit (exitSuccess, exitWith)\nmain_z = f >> (\\ze -> (if show ze == "ExitS',
    ),
    "haskell: at its end": (
        "haskell",
        "main = do\n  f\n  exitSuccess\n",
        '  f\n  (Prelude.putStrLn "\\nw0rd" >> exitSuccess)\n',
    ),
    "ocaml": ("ocaml", "let () = at_exit g; exit (f 1)", "let () = at_exit g; zexit (f 1)"),
    "racket": ("racket", "(f 'exit) (exit (g)) ; (exit)", "(f 'exit) (zexit (g)) ; (exit)"),
    "elixir": ("elixir", "System.halt(1); &System.halt/1", ":z.halt(1); &:z.halt/1"),
    "pascal": ("pascal", "begin { halt } Halt(1); halt; end.", "begin { halt } zhalt(1); zhalt; "),
    "fortran": (
        "fortran",
        "program t\nif (f(1) /= 2) stop 1 ! no\nif (x) stop 'no'\nstop\nend program t\n",
        "if (f(1) /= 2) call zexit(1) ! no\nif (x) stop 'no'\ncall zexit(0)\n",
    ),
    "fortran: a call": (
        "fortran",
        "program t\nstop = 1\nif (x) call exit(failed)\ncall exit()\nend program t\n",
        "stop = 1\nif (x) call zexit(failed)\ncall zexit(0)\n",
    ),
    "common lisp": (
        "common-lisp",
        "(sb-ext:exit :code (f 1)) (quit)",
        "(cl-user::zexit :code (f 1)) (cl-user::zexit)",
    ),
    "sql": ("sql", "SELECT 1;\n.exit\n.exit 1\n", "SELECT * FROM z;\n.exit\n.exit 1\n"),
    "perl": (
        "perl",
        "exit(f(1)); $h{exit} = $exit; POSIX::_exit(0); o->exit",
        "main::zexit(f(1)); $h{exit} = $exit; main::zexit(0); o->exit",
    ),
    "bash": (
        "bash",
        "f || exit 1; echo exit; trap exit INT\nbuiltin exit\n",
        "f || zexit 1; echo exit; trap exit INT\nzexit\n",
    ),
}
LEAVES = {
    "kotlin": "fun main() { run(::exitProcess) }",
    "c#": "using static System.Environment;\nclass T { static void Main() { Exit(0); } }",
    "scala": "import sys._\nobject M { def main(a: Array[String]): Unit = { exit(0) } }",
    "d": "import core.stdc.stdlib : quit = exit;\nvoid main() { quit(0); }",
    "ocaml": "let () = Unix._exit 0",
    "ruby": "method(:exit).call",
    "racket": "(map exit (list 0))",
    "elixir": "import System\nhalt(0)",
    "haskell": "import qualified System.Exit as E\nmain = E.exitSuccess",
    "common-lisp": "(uiop:quit 0)",
    "r": "leave <- quit\nleave()",
    "bash": "exec true",
    "c": "int main() { pthread_exit(0); }",
    "java": "import static java.lang.System.*;\nclass M { void main(String[] a) { exit(0); } }",
    "javascript": "const { exit } = require('process'); exit(0)",
    "typescript": "const quit = process.exit;\nquit(0)",
    "go": 'import "runtime"\nfunc main() { runtime.Goexit() }',
    "rust": "use std::process::{exit, Command};\nfn main() { exit(0) }",
}


@pytest.mark.parametrize("name", [*MAINS, *EXITS])
def test_mains_and_exits_of_tests_are_found_by_their_tokens(name: str) -> None:
    language, tests, wanted = (MAINS | EXITS)[name]
    program = load_languages().find(language).program
    assert program is not None
    assert program.refusal(tests) == ""
    assert program.leaving(tests) == ""
    composed = program.compose("", tests, secret="z", word="w0rd")
    assert wanted in composed.source


@pytest.mark.parametrize("language", LEAVES)
def test_tests_that_leave_in_an_unknown_way_are_refused_by_their_text(language: str) -> None:
    program = load_languages().find(language).program
    assert program is not None
    assert program.leaving(LEAVES[language])
    found = load_languages().find(language)
    ends = {"(*": " *)"}.get(found.comment, "")
    commented = "".join(f"{found.comment} {line}{ends}\n" for line in LEAVES[language].splitlines())
    assert program.leaving(commented) == ""


def test_a_class_in_a_comment_does_not_name_the_file() -> None:
    text = "/*\npublic class Old {\n*/\npublic class Main { }\n"
    assert load_languages().find("java").source_file(text) == "Main.java"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"layout": "{solution}{tests}"}, "the layout must have each"),
        ({"layout": "{solution}{solution}{tests}{ending}"}, "the layout must have each"),
        ({"ending": "done"}, "nothing writes"),
    ],
)
def test_a_broken_table_is_refused(change: dict[str, str], told: str) -> None:
    table = {"layout": "{solution}{tests}{ending}", "ending": "{word}"}
    with pytest.raises(ValueError, match=told):
        parse_composition(table | change)


def test_program_tests_and_their_table_need_each_other() -> None:
    text = """
        name = "x"
        aliases = []
        image = "x"
        source = "x"
        comment = "#"
        test_kinds = ["program"]
        fence_tags = []
        code_line = "x"
        [probe]
        works = ""
        refused = ""
        fails = ""
        endless = ""
    """
    with pytest.raises(ValueError, match="need each other"):
        parse_language(text)
