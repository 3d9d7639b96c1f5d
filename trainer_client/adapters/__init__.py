"""Entry points for trainers other than TRL, one module for each; see docs/how-to/adapters.md.

Only the adapter of a trainer imports that trainer's package, and only if it needs it.
"""
