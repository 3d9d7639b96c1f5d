"""The untrusted process: it runs the program, or lets the judge call its functions.

The judge trusts no message of these modules except READY.
"""
