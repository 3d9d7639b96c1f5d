"""The sandboxes that confine jobs.

Each slot has two cgroups, side by side: on v1 in each hierarchy, on v2 in one tree.

    ...<slot>.supervisor    bubblewrap, the zygote, the fork server and the judge; a generous limit
    ...<slot>.candidate     only the candidate and its descendants: `Limits` apply here, and the
                            zygote reads the usage here

The launcher enters the first before it starts bubblewrap. Each candidate enters the second by
writing 0 to descriptors of its `cgroup.procs` files, which the launcher inherits open. So the
judge's usage is never charged to the candidate, and a candidate that runs out of memory or
processes harms neither the zygote nor the judge.
"""
