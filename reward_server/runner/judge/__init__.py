"""The trusted process: it holds the tests and the expected values, and writes the report."""
