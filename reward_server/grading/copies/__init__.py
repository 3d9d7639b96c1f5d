"""Perturbed copies of tests that run in one process with the solution."""
