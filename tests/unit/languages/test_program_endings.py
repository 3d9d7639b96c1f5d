"""Test programs of interpreted languages that end themselves, or that a solution's text would end.

Only what is installed here is run; `test_program_tests` looks at the text of the others.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from reward_server.languages import load_languages
from tests.support.tools import require

SECRET, WORD = "zsecret", "0f1e2d"
COMMANDS = {
    "perl": ("perl", "{path}"),
    "bash": ("bash", "{path}"),
    "sql": ("sqlite3", "-batch", "-bail", ":memory:", ".read {path}"),
    "javascript": ("node", "{path}"),
    "ruby": ("ruby", "{path}"),
    "php": ("php", "-d", "zend.assertions=1", "{path}"),
    "lua": ("lua5.4", "{path}"),
}
RIGHT = {
    "perl": "sub add { my ($a, $b) = @_; return $a + $b; }\n",
    "bash": "add() { echo $(($1 + $2)); }\n",
    "sql": "CREATE VIEW f AS SELECT 3 AS x;\n",
    "javascript": "const add = (a, b) => a + b\n",
    "ruby": "def add(a, b) = a + b\n",
    "php": "<?php\nfunction add($a, $b) { return $a + $b; }\n",
    "lua": "function add(a, b) return a + b end\n",
}
WRONG = {
    "perl": "sub add { return 0; }\n",
    "bash": "add() { echo 0; }\n",
    "sql": "CREATE VIEW f AS SELECT 0 AS x;\n",
    "javascript": "const add = (a, b) => 0\n",
    "ruby": "def add(a, b) = 0\n",
    "php": "<?php\nfunction add($a, $b) { return 0; }\n",
    "lua": "function add(a, b) return 0 end\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A language and a test program, or what is added to a solution."""

    language: str
    text: str


def row(language: str, text: str) -> Row:
    return Row(language=language, text=text)


def passes(language: str, solution: str, tests: str, folder: Path) -> bool:
    """Runs a program as the server would, and tells whether it passes."""
    program = load_languages().find(language).program
    assert program is not None
    assert program.leaving(tests) == program.refusal(tests) == ""
    path = folder / "main"
    path.write_text(program.compose(solution, tests, secret=SECRET, word=WORD).source)
    command = [part.replace("{path}", str(path)) for part in COMMANDS[language]]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return ran.returncode == 0 and re.search(f"^{WORD}$", ran.stdout, re.MULTILINE) is not None


ENDING = {
    "perl: a count": row(
        "perl", "my $failed = 0;\n$failed++ unless add(1, 2) == 3;\nexit($failed ? 1 : 0);\n"
    ),
    "perl: without brackets": row("perl", "my $off = add(1, 2) - 3;\nexit $off ? 1 : 0;\n"),
    "perl: a branch": row("perl", "exit 0 if add(1, 2) == 3;\nCORE::exit(2);\n"),
    "perl: before its end": row(
        "perl", "die 'exit 0; ' unless add(1, 2) == 3; # exit 1\nexit;\n__END__\nexit 1;\n"
    ),
    "perl: a child": row(
        "perl",
        "my %h = (exit => 1); $h{exit}++;\nif (my $p = fork) { waitpid $p, 0 } else { exit 0 }\n"
        "die unless add(1, 2) == 3;\n",
    ),
    "perl: more than a test": row(
        "perl", 'use Test::More tests => 1;\nis(add(1, 2), 3, "don\'t exit");\nexit 0;\n'
    ),
    "perl: pages of a manual": row("perl", "die unless add(1, 2) == 3;\n\n=head1 NAME\n\nexit 1\n"),
    "bash: a count": row("bash", 'failed=0\n[ "$(add 1 2)" = 3 ] || failed=1\nexit $failed\n'),
    "bash: branches": row("bash", 'if [ "$(add 1 2)" = 3 ]; then exit; else exit 1; fi\n'),
    "bash: the last command": row("bash", '[ "$(add 1 2)" = 3 ]\n'),
    "bash: subshells and texts": row(
        "bash",
        'x="$(echo "it\'s"; exit 0)"; (exit 0)\ncat <<EOF >/dev/null\nit\'s\nexit\nEOF\n'
        "trap 'rm -f x' EXIT\n[ \"$(add 1 2)\" = 3 ] || { echo 'no; exit 0'; exit 1; }\n",
    ),
    "bash: at the first success": row("bash", '[ "$(add 1 2)" = 3 ] && exit 0 # exit\nfalse\n'),
    "sql: a command": row(
        "sql", "CREATE TABLE t (a CHECK (a = 3));\nINSERT INTO t SELECT x FROM f;\n.exit\n"
    ),
    "ruby: a count": row("ruby", "failed = add(1, 2) == 3 ? 0 : 1\nexit failed.zero? ? 0 : 1\n"),
    "ruby: at once": row("ruby", "exit!(add(1, 2) == 3)\n"),
    "ruby: a process": row("ruby", "Process.exit(add(1, 2) == 3)\n"),
    "php: a count": row("php", "exit(add(1, 2) === 3 ? 0 : 1);\n"),
    "php: a branch": row("php", "if (add(1, 2) === 3) exit;\ndie(1);\n"),
    "lua: a count": row("lua", "os.exit(add(1, 2) == 3 and 0 or 1)\n"),
    "lua: another name": row("lua", "_G.os.exit(add(1, 2) == 3)\n"),
}


@pytest.mark.parametrize("name", ENDING)
def test_tests_may_end_themselves(name: str, tmp_path: Path) -> None:
    one = ENDING[name]
    require(COMMANDS[one.language][0])
    assert passes(one.language, RIGHT[one.language], one.text, tmp_path)
    assert not passes(one.language, WRONG[one.language], one.text, tmp_path)


CHECKS = {
    "perl": "die unless add(1, 2) == 3;\n",
    "bash": "[ $(add 1 2) = 3 ] || exit 1\n",
    "ruby": "raise unless add(1, 2) == 3\n",
    "php": "if (add(1, 2) !== 3) throw new Exception('no');\n",
}
TAILS = {
    "perl: an end": row("perl", "1;\n__END__\n\n=head1 NAME\n\nadd\n"),
    "perl: data that it reads": row(
        "perl", "my @rows = <DATA>;\ndie unless @rows == 2;\n__DATA__\na\nb\n"
    ),
    "perl: a manual without an end": row("perl", "\n=head1 NAME\n\nadd\n\n=over\n"),
    "perl: a package": row("perl", "use v5.36;\npackage Foo;\nsub bar { 1 }\npackage main;\n1;\n"),
    "ruby: data that it reads": row("ruby", "raise unless DATA.read == 'x'\n__END__\nx"),
    "php: data": row("php", "\n__halt_compiler();x ' (\n"),
}


@pytest.mark.parametrize("name", TAILS)
def test_tests_are_run_behind_a_solution_whose_text_ends(name: str, tmp_path: Path) -> None:
    one = TAILS[name]
    require(COMMANDS[one.language][0])
    tests = CHECKS[one.language]
    assert passes(one.language, RIGHT[one.language] + one.text, tests, tmp_path)
    assert not passes(one.language, WRONG[one.language] + one.text, tests, tmp_path)


SWALLOWING = {  # what a solution ends in, and tests with what ends that
    "perl: an exit": (row("perl", "exit 0;\n"), "die unless add(1, 2) == 3;\n"),
    "perl: a manual": (row("perl", "\n=pod\n"), "die unless add(1, 2) == 3;\n=cut\n"),
    "perl: a text": (row("perl", "my $t = q(\n"), "die unless add(1, 2) == 3; # )\n"),
    "perl: an end": (row("perl", "__END__\n"), "die unless add(1, 2) == 3;\n"),
    "bash: an exit": (row("bash", "exit 0\n"), '[ "$(add 1 2)" = 3 ]\n'),
    "bash: a document": (
        row("bash", ": <<'fi'\n"),
        'if true; then\n[ "$(add 1 2)" = 3 ] || exit 1\nfi\n',
    ),
    "bash: a text": (row("bash", ": '"), "[ $(add 1 2) = 3 ] || exit 1\ntrap 'true' EXIT\n"),
    "sql: a comment": (
        row("sql", "; /*"),
        "CREATE TABLE t (a CHECK (a = 3));\nINSERT INTO t SELECT x FROM f; /* two */\n",
    ),
    "javascript: a comment": (
        row("javascript", "/*"),
        "if (add(1, 2) !== 3) throw new Error('no'); /* three */\n",
    ),
    "javascript: a text": (row("javascript", "`"), "if (add(1, 2) !== 3) throw `no`\n"),
    "ruby: a comment": (row("ruby", "\n=begin\n"), "raise unless add(1, 2) == 3\n=begin\n=end\n"),
    "php: a comment": (row("php", "/*"), "if (add(1, 2) !== 3) exit(1); /* three */\n"),
    "php: an end": (row("php", "__HALT_COMPILER();"), "if (add(1, 2) !== 3) exit(1);\n"),
    "lua: a comment": (row("lua", "--[["), "assert(add(1, 2) == 3) --[[ three ]]\n"),
}


@pytest.mark.promise(
    "An open comment or string of a solution does not swallow the tests.", "Languages"
)
@pytest.mark.parametrize("name", SWALLOWING)
def test_a_solution_does_not_make_the_tests_a_part_of_its_text(name: str, tmp_path: Path) -> None:
    one, tests = SWALLOWING[name]
    require(COMMANDS[one.language][0])
    assert not passes(one.language, WRONG[one.language] + one.text, tests, tmp_path)


def test_what_the_end_needs_stands_between_solution_and_tests() -> None:
    """Programs that are run from above to below come to their end with or without tests."""
    found = 0
    for language in load_languages().all:
        program = language.program
        if program is None or program.rename is not None or program.hoists:
            continue
        tests = "TESTS"
        source = program.compose("SOLUTION", tests, secret=SECRET, word=WORD).source
        between = re.search(r"SOLUTION([\s\S]*)TESTS([\s\S]*)", source)
        assert between is not None
        front = source[: between.start()]
        needed = {*re.findall(rf"\w*{SECRET}\w*", between[2])}
        own = {*re.findall(rf"\w*{SECRET}\w*", between[1])} - {
            *re.findall(rf"\w*{SECRET}\w*", front)
        }
        assert needed & own, language.name
        found += 1
    assert found >= 12


@pytest.mark.parametrize(
    ("language", "opens"),
    [
        ("bash", "f() {\necho 1"),
        ("php", "<?php\nfunction f() {\n"),
        ("c", "int f(void) {\nreturn 1;"),
        ("c++", "int f() {\nreturn 1;"),
        ("rust", "fn f() -> i32 {\n1"),
    ],
)
def test_brackets_that_close_the_solution_are_not_torn_from_it(language: str, opens: str) -> None:
    """Some data sets' tests begin with them; what stands between must not come in front of them."""
    program = load_languages().find(language).program
    assert program is not None
    tests = "\n}\nfn main() { }\n" if language == "rust" else "\n}\nint main() { }\n"
    source = program.compose(opens, tests, secret=SECRET, word=WORD).source
    assert SECRET not in source[source.index(opens) : source.index("}", source.index(opens))]
    assert SECRET in source[source.index("}", source.index(opens)) :]
