"""Programs that judge by one method, with a thread for each submission, as a user would write them.

Each program runs in a separate interpreter, so that the interpreter's CPU time and memory are those
of the method. Each module has `judging(options)`, which returns the function that judges and a
version. Imports are relative, because there this folder is imported as a separate package.
"""
