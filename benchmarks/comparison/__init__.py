"""Compares this server with other ways to judge (peers): `python -m benchmarks.comparison`.

peer         what every peer offers: start, judge a program with its tests, stop, resources used
cases        right and wrong solutions of tasks, and attacks on graders
peers        the peers: this server, commands in a driver's process, services by URL
drivers      the programs that run commands; they import the standard library and one peer alone
processes    the memory of a process tree, and the process behind a port
turns        judges cases by one peer, with a number of them in flight
measuring    the whole comparison, in turns
figures      the results as one object for programs
printing     as tables
page         as a page, with the plots of `charts`
"""
