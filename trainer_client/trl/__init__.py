"""`reward-train`: GRPO with TRL on coding tasks, with rewards of a reward server."""
