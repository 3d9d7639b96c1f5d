"""The measurements of `make bench`, one kind in each module.

tasks         data-set rows as requests, all of them different
baseline      the lower bound of the cost of judging: fork a warm interpreter, exec, wait
bare          drives `baseline`
served        a server in its own process, and the CPU time of its process tree
load          requests sent as fast as they are answered, or more at once than can be served
phases        the measurements, composed of all these
"""
