"""An interactor judges a solution while both run: right ones pass, and no other partner does."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from reward_server.app import App, running_app
from reward_server.domain import (
    Assessment,
    Checker,
    CheckerKind,
    Extraction,
    Integrity,
    Limits,
    RewardPolicy,
    RewardPolicyKind,
    StdioCase,
    StdioTests,
    Submission,
    Subtask,
    SubtaskRule,
    Verdict,
)
from reward_server.settings import Settings
from tests.interactive.problems import PROBLEMS, Problem, code
from tests.support.common import on_the_servers_loop
from tests.support.sampling import sampled
from tests.support.tools import needs, offered

pytestmark = on_the_servers_loop
SHORT = Limits(wall_time_seconds=1.0)
GUESSING = PROBLEMS["find a number by comparisons"]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def app() -> AsyncIterator[App]:
    """Yields a server with Python, and C++ where there is a compiler."""
    languages = offered("python", "c++17")
    async with running_app(Settings(port=0, workers=2, languages=languages)) as running:
        yield running


async def judged(
    app: App,
    problem: Problem,
    completion: str,
    *,
    language: str = "python",
    limits: Limits | None = None,
    interactor: str | None = None,
    interactor_language: str = "python",
    policy: RewardPolicy = RewardPolicy(),  # noqa: B008
    subtasks: tuple[str, ...] = (),
) -> Assessment:
    cases = tuple(
        StdioCase(stdin=text.encode(), expected_stdout=b"", subtask=name)
        for text, name in zip(problem.inputs, subtasks or ("", "", ""), strict=True)
    )
    checker = Checker(
        kind=CheckerKind.INTERACTOR,
        program=problem.interactor if interactor is None else interactor,
        program_language=interactor_language,
    )
    return await app.evaluation.score(
        Submission(
            language=language,
            completion=completion,
            extraction=Extraction.NONE,
            tests=StdioTests(cases=cases, checker=checker),
            limits=limits or Limits(wall_time_seconds=20.0),
            reward_policy=policy,
        )
    )


@pytest.mark.parametrize("name", sampled(list(PROBLEMS), 4))
async def test_partners_are_judged_rightly(app: App, name: str) -> None:
    problem = PROBLEMS[name]
    right = await judged(app, problem, problem.right)
    assert (right.verdict, right.reward) == (Verdict.PASSED, 1.0), right
    assert right.integrity is Integrity.ISOLATED
    assert [test.outcome.name for test in right.tests] == ["PASSED"] * 3
    wrong = await judged(app, problem, problem.wrong)
    assert (wrong.verdict, wrong.reward) == (Verdict.FAILED, 0.0), wrong
    stalling = await judged(app, problem, problem.stalling, limits=SHORT)
    assert (stalling.verdict, stalling.reward) == (Verdict.TIME_LIMIT_EXCEEDED, 0.0), stalling
    # Some of them wait for a word that the interactor never says.
    cheating = await judged(app, problem, problem.cheating, limits=Limits(wall_time_seconds=3.0))
    assert cheating.reward == 0.0, cheating
    crashing = await judged(app, problem, problem.crashing)
    assert (crashing.verdict, crashing.reward) == (Verdict.RUNTIME_ERROR, 0.0), crashing


NO_PARTNERS = {
    "says nothing": ("", Verdict.FAILED),
    "exits with a status": ("raise SystemExit(3)\n", Verdict.RUNTIME_ERROR),
    "kills itself": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n",
        Verdict.RUNTIME_ERROR,
    ),
    "does not compile": ("def f(:\n", Verdict.COMPILE_ERROR),
    "floods": ("while True:\n    print('? 1')\n", Verdict.FAILED),
    "floods a line without end": (
        "import sys\nwhile True:\n    sys.stdout.write('x' * 65536)\n",
        Verdict.OUTPUT_LIMIT_EXCEEDED,
    ),
    "closes its output and waits": (
        "import os, sys\nos.close(1)\nsys.stdin.read()\n",
        Verdict.FAILED,
    ),
    "ends badly after it was accepted": (
        GUESSING.right + "raise SystemExit(4)\n",
        Verdict.RUNTIME_ERROR,
    ),
    "is a forged frame": (
        "import os\nfor number in range(3, 64):\n    try:\n"
        "        os.write(number, b'\\0\\0\\0\\1' + b'0')\n    except OSError:\n        pass\n"
        "print('!', 5)\n",
        Verdict.FAILED,
    ),
}


@pytest.mark.parametrize(("completion", "verdict"), NO_PARTNERS.values(), ids=NO_PARTNERS.keys())
async def test_who_does_not_converse_earns_nothing(
    app: App, completion: str, verdict: Verdict
) -> None:
    found = await judged(app, GUESSING, completion, limits=Limits(output_bytes=1 << 20))
    assert (found.verdict, found.reward) == (verdict, 0.0), found


async def test_one_who_goes_on_after_it_was_accepted_is_stopped_by_its_limits(app: App) -> None:
    found = await judged(app, GUESSING, GUESSING.right + "while True:\n    pass\n", limits=SHORT)
    assert (found.verdict, found.reward) == (Verdict.TIME_LIMIT_EXCEEDED, 0.0), found


async def test_many_words_cross_both_ways_at_once(app: App) -> None:
    interactor = code("""
        import sys
        sys.stdout.write("x" * 3_000_000 + "\\n")
        sys.stdout.flush()
        sys.exit(0 if len(sys.stdin.readline()) == 3_000_001 else 1)
    """)
    completion = "print('y' * 3_000_000, flush=True)\nassert len(input()) == 3_000_000\n"
    found = await judged(app, GUESSING, completion, interactor=interactor)
    assert found.verdict is Verdict.PASSED, found


BROKEN = {
    "does not compile": ("def f(:\n", "does not compile"),
    "ends before it hears": ("", "ended before it heard"),
    "fails before it hears": ("import sys\nsys.exit(7)\n", "ended before it heard"),
}


@pytest.mark.promise("Broken tests, checkers and interactors make the task invalid.", "Verdicts")
@pytest.mark.parametrize(("interactor", "message"), BROKEN.values(), ids=BROKEN.keys())
async def test_a_broken_interactor_is_the_tasks_fault(
    app: App, interactor: str, message: str
) -> None:
    found = await judged(app, GUESSING, "input()\n", interactor=interactor)
    assert (found.verdict, found.reward) == (Verdict.INVALID_TASK, None), found
    assert message in found.message


@pytest.mark.parametrize("end", ["raise ValueError('odd')", "sys.exit(9)"])
async def test_an_interactor_that_fails_on_what_it_heard_is_told_of(app: App, end: str) -> None:
    interactor = f"import sys\nprint(5, flush=True)\ninput()\n{end}\n"
    found = await judged(app, GUESSING, GUESSING.right, interactor=interactor)
    assert (found.verdict, found.reward) == (Verdict.FAILED, 0.0), found
    assert found.signals["interactor_failed"] == 1
    assert "the interactor failed on the solution" in found.message


@needs("g++")
@pytest.mark.parametrize("interactor_language", ["python", "c++17"])
async def test_compiled_programs_converse(app: App, interactor_language: str) -> None:
    interactors = {"python": GUESSING.interactor, "c++17": CPP_INTERACTOR}
    for completion, verdict in ((CPP_RIGHT, Verdict.PASSED), (CPP_WRONG, Verdict.FAILED)):
        found = await judged(
            app,
            GUESSING,
            completion,
            language="c++17",
            interactor=interactors[interactor_language],
            interactor_language=interactor_language,
        )
        assert found.verdict is verdict, found
    crashing = CPP_RIGHT.replace("int low", "int *p = nullptr; *p = 1; int low")
    found = await judged(app, GUESSING, crashing, language="c++17")
    assert found.verdict is Verdict.RUNTIME_ERROR, found


CPP_RIGHT = code("""
    #include <iostream>
    #include <string>
    int main() {
        int high; std::cin >> high; int low = 1; std::string told;
        while (low < high) {
            int middle = (low + high + 1) / 2;
            std::cout << "? " << middle << std::endl;
            std::cin >> told;
            if (told == "less") high = middle - 1; else low = middle;
        }
        std::cout << "! " << low << std::endl;
    }
""")
CPP_WRONG = '#include <iostream>\nint main() { std::cout << "! 0" << std::endl; }\n'
CPP_INTERACTOR = code("""
    #include <fstream>
    #include <iostream>
    #include <string>
    int main(int, char **argv) {
        std::ifstream file(argv[1]); int n, secret, x; std::string word;
        file >> n >> secret; std::cout << n << std::endl;
        for (int i = 0; i < 11; i++) {
            if (!(std::cin >> word >> x)) return 1;
            if (word == "!") return x == secret ? 0 : 1;
            std::cout << (secret < x ? "less" : "no") << std::endl;
        }
        return 1;
    }
""")


async def test_subtasks_give_points_for_what_was_solved(app: App) -> None:
    policy = RewardPolicy(
        kind=RewardPolicyKind.SUBTASKS,
        subtasks=(
            Subtask(name="one", points=25.0),
            Subtask(name="many", points=75.0, rule=SubtaskRule.SUM),
        ),
    )
    only_one = "n = int(input())\nprint('!', 1, flush=True)\n"  # the second and the third case
    for names, share in ((("many", "one", "many"), 0.25 + 0.375), (("one", "many", "one"), 0.75)):
        found = await judged(app, GUESSING, only_one, policy=policy, subtasks=names)
        assert (found.verdict, found.reward) == (Verdict.FAILED, share), found
        assert [test.subtask for test in found.tests] == list(names)
    right = await judged(
        app, GUESSING, GUESSING.right, policy=policy, subtasks=("one", "many", "one")
    )
    assert right.reward == 1.0
