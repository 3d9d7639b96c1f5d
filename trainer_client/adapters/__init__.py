"""What other trainers than TRL call, a module for each; see docs/how-to/adapters.md.

A module imports its trainer's package, if any, and nothing here imports the modules.
"""
