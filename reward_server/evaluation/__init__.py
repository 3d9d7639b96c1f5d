"""Turns a submission into executions, their results into a verdict, and that into a reward.

evaluate        judges a submission, from its text to its assessment
graders         which executions each kind of tests takes, and what they prove
budget          bounds the time that all executions of a submission take together
deduplication   executes identical submissions once, and repeats the answer to a known id
language_check  checks that a language works, with its probe programs
assessment      builds the answer from what the executions found
"""

from reward_server.evaluation.evaluate import Evaluation

__all__ = ["Evaluation"]
