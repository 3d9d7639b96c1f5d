"""The use case: a submission becomes executions, their findings a verdict, the verdict a reward.

evaluate   the way of a submission, from its text to its assessment
graders    which executions each kind of tests takes
programs   programs compiled once, whatever the number of runs
trials     whether a language does what it should
outputs    how much of what programs wrote is kept
program_tests  test programs compiled with the solution
units      test files, and perturbed twins of those that live with the solution
stdio      programs run once a case, and checker programs
sharing    one execution for identical submissions, one answer for a repeated id
answers    the assessment built from what the executions came to
"""

from reward_server.evaluation.evaluate import Evaluation

__all__ = ["Evaluation"]
