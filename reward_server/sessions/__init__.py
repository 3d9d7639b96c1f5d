"""Sessions: who may open one, how long it lives, and which quotas and limits count it."""
