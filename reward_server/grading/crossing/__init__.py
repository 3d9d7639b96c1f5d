"""What may cross between tests and solution, and how a task's text is checked for it."""

from __future__ import annotations

from reward_server.grading.crossing.crossing import (
    Solution,
    called_names,
    last_function,
    missing_package,
    parsed,
    refusal,
)

__all__ = ["Solution", "called_names", "last_function", "missing_package", "parsed", "refusal"]
