"""The code that runs inside a container. It uses the standard library and imports no other package
of this project.

A container holds these processes:

    zygote        the supervisor, a running interpreter. It forks a candidate for each execution,
                  asks for a judge if there is none, keeps the clocks and the limits, reaps
                  processes and reports. It handles only numbers: the kernel moves the bytes of
                  requests and reports past it (splice, sendfile). So its memory never holds task
                  data. This is necessary because every later candidate inherits it by fork.
    fork server   a second running interpreter, from which judges are forked. Every judge inherits
                  the layout of its memory. No candidate knows this layout.
    candidate     untrusted: it runs the program on one input at a time, in its own namespaces.
    judge         trusted: it reads the request (program, tests, expected values), sends the program
                  to the candidate over a socket, drains the candidate's output, compares its
                  answers and writes the report. It has its own namespaces, and shares with the
                  candidate only that socket and the candidate's three standard streams. It judges
                  again if nothing that it ran can have left anything behind.

An execution of two programs has one more process. It runs the tests' program, which is trusted, in
its own namespaces. The judge passes frames between this process and the candidate.

`wire` describes every byte that crosses between the processes.
"""
