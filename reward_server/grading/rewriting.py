"""Rewrites a test program so that its assertions become observations.

What this stops: a solution that is compiled into one program with its tests can end the program,
redefine what asserts, or return objects that are equal to everything; the exit status knows none
of this. Here each assertion *tells* what it found instead of ending the program: it writes one of
two fresh secret words, one for "holds" and one for "does not hold". Beside it stand twins, the
same comparison with another expected value; they must not hold. The order is random. Only the
server knows which word of each pair is the right one.

What it does not: a solution that reads its own program finds the words, but must guess which are
right: one in (1 + twins) for each assertion, one in two where there is only a condition to invert.
Where one literal is more plausible than its twins, or the prompt tells it, the guess is better.

Text that is not understood is left alone. Whether all of it was understood depends on the tests
alone, never on the solution.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from reward_server.grading.literals import Literal, others, read_literal
from reward_server.grading.tokens import (
    Kind,
    Token,
    Tokens,
    in_brackets,
    match_brackets,
    outermost,
    split,
    text_of,
    tokenize,
    trimmed,
)
from reward_server.languages.assertions import Assertions, Form

READ_CHARACTERS = 1 << 18
GUESS_BITS = 20.0
MOST_TWINS = 7
LARGEST_TOLERANCE = 0.02
TAG_DIGITS = WORD_DIGITS = 16
# Stand in a claim for the actual and the expected value and the secret; tests that have them are
# left alone.
_ACTUAL, _EXPECTED, _SECRET = "\0actual\0", "\0expected\0", "\0secret\0"
_LOOSER = frozenset(
    ("&&", "||", "?", ":", "=", "|", "&", "^", ",", ";", "=>", "->", "and", "or", "not", "is", "in")
)
_UNEQUAL = {"!=": ("==",), "!==": ("===",), "~=": ("==",), "/=": ("==",), "ne": ("eq",)}
_MEMBER = frozenset((".", "::", "->", "?."))
_POSTFIX = _MEMBER | {"!", "<", ">", "$", "@"}
_BRANCHING = frozenset(
    [
        "if",
        "else",
        "elif",
        "elsif",
        "elseif",
        "unless",
        "catch",
        "rescue",
        "except",
        "case",
        "switch",
        "when",
        "match",
        "default",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Two words, of which the program writes one: `held`, or `missed`."""

    held: str
    missed: str
    holds: bool  # what a right solution makes of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """An assertion of the tests that tells what it finds.

    Args:
        line: where it is in the tests, from 1.
        optional: whether a right solution may not come to it.
        observations: in the order in which it writes them; the first that `holds` is the
            assertion itself.
    """

    line: int
    optional: bool
    observations: tuple[Observation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What an assertion says.

    Args:
        condition: code; with places for the actual and the expected value where there are any.
        holds: whether the condition must hold, or must not.
        actual: code of the value that is compared.
        expected: what it is compared with.
    """

    condition: str
    holds: bool = True
    actual: str = ""
    expected: Literal | None = None

    @property
    def family(self) -> tuple[str, str]:
        """What claims have in common whose expected values can stand for each other."""
        return self.condition, self.actual.split("(")[0]

    def with_expected(self, name: str, text: str) -> str:
        """Returns the condition on a value of that name, with an expected value."""
        return self.condition.replace(_ACTUAL, name).replace(_EXPECTED, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """A place in the tests, and the claims made there.

    Args:
        start: where the text that is replaced begins.
        end: where it ends.
        covered: where the text ends that is understood.
        line: where it is in the tests, from 1.
        optional: whether a right solution may not come to it.
        in_expression: whether what is replaced is the condition of a statement.
        claims: what it says.
    """

    start: int
    end: int
    covered: int
    line: int
    optional: bool
    in_expression: bool
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """What was understood of a test program.

    Args:
        assertions: in the order of the text.
        whole: whether nothing else in the text seems to decide the outcome.
    """

    assertions: tuple[Assertion, ...]
    whole: bool

    @property
    def perturbs(self) -> bool:
        """Tells whether every assertion is watched, and there are any."""
        return self.whole and any(not one.optional for one in self.assertions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A test program that tells what its assertions find."""

    text: str
    sites: tuple[Site, ...]


def understand(tests: str, language: Assertions) -> Understanding:
    """Finds the assertions of a test program."""
    nothing = Understanding(assertions=(), whole=False)
    if len(tests) > READ_CHARACTERS or "\0" in tests:
        return nothing
    tokens = tokenize(tests, language)
    brackets = match_brackets(tokens)
    if brackets is None or brackets.unclosed:
        return nothing
    found = tuple(_Reader(tests, tokens, brackets.partners, language).assertions())
    rest = _between(tokens, found)
    return Understanding(assertions=found, whole=language.residue.search(rest) is None)


def opened_for(tests: str, solution: str, language: Assertions) -> str:
    """Takes as many closing braces from a solution's end as the tests bring along.

    The tests of some data sets begin with what ends the function, or the class, of the prompt.
    """
    brackets = match_brackets(tokenize(tests, language))
    wanted = len(brackets.unopened) if brackets else 0
    if not wanted or len(solution) > READ_CHARACTERS:
        return solution
    tokens = tokenize(solution, language)
    own = match_brackets(tokens)
    if own is None or own.unopened or own.unclosed:
        return solution
    closing = [token.start for token in tokens if token.text == "}"][-wanted:]
    for start in reversed(closing):
        solution = f"{solution[:start]} {solution[start + 1 :]}"
    return solution


def rewrite(
    tests: str,
    understanding: Understanding,
    language: Assertions,
    *,
    secret: str,
    tag: str,
    random: Random,
) -> Rewritten:
    """Rewrites a test program.

    Args:
        tests: the program.
        understanding: of it.
        language: what it is written in.
        secret: a fresh identifier, from which names are made.
        tag: fresh; every word begins with it.
        random: where the words and the order come from.
    """
    writer = _Writer(understanding, language, secret, tag, random)
    pieces, sites, last = [], list[Site](), 0
    for assertion in understanding.assertions:
        code, found = writer.write(assertion)
        lost = tests.count("\n", assertion.start, assertion.end) - code.count("\n")
        pieces += [tests[last : assertion.start], code, "\n" * lost]
        sites += found
        last = assertion.end
    return Rewritten(text="".join((*pieces, tests[last:])), sites=tuple(sites))


def _between(tokens: Tokens, assertions: Sequence[Assertion]) -> str:
    """Returns the code outside the assertions, without what its strings and comments say."""
    regions = iter(assertions)
    region = next(regions, None)
    kept = []
    for token in tokens:
        while region is not None and region.covered <= token.start:
            region = next(regions, None)
        if region is not None and region.start <= token.start:
            continue
        quoted = token.kind in (Kind.STRING, Kind.CHAR)
        kept.append('""' if quoted else " " if token.kind is Kind.COMMENT else token.text)
    return "".join(kept)


# --------------------------------------------------------------------------------- reading


class _Reader:
    """Finds the assertions in a program that was cut into tokens."""

    def __init__(
        self, text: str, tokens: Tokens, partners: Mapping[int, int], language: Assertions
    ) -> None:
        self._text = text
        self._tokens = tokens
        self._partners = partners
        self._language = language
        self._index_at = {token.start: index for index, token in enumerate(tokens)}
        self._branches = _Branches()

    def assertions(self) -> Iterator[Assertion]:
        end, last = 0, ""
        for index, token in enumerate(self._tokens):
            self._branches.pass_by(token)
            if token.is_blank:
                continue
            begins = token.start >= end and token.kind is Kind.WORD
            if begins and last not in _MEMBER and (assertion := self._assertion_at(index)):
                end = assertion.covered
                yield assertion
            last = token.text

    def _assertion_at(self, index: int) -> Assertion | None:
        for form in self._language.forms:
            head = form.head.match(self._text, self._tokens[index].start)
            if head is not None and (found := self._read(form, head)):
                return found
        return None

    def _read(self, form: Form, head: re.Match[str]) -> Assertion | None:
        inside = self._inside(form, head)
        if inside is None:
            return None
        content, end = inside
        call = head[0].rstrip("([{ \t\n")
        claims = _claims(form, call, content, self._language)
        followed = self._after(form, head, end)
        if not claims or followed is None:
            return None
        alone = form.kind == "failure"
        start = content[0].start if alone else head.start()
        return Assertion(
            start=start,
            end=content[-1].end if alone else followed,
            covered=followed,
            line=self._text.count("\n", 0, head.start()) + 1,
            optional=self._branches.around,
            in_expression=alone,
            claims=claims,
        )

    def _inside(self, form: Form, head: re.Match[str]) -> tuple[Tokens, int] | None:
        """Returns what an assertion holds, and where it ends."""
        last = head.end() - 1
        first = self._index_at.get(last, -1)
        if first in self._partners:
            close = self._partners[first]
            return trimmed(self._tokens[first + 1 : close]), self._tokens[close].end
        begin = self._index_at.get(head.end())
        if begin is None:
            return None
        return self._statement(form, begin)

    def _statement(self, form: Form, begin: int) -> tuple[Tokens, int] | None:
        by_line = form.until == "line"
        depth = 0
        for index, token in enumerate(self._tokens[begin:], start=begin):
            depth += (token.kind is Kind.OPEN) - (token.kind is Kind.CLOSE)
            ends = "\n" in token.text if by_line else token.text == ";"
            if depth < 0 or (depth == 0 and ends):
                end = token.start if by_line or depth < 0 else token.end
                return trimmed(self._tokens[begin:index]), end
        return (trimmed(self._tokens[begin:]), len(self._text)) if by_line else None

    def _after(self, form: Form, head: re.Match[str], end: int) -> int | None:
        """Returns where the assertion ends, if what must follow it does."""
        name = head[1] if form.kind == "list" else ""
        following = re.compile(form.after.replace(r"\1", re.escape(name))).match(self._text, end)
        if following is None:
            return None
        if form.kind == "failure":
            return following.end()
        if form.kind != "list":
            ending = form.ends.match(self._text, end)
            return ending.end() if ending else end
        uses = [token for token in self._tokens if token.text == name and name]
        inside = [token for token in uses if head.start() <= token.start < following.end()]
        return following.end() if len(uses) == len(inside) else None


class _Branches:
    """Tells whether a place is within a branch, which need not be taken.

    A branch is what stands in braces behind such a word, on deeper lines behind a line with one,
    or on its own line.
    """

    def __init__(self) -> None:
        self._braces = [False]
        self._header: list[str] = []
        self._depth = 0  # of round and square brackets in the header
        self._header_ended = False
        self._line: list[str] = []
        self._column = 0
        self._lines_above: list[tuple[int, bool]] = []

    @property
    def around(self) -> bool:
        """Tells it of the place in front of the last token."""
        above = any(branches for _, branches in self._lines_above)
        return self._braces[-1] or above or _branches(self._line[:-1])

    def pass_by(self, token: Token) -> None:
        """Goes on by a token."""
        if token.kind is Kind.SPACE and "\n" in token.text:
            self._header_ended = self._depth <= 0
            self._end_line(len(token.text.rpartition("\n")[2]))
        if token.is_blank or token.kind in (Kind.STRING, Kind.CHAR):
            return
        if token.text in ("{", "}"):
            self._pass_brace(token.text)
        elif self._header_ended:
            self._header, self._depth = [], 0
        self._header_ended = token.text == ";"
        self._depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        self._header.append(token.text)
        self._line = [] if token.text in ("{", "}", ";") else [*self._line, token.text]

    def _pass_brace(self, brace: str) -> None:
        if brace == "{":
            self._braces.append(self._braces[-1] or _branches(self._header))
        elif len(self._braces) > 1:
            self._braces.pop()
        self._header, self._depth = [], 0

    def _end_line(self, column: int) -> None:
        if self._line:
            self._lines_above.append((self._column, _branches(self._line)))
        while self._lines_above and self._lines_above[-1][0] >= column:
            self._lines_above.pop()
        self._line, self._column = [], column


def _branches(words: Sequence[str]) -> bool:
    return any(word in _BRANCHING for word in words)


# --------------------------------------------------------------------------------- claims


def _claims(form: Form, call: str, content: Tokens, language: Assertions) -> tuple[Claim, ...]:
    """Reads what an assertion says; nothing if that is not understood."""
    if form.kind == "list":
        found = [_condition(piece, True, language) for piece in split(content, ",")]
    elif form.kind == "equal":
        found = [_equality(form, call, split(content, ","), language)]
    else:
        pieces = split(content, ",")
        condition = pieces[0] if pieces else ()
        if form.until == ";" and len(split(condition, ":")) == 2:
            condition = split(condition, ":")[0]  # assert CONDITION : MESSAGE
        found = [_condition(condition, form.kind == "condition", language)]
    return tuple(one for one in found if one) if all(found) else ()


def _equality(form: Form, call: str, values: list[Tokens], language: Assertions) -> Claim | None:
    if len(values) < 2:
        return None
    expected, actual = values[form.expected], values[1 - form.expected]
    template = form.predicate.replace("{call}", call).replace("{secret}", _SECRET)
    literal = read_literal(expected, language)
    if literal is None or not _computes(actual, language):
        if not (_computes(actual, language) or _computes(expected, language)):
            return None
        told = template.replace("{actual}", text_of(actual))
        return Claim(condition=told.replace("{expected}", text_of(expected)))
    told = template.replace("{actual}", _ACTUAL).replace("{expected}", _EXPECTED)
    return Claim(condition=told, actual=text_of(actual), expected=literal)


def _condition(tokens: Tokens, holds: bool, language: Assertions) -> Claim | None:
    tokens = _bare(tokens)
    if not _computes(tokens, language):
        return None
    inner = _negated(tokens)
    if inner is not None:
        return _condition(inner, not holds, language)
    return _comparison(tokens, holds, language) or Claim(condition=text_of(tokens), holds=holds)


def _bare(tokens: Tokens) -> Tokens:
    """Leaves out brackets around, and a message that C's `assert` is given as an operand."""
    while in_brackets(tokens) and tokens[0].text == "(" and len(split(tokens[1:-1], ",")) == 1:
        tokens = trimmed(tokens[1:-1])
    operands = split(tokens, "&&")
    if len(operands) == 2 and [token.kind for token in operands[1]] == [Kind.STRING]:
        return _bare(operands[0])
    return tokens


def _computes(tokens: Tokens, language: Assertions) -> bool:
    """Tells whether a value is more than a literal."""
    words = (token.text for token in tokens if token.kind is Kind.WORD)
    return any(word not in language.constants | language.opposites.keys() for word in words)


def _negated(tokens: Tokens) -> Tokens | None:
    """Returns what is negated as a whole."""
    operators = {token.text for _, token in outermost(tokens) if token.kind is Kind.MARK}
    words = {token.text for _, token in outermost(tokens[1:]) if token.kind is Kind.WORD}
    if tokens[0].text == "!" and operators <= _POSTFIX and not words & _LOOSER:
        return trimmed(tokens[1:])
    if tokens[0].text == "not" and not words & _LOOSER and not operators & {"=="}:
        return trimmed(tokens[1:])
    return None


def _comparison(tokens: Tokens, holds: bool, language: Assertions) -> Claim | None:
    """Reads a comparison of an actual with an expected value."""
    marks = [(index, token.text) for index, token in outermost(tokens)]
    if any(text in _LOOSER for _, text in marks):
        return None
    compares = [(i, text) for i, text in marks if text in language.equals or text in _UNEQUAL]
    if len(compares) == 1:
        return _operator(tokens, compares[0], holds, language)
    if not compares and holds:
        return (
            _call(tokens, language.comparers, language)
            or _method(tokens, language)
            or _distance(tokens, language)
        )
    return None


def _operator(
    tokens: Tokens, compares: tuple[int, str], holds: bool, language: Assertions
) -> Claim | None:
    index, operator = compares
    if operator in _UNEQUAL:
        operators = [one for one in _UNEQUAL[operator] if one in language.equals]
        if holds or not operators:
            return None
        operator, holds = operators[0], True
    if not holds:
        return None
    left, right = trimmed(tokens[:index]), trimmed(tokens[index + 1 :])
    expected = read_literal(right, language)
    if expected is not None and _computes(left, language):
        inner = _told_by(left, expected.text, language)
        if inner is not None:
            return replace(inner, condition=f"{inner.condition} {operator} {expected.text}")
        return _compared(text_of(left), expected, f"{_ACTUAL} {operator} {_EXPECTED}")
    expected = read_literal(left, language)
    if expected is not None and _computes(right, language):
        return _compared(text_of(right), expected, f"{_EXPECTED} {operator} {_ACTUAL}")
    return None


def _told_by(tokens: Tokens, answer: str, language: Assertions) -> Claim | None:
    """Reads `compare(actual, expected) == true` and `order(actual, expected) == 0`."""
    if answer == "0":
        return _call(tokens, language.orders, language)
    if answer.lower() != "true":
        return None
    return _call(tokens, language.comparers, language) or _method(tokens, language)


def _compared(actual: str, expected: Literal, condition: str) -> Claim:
    return Claim(condition=condition, actual=actual, expected=expected)


def _call(tokens: Tokens, names: re.Pattern[str], language: Assertions) -> Claim | None:
    """Reads `compare(actual, expected)`, of a function of such a name."""
    opening = next((i for i, token in enumerate(tokens) if token.kind is Kind.OPEN), None)
    if opening is None or not in_brackets(tokens[opening:]):
        return None
    name = text_of(tokens[:opening]).strip()
    values = split(tokens[opening + 1 : -1], ",")
    if names.fullmatch(name) is None or len(values) != 2:
        return None
    for actual, other, told in (
        (values[0], values[1], f"{name}({_ACTUAL}, {_EXPECTED})"),
        (values[1], values[0], f"{name}({_EXPECTED}, {_ACTUAL})"),
    ):
        expected = read_literal(other, language)
        if expected is not None and _computes(actual, language):
            return _compared(text_of(actual), expected, told)
    return None


def _method(tokens: Tokens, language: Assertions) -> Claim | None:
    """Reads `actual.equals(expected)`."""
    places = [i for i, token in outermost(tokens) if token.text in language.methods]
    if not places or places[-1] < 2 or not in_brackets(trimmed(tokens[places[-1] + 1 :])):
        return None
    name, actual = tokens[places[-1]].text, trimmed(tokens[: places[-1]])
    inside = trimmed(trimmed(tokens[places[-1] + 1 :])[1:-1])
    if actual[-1].text != ".":
        return None
    left = trimmed(actual[:-1])
    expected = read_literal(inside, language)
    if expected is not None and _computes(left, language):
        return _compared(text_of(left), expected, f"{_ACTUAL}.{name}({_EXPECTED})")
    expected = read_literal(left, language)
    if expected is not None and _computes(inside, language):
        return _compared(text_of(inside), expected, f"{_EXPECTED}.{name}({_ACTUAL})")
    return None


def _distance(tokens: Tokens, language: Assertions) -> Claim | None:
    """Reads `abs(actual - expected) < tolerance`."""
    orders = [(i, token.text) for i, token in outermost(tokens) if token.text in ("<", "<=")]
    if len(orders) != 1:
        return None
    index, order = orders[0]
    left, tolerance = trimmed(tokens[:index]), text_of(tokens[index + 1 :]).strip()
    opening = next((i for i, token in enumerate(left) if token.kind is Kind.OPEN), None)
    if opening is None or not in_brackets(left[opening:]) or not _is_small(tolerance):
        return None
    name = text_of(left[:opening]).strip()
    minus = [i for i, token in outermost(left[opening + 1 : -1]) if token.text == "-"]
    if name not in language.absolutes or not minus:
        return None
    inside = left[opening + 1 : -1]
    actual, other = trimmed(inside[: minus[-1]]), trimmed(inside[minus[-1] + 1 :])
    expected = read_literal(other, language)
    if expected is None or not actual or not _computes(actual, language):
        return None
    told = f"{name}({_ACTUAL} - {_EXPECTED}) {order} {tolerance}"
    return _compared(text_of(actual), expected, told)


def _is_small(text: str) -> bool:
    try:
        return 0.0 < float(text) <= LARGEST_TOLERANCE
    except ValueError:
        return False


# --------------------------------------------------------------------------------- writing


class _Writer:
    """Writes assertions anew."""

    def __init__(
        self,
        understanding: Understanding,
        language: Assertions,
        secret: str,
        tag: str,
        random: Random,
    ) -> None:
        self._language = language
        self._secret = secret
        self._name = language.name.replace("{secret}", secret)
        self._tag = tag
        self._random = random
        self._pool: dict[tuple[str, str], list[Literal]] = {}
        claims = [claim for one in understanding.assertions for claim in one.claims]
        for claim in claims:
            if claim.expected is not None:
                self._pool.setdefault(claim.family, []).append(claim.expected)
        self._twins = _twins_wanted(sum(map(len, self._pool.values())))

    def write(self, assertion: Assertion) -> tuple[str, list[Site]]:
        """Returns the code that stands for an assertion, and what it will tell."""
        pieces, sites = [], []
        for claim in assertion.claims:
            code, observations = self._observe(claim, assertion.in_expression)
            pieces.append(code)
            sites.append(
                Site(
                    line=assertion.line,
                    optional=assertion.optional,
                    observations=tuple(observations),
                )
            )
        return " ".join(pieces), sites

    def _observe(self, claim: Claim, in_expression: bool) -> tuple[str, list[Observation]]:
        language = self._language
        name = self._name
        expected = self._alternatives(claim)
        if not expected or (in_expression and not language.named_in_expressions):
            plain = claim.condition.replace(_ACTUAL, claim.actual)
            if claim.expected is not None:
                plain = plain.replace(_EXPECTED, claim.expected.text)
            code, observation = self._tell(*self._maybe_negated(plain, claim.holds))
            return self._put(language.nothing, code, in_expression), [observation]
        told = [self._tell(claim.with_expected(name, text), holds) for text, holds in expected]
        capture = language.capture.replace("{name}", name).replace("{actual}", claim.actual)
        code = language.separator.join(one for one, _ in told)
        return self._put(capture, code, in_expression), [one for _, one in told]

    def _put(self, capture: str, observations: str, in_expression: bool) -> str:
        language = self._language
        template = language.expression if in_expression else language.statement
        return _put_in(
            template,
            {"{capture}": capture, "{observations}": observations, "{secret}": self._secret},
        )

    def _alternatives(self, claim: Claim) -> list[tuple[str, bool]]:
        """Returns expected values in random order, and whether each is the right one."""
        if claim.expected is None:
            return []
        pool = self._pool[claim.family]
        twins = others(claim.expected, pool, self._twins, self._language, self._random)
        if not twins:
            return []
        found = [(claim.expected.text, True), *((twin, False) for twin in twins)]
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
                "{predicate}": predicate.replace(_SECRET, self._secret),
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
    """Returns how many twins each expected value needs, so that all cannot be guessed."""
    for twins in range(1, MOST_TWINS):
        if count * math.log2(1 + twins) >= GUESS_BITS:
            return twins
    return MOST_TWINS
