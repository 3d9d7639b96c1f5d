"""Which containers of the tests an object of the solution may hold, and change later."""
