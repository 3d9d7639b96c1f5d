"""What another grader rewarded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True)
class GraderResult:
    """What a grader rewarded.

    Args:
        url: its address, without credentials.
        tasks: number of tasks that it was given.
        references: number of reference solutions that it rewarded; only their tasks count below.
        unanswered: number of requests without an answer that could be read.
        problem: the first of those problems.
        cheats: for each cheat, the number of tasks on which it was rewarded, and on which it was
            tried.
    """

    url: str
    tasks: int = 0
    references: int = 0
    unanswered: int = 0
    problem: str = ""
    cheats: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def fooled_by(self) -> list[str]:
        """Names of the answers that were rewarded at least once."""
        return [name for name, (paid, _) in self.cheats.items() if paid]

    @property
    def summary(self) -> str:
        """One sentence for people."""
        told = (
            f"It rewards {self.references} of {self.tasks} reference solutions, and "
            f"{len(self.fooled_by)} of {len(self.cheats)} answers that solve nothing."
        )
        if self.unanswered:
            told += f" {self.unanswered} requests had no answer: {self.problem}."
        return told

    def count(self, name: str, *, is_paid: bool) -> None:
        """Counts an answer that solves nothing."""
        paid, tried = self.cheats.get(name, (0, 0))
        self.cheats[name] = (paid + is_paid, tried + 1)

    def document(self) -> dict[str, Any]:
        """Returns the result for programs."""
        return {
            "url": self.url,
            "tasks": self.tasks,
            "references_rewarded": self.references,
            "unanswered": self.unanswered,
            "problem": self.problem,
            "fooled_by": self.fooled_by,
            "cheats": {
                name: {"rewarded": paid, "tried": tried}
                for name, (paid, tried) in self.cheats.items()
            },
        }
