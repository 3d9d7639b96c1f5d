"""Objects that the tests hand to the solution, and the operations that the solution may request."""
