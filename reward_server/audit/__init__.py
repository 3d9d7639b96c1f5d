"""Examines tasks before a policy is trained on them: can they be solved, and can they be gamed?

    tasks           reads tasks and their reference solutions from lines of JSON
    texts           what the text of a task shows: examples, leaks, missing and reordered tests
    cheats          answers that solve nothing, and must earn nothing
    examination     judges references and cheats, and makes findings of the answers
    findings        the kinds of findings, and which of them drop a task
    output          the findings as JSON, as a page, and as a cleaned file of tasks
    other_graders   the same cheats as programs, for graders of other projects

Nothing here opens a connection: `reward_server/cli/audits` does.
"""
