"""Sessions: who may open one, how long it lives, and what of it counts."""
