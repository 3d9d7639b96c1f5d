"""The untrusted process: it runs the program, or serves its functions to the judge.

Nothing that a module here says is believed.
"""
