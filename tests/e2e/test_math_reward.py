"""Mathematics, judged by a real server with a real math-verify."""

from __future__ import annotations

import json

import pytest

from codereward.v1 import reward_service_pb2 as pb
from trainer_client import AsyncRewardClient, RewardLostError, Score, Verdict
from trainer_client.local_server import LocalServer
from trainer_client.rewards import math_reward
from trainer_client.rewards.math import MathTemplates, _program
from trainer_client.rewards.math_program import CLAIM_BYTES

RIGHT = [
    (r"so \boxed{\frac{2}{4}} it is", "0.5"),
    (r"\boxed{x^2 + 2x + 1}", "$(x+1)^2$"),
    (r"\boxed{\sqrt{8}}", r"2\sqrt{2}"),
    ("6 times 7 is 42.", "6 * 7 = 42\n#### 42"),
    (r"\boxed{1,234}", "#### 1234"),
    (r"\boxed{\$5}", "5"),
    (r"\boxed{50\%}", "50"),
    (r"\boxed{\{2, 1\}}", r"\{1, 2\}"),
    (r"first \boxed{3}, no: \boxed{4.}", "4"),
    (r"<think>\boxed{1}</think><answer>1/2</answer>", r"\frac12"),
    (r"\boxed{\text{Tuesday}}", "Tuesday"),
    (
        r"\boxed{\begin{pmatrix} 1 \\ 2 \end{pmatrix}}",
        r"\begin{pmatrix} 1 \\ \frac42 \end{pmatrix}",
    ),
]
WRONG = [
    ("", "42"),
    ("I do not know", "42"),
    (r"\boxed{41}", "42"),
    (r"\boxed{42}, or rather \boxed{41}", "42"),
    (r"\boxed{41 or 42}", "42"),
    (r"\boxed{41, 42}", "42"),
    (r"\boxed{\{x \mid x = x\}}", "42"),
    (r"\boxed{(-\infty, \infty)}", "42"),
    (r"\boxed{x}", "42"),
    (r"\boxed{\infty - \infty}", "42"),
    (r"\boxed{\frac{0}{0}}", "42"),
    (r"\boxed{" + "4" * 2000 + "}", "42"),
    (r"\boxed{__import__('os')._exit(0)}", "42"),
    ("__import__('os')._exit(0)", "42"),
    (r"\boxed{\text{__import__('sys').exit(0)}}", "42"),
    (r"\boxed{exec(open('expected').read())}", "42"),
    ("\\boxed{\x00\ud800}", "42"),
]
SLOW = [(r"\boxed{9^{9^{9^9}}}", "7"), (r"\boxed{3}", "3")]


async def rewards_of(server: LocalServer, pairs: list[tuple[str, object]], **more):
    reward = math_reward(server.target, name="math")
    return await reward(
        prompts=["?"] * len(pairs),
        completions=[completion for completion, _ in pairs],
        answer=[reference for _, reference in pairs],
        **more,
    )


async def test_equal_answers_are_right_however_they_are_written(math_server):
    found = await rewards_of(math_server, RIGHT)
    assert dict(zip(RIGHT, found, strict=True)) == dict.fromkeys(RIGHT, 1.0)


async def test_other_answers_are_wrong_and_so_are_attempts_at_the_parser(math_server):
    found = await rewards_of(math_server, WRONG)
    assert dict(zip(WRONG, found, strict=True)) == dict.fromkeys(WRONG, 0.0)


async def test_an_answer_on_which_sympy_hangs_is_wrong_and_not_left_out(math_server):
    assert await rewards_of(math_server, SLOW) == [0.0, 1.0]


async def test_a_chat_is_judged_and_any_of_several_references_is_right(math_server):
    reward = math_reward(math_server.target)
    chat = [{"role": "assistant", "content": r"\boxed{3}"}]
    found = await reward(
        prompts=["?"] * 2, completions=[chat, chat], references=[["2", "3"], ["4"]]
    )
    assert found == [1.0, 0.0]


async def test_a_row_without_a_reference_or_with_a_senseless_one_has_no_reward(math_server):
    pairs = [(r"\boxed{3}", None), (r"\boxed{3}", ""), (r"\boxed{3}", "$"), (r"\boxed{3}", "3")]
    assert await rewards_of(math_server, pairs) == [None, None, None, 1.0]


async def test_rows_of_other_kinds_spend_no_failure_budget(math_server):
    reward = math_reward(math_server.target, failure_budget=1)
    for _ in range(2):
        assert await reward(prompts=["?"], completions=["x"], answer=[None]) == [None]


async def test_a_data_set_without_references_stops_training_at_once(math_server):
    reward = math_reward(math_server.target, name="math")
    with pytest.raises(RewardLostError, match="math row: answer: is absent"):
        await reward(prompts=["?"], completions=["3"])


async def test_equal_answers_to_one_question_are_executed_once(math_server):
    metrics: dict[str, float] = {}
    pairs = [(rf"Thought {number}: \boxed{{7}}", "8") for number in range(8)]
    found = await rewards_of(math_server, pairs, log_metric=metrics.__setitem__)
    assert found == [0.0] * 8
    assert metrics["math/deduplicated"] == 7 / 8


async def test_the_failing_test_tells_answer_and_reference(math_server):
    columns: dict[str, list] = {}
    pairs = [(r"\boxed{41}", "42")]
    await rewards_of(math_server, pairs, log_extra=columns.__setitem__)
    assert "'41' is not '\\\\boxed{42}'" in columns["math_failing_test"][0]
    assert columns["math_integrity"] == ["ISOLATED"]


async def test_a_sandbox_without_math_verify_stops_training_at_once_and_says_what_is_missing(
    lasting_server,
):
    columns: dict[str, list] = {}
    with pytest.raises(RewardLostError, match="the sandbox lacks math-verify"):
        await rewards_of(lasting_server, RIGHT[:2], log_extra=columns.__setitem__)
    assert columns["math_verdict"] == ["UNJUDGED"] * 2


async def test_a_server_that_is_too_slow_for_a_right_answer_finds_nothing_wrong(math_server):
    limits = pb.ScoreRequest(limits=pb.Limits(cpu_time_seconds=0.01))
    reward = math_reward(math_server.target, defaults=limits)
    with pytest.raises(RewardLostError, match="the server cannot judge mathematics"):
        await reward(prompts=["?"], completions=[r"\boxed{3}"], answer=["3"])


async def test_a_server_that_is_away_costs_rewards_until_it_is_back(server):
    reward = math_reward(server.target, outage_seconds=0.2)
    server.kill()
    assert await reward(prompts=["?"], completions=["3"], answer=["3"]) == [None]


# ------------------------------------------------------- an answer that has taken over the parser

TAKEN_OVER = {
    "it leaves with a good status": "raise SystemExit(0)",
    "it leaves at once": "import os; os._exit(0)",
    "it claims nothing": "print('{}')",
    "it claims no JSON": "print('accepted')",
    "it claims what the references look like": "print('[\"boxed{42}\"]')",
    "it has looked for the references": (
        "import os\nfor folder in ('.', '..', '/tmp', '/work', '/proc/self/fd', '/dev/shm'):\n"
        "    for path in os.listdir(folder) if os.path.isdir(folder) else ():\n"
        "        if path in ('input', 'expected'): print(open(f'{folder}/{path}').read())"
    ),
    "a name that is Python": (
        r"""print('{"tree": ["Symbol", "__import__(\'os\')._exit(0)", true]}')"""
    ),
    "a function that is Python": (
        r"""print('{"tree": ["Apply", "eval", ["Symbol", "exit(0)", true]]}')"""
    ),
    "a class that is no expression": r"""print('{"tree": ["sympify", "exit(0)"]}')""",
    "text where an expression belongs": r"""print('{"tree": ["Add", "exit(0)", "42"]}')""",
    "text where a number belongs": r"""print('{"tree": ["Integer", "exit(0)"]}')""",
    "a number that is nothing": r"""print('{"tree": ["Rational", "0", "0"]}')""",
    "nan": r"""print('{"tree": ["Float", "nan"]}')""",
    "JSON without end": "print('[' * 60000)",
    "more than is read": f"print('x' * {CLAIM_BYTES + 1})",
    "a tree without end": """
print('{"tree": ' + '["Abs", ' * 5000 + '["Integer", "42"]' + ']' * 5000 + '}')""",
    "a power without end": """
tree = '["Integer", "9"]'
for _ in range(6): tree = '["Pow", ["Integer", "9"], ' + tree + ']'
print('{"tree": ' + tree + '}')""",
    "every answer at once": """
numbers = ', '.join('["Integer", "%d"]' % number for number in range(100))
print('{"tree": ["FiniteSet", ' + numbers + ']}')""",
    "references as the text": r"""print('{"text": ["42"]}')""",
}


async def judged(server: LocalServer, program: str, reference: str) -> Score:
    """Judges a program that stands where ours reads the answer."""
    template = MathTemplates(name="math", program=_program())({"answer": reference})
    assert template is not None
    request = template.fill("")
    request.completion = program
    async with AsyncRewardClient(server.target) as client:
        [found] = await client.score([request])
    return found


@pytest.mark.promise(
    "Code that takes over the parser of mathematical answers earns nothing.", "Verdicts"
)
@pytest.mark.parametrize("program", TAKEN_OVER.values(), ids=TAKEN_OVER)
async def test_code_in_place_of_the_parser_earns_nothing(math_server, program):
    found = await judged(math_server, program, "42")
    assert (found.reward, found.error) == (0.0, None)
    assert found.verdict is not Verdict.INVALID_TASK


async def test_code_in_place_of_the_parser_earns_what_it_knows(math_server):
    """The control of the test above: what those programs lack is the answer."""
    claim = json.dumps({"tree": ["Integer", "42"]})
    found = await judged(math_server, f"print({claim!r})", "42")
    assert found.reward == 1.0


def test_the_request_holds_the_reference_where_only_the_checker_reads_it():
    template = MathTemplates(name="math", program=_program())({"answer": "161803"})
    assert template is not None
    request = template.fill(r"\boxed{2}")
    assert request.stdio.cases[0].expected_stdout == b'["\\\\boxed{161803}"]'
    request.stdio.cases[0].expected_stdout = b""
    assert b"161803" not in request.SerializeToString()
