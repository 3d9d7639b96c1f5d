"""Finds tests that cannot run apart from the solution.

The package of each language asks those that can occur in it; one that is found makes the task one
program.
"""
