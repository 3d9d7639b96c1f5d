"""Tools of agents: programs that run in sandboxes of a reward server, and what a model is told."""
