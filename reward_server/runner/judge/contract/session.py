"""The conversation with the solution: one question at a time, whose answers are data.

What this stops: a pass that an object of the solution, a value that numpy compares in another way,
or a change of an argument decided, without a word in the label.

Judge to candidate, and the answers that end the session; `answers` has the others:

    [operation, operands, rows]       see `channel.data` for values and rows

    ["large", problem]                the answer is too large to cross
    ["exit", text]                    the solution ended the program
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any

from ...channel.data import FRAMES_OF_A_VALUE, BadDataError, NotDataError
from ...channel.writing import Writer
from ..endings import Cause, SessionEnded
from ..line import Line
from .answers import Answers, Told
from .changes import BEFORE, Crossed, Recording
from .guard import GUARD
from .objects import Handle, is_member, original_of, reference_of
from .raised import Raised
from .statements import is_statement_of

_CALLS = ("call", "call_named")
_TRUTH = "bool"
_WATCHED = 64  # containers of earlier messages that are compared at each question


class Session:
    """Asks the solution.

    Args:
        line: the line to the candidate.
        load: sends the solution and waits until it is loaded; returns True if it is.
        calls: how many questions an execution may have.
        classes: names that the tests construct.

    Attributes:
        codes: the tests' own code.
        has_asked: whether the solution was asked anything.
        recording: what was asked.
    """

    def __init__(
        self, line: Line, load: Callable[[], bool], *, calls: int, classes: Sequence[str] = ()
    ) -> None:
        self.line, self._load = line, load
        self._calls_left = calls
        self._classes = frozenset(classes)
        self._made: set[int] = set()  # numbers of the objects that the tests constructed
        self._foreign: set[int] = set()  # numbers of other objects that were answered
        self._uses_foreign = False  # whether the question at hand names one of these
        self._linked: set[str] = set()  # attributes in which the tests put such objects
        self._answers = Answers(self._handle, math.nan)
        self._crossed = Crossed()
        self._test = BEFORE
        self._imported: dict[str, int] = {}  # names, by the first test that imports them
        self.codes: Sequence[CodeType] = ()
        self.has_asked = False
        self.recording = Recording()

    @property
    def loaded(self) -> bool:
        """Returns True if the solution is loaded."""
        return self.line.loaded

    @property
    def ended(self) -> SessionEnded | None:
        """Returns why the session is over, or None."""
        return self.line.ended

    @property
    def signals(self) -> dict[str, int]:
        """Returns what happened, by name."""
        return self.line.signals

    def take_records(self, records: Mapping[str, Any]) -> None:
        """Takes the prompt's classes whose objects cross as data."""
        self._answers.records = records

    # -------------------------------------------------------------------------------- tests

    def begin(self, test: int) -> None:
        """Begins a test, or what stands before all of them; ends the one before."""
        self.finish()
        self._crossed = Crossed()
        self._test = test
        self.recording.begin(test)
        if self.loaded:
            GUARD.watch()

    def finish(self) -> None:
        """Ends a test: nothing of the candidate may be left to hear."""
        GUARD.rest()
        self.recording.finish()
        if not self.recording.is_replay:
            self.line.finish()
            self._look_back()

    def ensure_loaded(self) -> bool:
        """Sends the solution, if it was not yet sent; returns True if it is loaded."""
        GUARD.rest()
        if not self.loaded and self.ended is None:
            if not self._load():
                self.line.end(Cause.CLOSED, "the solution did not load")
            GUARD.arm(self.codes)
        return self.loaded

    def replay(self) -> None:
        """Answers what follows from what was recorded; tests get no changes."""
        self.recording.replay()
        self._answers.raised = Raised()

    def lower(self, rule: str) -> None:
        """Lowers the label of this run."""
        if not self.recording.is_replay:
            self.line.count(f"lowered_{rule}")

    def tell_events(self) -> None:
        """Lowers the label for what the guard saw."""
        GUARD.rest()
        if GUARD.is_betrayed:
            self.line.count("judge_tampered")
            self.line.forged("an answer was run as code, or named a file")
        elif GUARD.events:
            self.lower("events")

    # ---------------------------------------------------------------------------- questions

    def named(self, name: str) -> Handle:
        """Returns the stand-in for a name of the solution."""
        return self._handle(["name", name], False)

    def imported(self, name: str) -> Handle:
        """Returns the stand-in for a name that tests import; `missing` tells if there is none."""
        self._imported.setdefault(name, self._test)
        return self.named(name)

    def missing(self) -> dict[str, int]:
        """Returns the imported names that the solution lacks, by the first test that imports them.

        It is asked when the tests have ended: before, tests that only import would load it. One
        that does not answer lacks all.
        """
        if self.ended is not None or not self.loaded or not self._imported:
            return {}
        GUARD.rest()
        with contextlib.suppress(SessionEnded):
            match self.line.exchange(json.dumps(["missing", [*self._imported], []])):
                case ["return", str(names), *_]:
                    lacking = names.split()
                    return {one: test for one, test in self._imported.items() if one in lacking}
            self.line.forged("no list of names")
        return dict(self._imported)

    def kind(self, name: str) -> type[Exception]:
        """Returns the class that stands for an exception of the solution."""
        return self._answers.raised.kind(self.ask("kind", self.named(name)))

    def value(self, name: str) -> object:
        """Returns what a name of the solution stands for, which is data."""
        return self.ask("value", self.named(name))

    def call(self, name: str, *given: object) -> str:
        """Returns the question that calls a function, which is to be asked later."""
        return self._written("call", (self.named(name), *given))[0]

    def ask(self, operation: str, *operands: object, caller: FrameType | None = None) -> Any:
        """Asks the solution, and returns what it answers.

        Args:
            operation: what is asked.
            operands: data, and objects of the solution.
            caller: the frame of the tests that calls something of the solution.

        Raises:
            SessionEnded: the session is over.
            Exception: the solution raised it.
        """
        GUARD.rest()
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + FRAMES_OF_A_VALUE)
        try:
            return self._asked(operation, operands, caller)
        finally:
            sys.setrecursionlimit(limit)
            GUARD.watch()

    def _asked(self, operation: str, operands: tuple[Any, ...], caller: FrameType | None) -> Any:
        if self.ended is not None or not self.ensure_loaded():
            raise self.line.end(Cause.CLOSED, "the solution did not load")
        self._uses_foreign = False
        try:
            question, writer = self._written(operation, operands)
        except (NotDataError, RecursionError) as error:
            self.line.count("no_data" if self.has_asked else "unsendable")
            problem = f"the tests hand over what is no data: {error}"
            raise self.line.end(Cause.CLOSED, problem) from None
        if "NaN" in question:
            self._answers.nan = _first_nan(operands) or self._answers.nan
        self._note(operation, operands)
        answer = self._answer_to(question)
        strips = self.recording.strips
        told = self._told(
            answer, self._answers.copies(writer.rows()) if strips else writer.containers
        )
        is_dropped = self._is_dropped(told, caller)
        if not self.recording.is_replay:
            self._hear(told)
            is_answered = told.error is not None or told.result is not None or not is_dropped
            self.recording.doubt(told.changed, is_answered=is_answered)
        if told.holds_object:
            self.lower("objects")
        if told.error is not None:
            raise told.error
        return self._greeted(told, operation, operands) if not is_dropped else None

    def _written(self, operation: str, operands: Sequence[Any]) -> tuple[str, Writer]:
        writer = Writer(self._refer, records=self._answers.records)
        asked = [writer.value(one) for one in operands]
        question = json.dumps([operation, asked, writer.rows()])
        if writer.hands_back:  # in one process the tests could use it further
            self.lower("objects")
        return question, writer

    def _is_dropped(self, told: Told, caller: FrameType | None) -> bool:
        """Returns True if nobody gets an answer, as far as it matters: reading code takes long."""
        matters = told.meets_object or told.changed or self.recording.has_changes
        return bool(matters) and caller is not None and is_statement_of(caller)

    def _note(self, operation: str, operands: Sequence[object]) -> None:
        """Lowers the label for a question that the contract does not list."""
        owner = operands[0] if operands else None
        asks_member = operation not in _CALLS and type(owner) is Handle and is_member(owner)
        if operation != _TRUTH and (asks_member or self._uses_foreign):
            self.lower("objects")
        if operation == "set" and type(operands[2]) is Handle:
            self._linked.add(str(operands[1]))

    def _greeted(self, told: Told, operation: str, operands: Sequence[Any]) -> object:
        """Returns an answer; it lowers the label if it is an object that the tests did not make.

        If it is nothing else but such an object, only its use does: that it is true is data.
        """
        result = told.result
        if not told.meets_object:
            return result
        if type(result) is not Handle:
            self.lower("objects")
            return result
        reference = reference_of(result)
        match operation, reference_of(operands[0]), reference:
            case (("call" | "call_named"), ["name", str(name)], ["object", int(number)]) if (
                name in self._classes
            ):
                self._made.add(number)
                return result
            case "get", _, ["object", int(number)]:
                if number in self._made and operands[1] in self._linked:
                    return result
                return self._handle(reference, True)
            case (("call" | "call_named"), _, ["object", int(number)]) if number not in self._made:
                self._foreign.add(number)
                return self._handle(reference, True)
        self.lower("objects")
        return self._handle(reference, True)

    def _answer_to(self, question: str) -> list[Any]:
        if self.recording.is_replay:
            return self.recording.replayed(question)
        self._look_back(_WATCHED)
        self._calls_left -= 1
        if self._calls_left < 0:
            raise self.line.end(Cause.CALLS, "the tests needed too many calls")
        answer = self.line.exchange(question)
        self.recording.keep(question, answer)
        self.has_asked = True
        return answer

    # ------------------------------------------------------------------------------ answers

    def _told(self, answer: list[Any], known: list[Any]) -> Told:
        match answer:
            case ["large", str(problem)]:
                raise self.line.end(Cause.RESULT, f"the program's result {problem[:200]}")
            case ["exit", str(text)]:
                raise self.line.end(Cause.CLOSED, f"the program ended itself: {text[:200]}")
        try:
            return self._answers.read(answer, known)
        except BadDataError as error:
            raise self.line.forged(str(error)) from None

    def _hear(self, told: Told) -> None:
        self._crossed.see(told.containers)
        GUARD.hear(told.texts)
        if told.has_cast:
            self.line.count("cast_down")
        if told.is_narrow:
            self.lower("narrow")

    def _look_back(self, most: int | None = None) -> None:
        """Lowers the label if the tests changed what crossed before.

        In one process the solution could see that, since it may hold what it was given.
        """
        if self._crossed.has_changed(most):
            self.lower("later_change")

    def _handle(self, reference: object, is_member: bool) -> Handle:
        return Handle(self, reference, is_member=is_member)

    def _refer(self, value: object) -> object:
        """Returns what stands for an object of the solution; nothing stands for anything else."""
        original = original_of(value)
        if original is None:
            raise NotDataError(f"{type(value).__name__}")
        reference = reference_of(original)
        match reference:
            case ["object", int(number)]:
                self._uses_foreign |= number in self._foreign
        return {"h": reference}


def _first_nan(values: Any) -> float | None:
    """Returns the tests' own object that is not a number, which answers then are, too."""
    if type(values) is float:
        return values if values != values else None
    if isinstance(values, (list, tuple, set)):
        return next((one for one in map(_first_nan, values) if one is not None), None)
    if type(values) is dict:
        return _first_nan([*values, *values.values()])
    return None
