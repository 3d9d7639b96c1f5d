"""Programs that judge by one method, with a thread for each submission, as a user would write them.

They are started in an interpreter of their own, so that its CPU time and memory are the method's.
Each module has `judging(options)`, which returns the function that judges and a version. Imports
are relative, because the folder is imported as a package of its own there.
"""
