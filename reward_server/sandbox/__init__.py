"""What confines a job.

Each slot has two control groups, side by side, on v1 in each hierarchy, on v2 in one tree:

    ...<slot>.supervisor    bubblewrap, the zygote, the fork server and the judge; a generous limit
    ...<slot>.candidate     the candidate and its descendants alone: `Limits` apply here, and the
                            zygote reads the usage here

The launcher enters the first before it starts bubblewrap; each candidate enters the second by
writing 0 to descriptors of its `cgroup.procs` files, which the launcher inherits open. So what the
judge uses is never charged to the candidate, and a candidate that runs out of memory or processes
takes neither the zygote nor the judge with it.
"""
