"""Rewrites a test program so that its assertions become observations.

What this stops: cheats that the exit status does not show. A solution in one program with its tests
can end the program, redefine the assertions, or return objects that are equal to everything. Here
each assertion *reports* its result and does not end the program: it writes one of two nonces
(random words), one for "holds" and one for "does not hold". Each assertion has twins: the same
comparison with another expected value, which must not hold. Their order is random. Only the server
knows which nonce of each pair is right.

What it does not stop: a solution that reads its own program finds the nonces. It can guess the
right ones better than by chance, since a true value looks more plausible than its twins. If the
solution's objects have an equality that ignores a part of the value, it may still distinguish the
twins as a right solution does. Other failures of a program, such as an exit status or a rejected
promise, write no nonce. So nothing is promised for tests that are one program with the solution:
they are always labelled SHARED, and twins only make cheating harder and more visible. In a program
that runs apart, only the tests can write the nonces.

Text that cannot be parsed is not changed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from reward_server.grading.compiled_tests.assertions import Assertion
from reward_server.grading.compiled_tests.decoys import others
from reward_server.grading.compiled_tests.parsed_assertions import SECRET, ParsedAssertion
from reward_server.languages.assertions import Assertions

GUESS_BITS = 20.0
MOST_TWINS = 7
TAG_DIGITS = WORD_DIGITS = 16
_LOT_BITS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Two words, one of which the program writes: `held` or `missed`."""

    held: str
    missed: str
    holds: bool  # whether it holds for a right solution


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """An assertion of the tests that reports what it finds.

    Args:
        line: its line in the tests, from 1.
        optional: whether a right solution may not reach it.
        idle: whether no solution reaches it, by the tests' text.
        observations: in the order in which the program writes them; the first that `holds` is the
            assertion itself.
    """

    line: int
    optional: bool
    idle: bool
    observations: tuple[Observation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A test program that reports the results of its assertions."""

    text: str
    sites: tuple[Site, ...]


def rewrite(
    tests: str,
    assertions: Sequence[Assertion],
    language: Assertions,
    *,
    secret: str,
    tag: str,
    random: Random,
    perturbed: bool = True,
) -> Rewritten:
    """Rewrites a test program.

    Args:
        tests: the program.
        assertions: the assertions that were found in it.
        language: the language of the program.
        secret: an identifier, new for each verdict, from which names are made.
        tag: the fresh tag with which every word begins.
        random: the source of the words and of the order.
        perturbed: whether assertions get twins; False if no solution can read or answer them.
    """
    writer = _Writer(assertions, language, secret, tag, random, perturbed=perturbed)
    pieces, sites, last = [], list[Site](), 0
    for assertion in assertions:
        code, found = writer.write(assertion)
        lost = tests.count("\n", assertion.start, assertion.end) - code.count("\n")
        pieces += [tests[last : assertion.start], code, "\n" * lost]
        sites += found
        last = assertion.end
    return Rewritten(text="".join((*pieces, tests[last:])), sites=tuple(sites))


def _has_name(parsed: ParsedAssertion, in_expression: bool, language: Assertions) -> bool:
    """Returns True if the actual value can get a name, or has one."""
    if not in_expression or language.named_in_expressions:
        return True
    return bool(language.alternatives) and parsed.actual.isidentifier()


class _Writer:
    """Writes the code that replaces assertions."""

    def __init__(
        self,
        assertions: Sequence[Assertion],
        language: Assertions,
        secret: str,
        tag: str,
        random: Random,
        *,
        perturbed: bool,
    ) -> None:
        self._language = language
        self._secret = secret
        self._name = language.name.replace("{secret}", secret)
        self._tag = tag
        self._random = random
        parsed = [found for one in assertions for found in one.parsed]
        values = {one.expected.text for one in parsed if one.expected is not None}
        self._twins = _twins_wanted(len(values)) if perturbed else 0
        self._lot = f"{random.getrandbits(_LOT_BITS):x}"

    def write(self, assertion: Assertion) -> tuple[str, list[Site]]:
        """Returns the code that replaces an assertion, and the reports that this code makes."""
        pieces, sites = [], []
        for parsed in assertion.parsed:
            code, observations = self._observe(parsed, assertion.in_expression)
            pieces.append(code)
            sites.append(
                Site(
                    line=assertion.line,
                    optional=assertion.optional,
                    idle=assertion.idle,
                    observations=tuple(observations),
                )
            )
        return " ".join(pieces), sites

    def _observe(
        self, parsed: ParsedAssertion, in_expression: bool
    ) -> tuple[str, list[Observation]]:
        language = self._language
        named = not in_expression or language.named_in_expressions
        has_name = _has_name(parsed, in_expression, language)
        expected = self._alternatives(parsed) if has_name else []
        if expected:
            actual = parsed.actual
            name = self._name if named else actual
            predicates = [(parsed.with_expected(name, text), own) for text, own in expected]
        elif has_name and named and language.immediate and parsed.expected is not None:
            actual = parsed.actual
            condition = parsed.with_expected(self._name, parsed.expected.text)
            predicates = [self._maybe_negated(condition, parsed.holds)]
        else:
            actual = parsed.whole
            condition = self._name if named else actual
            predicates = [self._maybe_negated(condition, parsed.holds)]
        told = [self._tell(predicate, holds) for predicate, holds in predicates]
        actual = actual.replace(SECRET, self._secret)
        capture = language.capture.replace("{name}", self._name).replace("{actual}", actual)
        separator = language.separator if named else language.alternatives
        code = separator.join(one for one, _ in told)
        return self._put(capture if named else "", code, in_expression), [one for _, one in told]

    def _put(self, capture: str, observations: str, in_expression: bool) -> str:
        language = self._language
        template = language.expression if in_expression else language.statement
        return _put_in(
            template,
            {"{capture}": capture, "{observations}": observations, "{secret}": self._secret},
        )

    def _alternatives(self, parsed: ParsedAssertion) -> list[tuple[str, bool]]:
        """Returns expected values in random order, and whether each is the right one."""
        if parsed.expected is None:
            return []
        if not self._twins:
            return [(parsed.expected.text, True)]
        twins = others(parsed.expected, self._twins, self._language, self._lot)
        if not twins:
            return []
        found = [(parsed.expected.text, True), *((twin, False) for twin in twins)]
        self._random.shuffle(found)
        return found

    def _maybe_negated(self, condition: str, holds: bool) -> tuple[str, bool]:
        if self._random.getrandbits(1):
            return condition, holds
        return self._language.negation.replace("{predicate}", condition), not holds

    def _tell(self, predicate: str, holds: bool) -> tuple[str, Observation]:
        held, missed = self._word(), self._word()
        code = _put_in(
            self._language.observation,
            {
                "{predicate}": predicate.replace(SECRET, self._secret),
                "{held}": held,
                "{missed}": missed,
                "{secret}": self._secret,
                "{name}": self._name,
            },
        )
        return code, Observation(held=held, missed=missed, holds=holds)

    def _word(self) -> str:
        return f"{self._tag}{self._random.getrandbits(4 * WORD_DIGITS):0{WORD_DIGITS}x}"


_PLACE = re.compile(r"\{(?:capture|observations|secret|predicate|held|missed|name)\}")


def _put_in(template: str, parts: dict[str, str]) -> str:
    return _PLACE.sub(lambda place: parts[place[0]], template)


def _twins_wanted(count: int) -> int:
    """Returns how many twins each value needs, so that nobody can guess all."""
    for twins in range(1, MOST_TWINS):
        if count * math.log2(1 + twins) >= GUESS_BITS:
            return twins
    return MOST_TWINS
