"""The verdicts of a build over every row at hand, kept so that a later build can be compared."""
