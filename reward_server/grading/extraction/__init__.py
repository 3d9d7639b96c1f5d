"""Takes the program out of a completion."""
