"""CPU time of verdicts on programs that are compiled, and of the steps of a compilation."""
