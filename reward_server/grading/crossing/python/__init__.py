"""Reads whether Python tests may run apart from the solution: one walk with scopes resolved.

What this stops: an ISOLATED label for tests that could do more than the contract says. Each node,
name and attribute of their text has to stand in the table (`allowed`); the first that does not is
the reason why the tests are SHARED.

What it does not do: it does not follow values through the tests. What a name may hold is the union
of all that its text binds to it, in a few coarse kinds (`kinds`). What the text leaves open, the
judge decides while it runs, and can only lower the label there.

`scopes`, `origins` and `kinds` each know more about names, `walk` asks the rules in `names`,
`values`, `calls` and `definitions`, and `texts` reads what a request holds. The table takes some
80 ms to be made, so that graders import `texts` when they read the first tests.
"""
