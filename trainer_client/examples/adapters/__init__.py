"""What each trainer's own code gets from its adapter: a right, a wrong and an unknown task.

    python -m trainer_client.examples.adapters.verl

Each needs its trainer's package, and prints one JSON object. The reward server is the one that
CODEREWARD_TARGET names, or one that the example starts.
"""
