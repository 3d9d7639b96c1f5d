"""What confines a job.

The control groups of one slot, on v1 in each hierarchy, on v2 in one tree:

    codereward-<owner>-<slot>/
        supervisor/    bubblewrap, the zygote and the judge; a generous limit of its own
        candidate/     the candidate and its descendants alone: `Limits` apply here, and the
                       meters that the zygote reads are opened here

The launcher enters `supervisor` before it starts bubblewrap; each candidate enters `candidate` by
writing 0 to descriptors of its `cgroup.procs` files, which the launcher inherits open. So what the
judge uses is never charged to the candidate, and a candidate that runs out of memory or processes
takes neither the zygote nor the judge with it.
"""
