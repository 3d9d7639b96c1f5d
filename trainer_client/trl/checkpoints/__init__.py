"""Models that a run starts from, and what a resumed run goes on from."""
