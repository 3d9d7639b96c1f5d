"""Shows the rewards that each trainer's code gets from its adapter.

There are three samples: a right answer, a wrong answer, and an answer to an unknown task.

    python -m examples.adapters.verl

Each example needs its trainer's package, and prints one JSON object. CODEREWARD_TARGET names the
reward server; without it, the example starts one.
"""
