"""Finds tests that cannot run apart from the solution.

The splitter of each language calls the rules that can apply to it. If one applies, tests and
solution are one program.
"""
