"""Rows whose solution is a piece of text that a test program inserts into another: DS-1000.

The piece runs in the solution's sandbox, and the test program in a sandbox of its own. `rows` reads
a row. `remote` and `values` are parts of the programs that run in the two sandboxes.
"""

from trainer_client.tasks.insertion.rows import ds1000

__all__ = ["ds1000"]
