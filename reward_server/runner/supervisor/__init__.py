"""The trusted processes that fork and watch others: the zygote and the fork server of judges.

They handle numbers and never read the content of a test or a program.
"""
