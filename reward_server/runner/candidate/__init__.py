"""The untrusted process: it runs the program, or serves its functions to the judge.

The judge trusts no message of these modules except READY.
"""
