"""The parts of `reward-server audit` that open connections, print and write files."""
