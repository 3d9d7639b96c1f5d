"""Shows the rewards that each trainer's code gets from its adapter.

The samples are a right, a wrong and an unknown task.

    python -m trainer_client.examples.adapters.verl

Each example needs its trainer's package, and prints one JSON object. CODEREWARD_TARGET names the
reward server; without it, the example starts one.
"""
