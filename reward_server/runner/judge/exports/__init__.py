"""Objects that the tests pass to the solution, and the operations on them that the solution may
request."""
