"""The only code of ours inside a container. Standard library only; imports nothing else of ours.

Processes, all inside the container:

    zygote      a warm interpreter and the supervisor: forks a candidate per execution, has a judge
                forked when there is none, owns the clocks and the limits, reaps, reports. It
                handles numbers only: the bytes of a request or report pass through it
                kernel-side (splice, sendfile), so its memory, which every later candidate
                inherits by fork, never holds task data.
    fork server a second warm interpreter, from which judges are forked: its memory, which every
                judge inherits, lies where no candidate knows.
    candidate   untrusted: the program and one input at a time, in namespaces of its own.
    judge       trusted: reads the request (program, tests, expected values), hands the program
                to the candidate over a socket, drains its output, compares what it answers, and
                writes the report. In namespaces of its own; shares nothing with the candidate
                but that socket and the candidate's three standard streams. Serves on while
                nothing of what it ran can have stayed behind.

An execution of two programs has a process more: the tests' program, which is trusted, runs in one
like the candidate's, in namespaces of its own, and the judge passes frames between the two.

See `wire` for every byte that crosses between them.
"""
