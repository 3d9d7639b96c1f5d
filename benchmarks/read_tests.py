"""How often a solution that reads its tests beside it, and solves nothing, meets a whole vector.

Each task of MBPP and HumanEval is put beside its solution. The reader sees each assertion's text,
and takes it for true if relations hold between its arguments and its expected value: of all those
below, the ones that hold for every assertion of the true tests (which a model may have learned).
Prints in how many tasks the best relation alone, and all of them together, tell every true
assertion from every wrong one, in at least 90 %, and at least 8 %, of the tries.

    python -m benchmarks.read_tests [--every 4] [--tries 4]
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import json
import lzma
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from reward_server.domain import FunctionTests, Integrity, Placement
from reward_server.evaluation.units import Plan, plan
from reward_server.grading.function_files import function_file
from reward_server.grading.twins import Twins
from reward_server.grading.vectors import schedule
from trainer_client import tasks

DATA = Path(__file__).parents[1] / "tests" / "data"
Relation = Callable[[list[object], object], object]


@dataclass(frozen=True, slots=True)
class Site:
    """An assertion: its text, the arguments of the call in it, and what it expects."""

    text: str
    arguments: list[object]
    expected: object


def flat(value: object) -> list[object]:
    """Returns the atoms of nested data."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return [atom for part in value for atom in flat(part)]
    if isinstance(value, dict):
        return [atom for pair in value.items() for atom in flat(pair)]
    return [value]


def counted(value: object) -> Counter[str]:
    """Returns how often each atom is in a value."""
    return Counter(map(repr, flat(value)))


def letters(value: object) -> Counter[str]:
    """Returns how often each letter and digit is in a value's text."""
    return Counter(one for one in str(value).lower() if one.isalnum())


def words(value: object) -> set[str]:
    """Returns the words and numbers in a value's texts."""
    return {word for atom in flat(value) for word in re.findall(r"[A-Za-z]+|\d+", str(atom))}


def follows(part: object, whole: object) -> bool:
    """Returns True if one sequence is left when elements of the other are dropped."""
    rest = iter(whole)  # type: ignore[call-overload]  # what cannot be gone through raises
    return all(one in rest for one in part)  # type: ignore[attr-defined]  # likewise


def in_order(value: object) -> bool:
    """Returns True if a sequence goes up or down."""
    atoms = list(value)  # type: ignore[call-overload]  # likewise
    return atoms in (sorted(atoms), sorted(atoms, reverse=True))


def numbers(value: object) -> list[float]:
    """Returns the numbers in a value."""
    return [one for one in flat(value) if isinstance(one, (int, float))]


RELATIONS: Mapping[str, Relation] = {
    "elements of the first argument": lambda a, e: counted(e) == counted(a[0]),
    "elements of all arguments": lambda a, e: counted(e) == counted(a),
    "some elements": lambda a, e: flat(e) and not counted(e) - counted(a),
    "known elements": lambda a, e: flat(e) and {*counted(e)} <= {*counted(a)},
    "all elements of the first": lambda a, e: {*counted(a[0])} <= {*counted(e)},
    "one element": lambda a, e: not isinstance(e, (list, tuple, dict)) and repr(e) in counted(a),
    "different elements": lambda a, e: len({*flat(e)}) == len(flat(e)),
    "in order": lambda a, e: in_order(e),
    "letters of the first": lambda a, e: letters(e) == letters(a[0]),
    "some letters": lambda a, e: isinstance(e, str) and e and not letters(e) - letters(a),
    "known letters": lambda a, e: isinstance(e, str) and {*letters(e)} <= {*letters(a)},
    "all letters of the first": lambda a, e: isinstance(e, str) and not letters(a[0]) - letters(e),
    "digits": lambda a, e: not letters(e) - letters(a),
    "words": lambda a, e: words(e) and words(e) <= words(a),
    "what is left": lambda a, e: follows(e, a[0]),
    "a part of the text": lambda a, e: isinstance(e, str) and e in str(a[0]),
    "an end": lambda a, e: str(a[0]).startswith(str(e)) or str(a[0]).endswith(str(e)),
    "the same length": lambda a, e: len(e) == len(a[0]),  # type: ignore[arg-type]
    "no more than the length": lambda a, e: 0 <= e <= len(a[0]),  # type: ignore[operator,arg-type]
    "the same kind": lambda a, e: type(e) is type(a[0]),
    "no more than the greatest": lambda a, e: e <= max(numbers(a)),  # type: ignore[operator]
    "between": lambda a, e: min(numbers(a)) <= e <= max(numbers(a)),  # type: ignore[operator]
    "a divisor": lambda a, e: all(one % e == 0 for one in numbers(a)),  # type: ignore[operator]
    "a multiple": lambda a, e: all(e % one == 0 for one in numbers(a)),  # type: ignore[operator]
    "the same parity": lambda a, e: not isinstance(e, bool) and e % 2 == numbers(a)[0] % 2,  # type: ignore[operator]
    "even": lambda a, e: e % 2 == 0,  # type: ignore[operator]
    "a square": lambda a, e: int(e**0.5 + 0.5) ** 2 == e,  # type: ignore[operator]
    "but for the sign": lambda a, e: abs(e) in map(abs, numbers(a)),  # type: ignore[arg-type]
    "rounded": lambda a, e: any(abs(e - one) < 1 for one in numbers(a)),  # type: ignore[operator]
    "no less than nothing": lambda a, e: all(one >= 0 for one in numbers(e)),
    "whole numbers": lambda a, e: all(one == int(one) for one in numbers(e)),
    "no text in capitals": lambda a, e: isinstance(e, str) and e == e.lower(),
    "words of a language": lambda a, e: isinstance(e, str) and not re.search("[^ a-zA-Z]", e),
}


def holds(name: str, site: Site) -> bool:
    """Returns True if a relation holds; of what it does not fit, it does not."""
    with suppress(Exception):
        return bool(RELATIONS[name](site.arguments, site.expected))
    return False


def sites(text: str) -> list[Site]:
    """Returns the assertions of a file, in the order of its text."""
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assert)]
    return [_site(node.test) for node in sorted(found, key=lambda node: node.lineno)]


def _site(test: ast.expr) -> Site:
    arguments, expected = list[object](), object()
    for node in ast.walk(test):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            with suppress(ValueError):
                arguments = [ast.literal_eval(one) for one in node.args] or arguments
    if isinstance(test, ast.Compare):
        with suppress(ValueError):
            expected = ast.literal_eval(test.comparators[0])
    return Site(ast.dump(test), arguments, expected)


def survivors(
    twins: Twins, known: Sequence[str], true: list[Site], seed: int
) -> tuple[set[str], bool]:
    """Returns the relations that meet one vector by themselves, and whether all together do."""
    draw, alone, together = random.Random(seed), {*known}, True
    for change in schedule(twins.weights, draw):
        ((_, text),) = twins.perturbed_files(change, draw)
        for one, other in zip(sites(text), true, strict=True):
            if one.text != other.text:
                fitting = {name for name in known if holds(name, one)}
                alone -= fitting
                together &= fitting != {*known}
    return alone, together and bool(known)


def rates(told: Plan, tries: int) -> tuple[float, float]:
    """Returns how often the best relation alone, and all together, meet the vector of a task."""
    twins = told.twins
    assert twins is not None
    ((_, text),) = twins.true_files()
    true = sites(text)
    known = [name for name in RELATIONS if all(holds(name, one) for one in true)]
    alone, together = Counter[str](), 0
    for seed in range(tries):
        met, all_met = survivors(twins, known, true, seed)
        alone.update(met)
        together += all_met
    return max(alone.values(), default=0) / tries, together / tries


def functions(every: int) -> Iterator[tuple[str, FunctionTests, str]]:
    """Gives the tests and prompts of each data set's tasks."""
    mbpp = json.loads(lzma.decompress((DATA / "mbpp_sanitized.json.xz").read_bytes()))
    lines = lzma.decompress((DATA / "HumanEval.jsonl.xz").read_bytes()).splitlines()
    humaneval = [json.loads(line) for line in lines if line.strip()]
    for name, read, rows in (("mbpp", tasks.mbpp, mbpp), ("humaneval", tasks.humaneval, humaneval)):
        for row in rows[::every]:
            request = read(row)
            told = request.function
            tests = FunctionTests(
                entry_point=told.entry_point,
                test_code=told.test_code,
                asserts=tuple(told.asserts),
                setup_code=told.setup_code,
                placement=Placement.BESIDE,
            )
            yield name, tests, request.prompt


async def main() -> None:
    """Prints a line for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="of how many tasks one is taken")
    parser.add_argument("--tries", type=int, default=4, help="vectors of each task")
    told = parser.parse_args()
    labels, found = dict[str, Counter[str]](), dict[str, list[tuple[float, float]]]()
    for name, tests, prompt in functions(told.every):
        file = function_file(tests, prompt)
        known = await plan(file.tests, prompt, ("they are measured",)) if file else None
        label = known.integrity.name if known else "not read"
        labels.setdefault(name, Counter())[label] += 1
        if known is not None and known.integrity is Integrity.SHARED_TWINS:
            found.setdefault(name, []).append(rates(known, told.tries))
    for name, counts in labels.items():
        best, together = zip(*found[name], strict=True)
        print(f"{name}: {dict(counts)}")
        for reader, shares in (("best relation", best), ("all relations", together)):
            often = [sum(share >= least for share in shares) for least in (0.9, 0.08)]
            mean = 100 * sum(shares) / len(shares)
            print(f"  {reader}: {often[0]} tasks >= 90 %, {often[1]} >= 8 %, mean {mean:.1f} %")


if __name__ == "__main__":
    asyncio.run(main())
