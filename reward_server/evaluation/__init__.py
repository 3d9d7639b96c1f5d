"""The use case: a submission becomes executions, their findings a verdict, the verdict a reward.

evaluate        the way of a submission, from its text to its assessment
graders         which executions each kind of tests takes, and what they prove
budget          the time that a submission's executions have together
deduplication   one execution for identical submissions, one answer for a repeated id
language_check  whether a language does what it should
assessment      the answer that is built from what the executions found
"""

from reward_server.evaluation.evaluate import Evaluation

__all__ = ["Evaluation"]
