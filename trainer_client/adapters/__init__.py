"""Entry points for trainers other than TRL, one module for each; see docs/how-to/adapters.md.

A module imports its trainer's package, if it needs any, and no other module imports it.
"""
