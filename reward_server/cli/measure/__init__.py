"""What `reward-server bench` measures, each thing in a module.

tasks         data-set rows as requests, no two of them identical
baseline      the least that judging can cost: fork a warm interpreter, exec, wait
bare          drives `baseline`
served        a server in a process of its own, and the CPU time of its process tree
load          requests sent as fast as answered, or by more at once than can be served
phases        the measurements, made of all these
"""
