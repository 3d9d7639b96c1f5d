"""Which executions each kind of tests takes, and what their outcomes say."""
