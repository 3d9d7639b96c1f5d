"""`reward-train`: GRPO with TRL on coding tasks, with rewards from a reward server."""
