"""Example programs that show complete uses of the client."""
