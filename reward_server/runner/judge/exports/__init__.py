"""What the tests hand to the solution, and what the solution may do with it."""
