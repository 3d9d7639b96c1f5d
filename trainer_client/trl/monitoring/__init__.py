"""The output, the records and the warnings of a run."""
