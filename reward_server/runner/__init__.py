"""The code that runs inside a container. It uses the standard library and imports no other package
of this project.

A container holds these processes:

    zygote the supervisor, a running interpreter. It forks a candidate for each execution, asks
                for a judge if there is none, keeps the clocks and the limits, reaps and reports. It
                handles numbers only: the kernel moves the bytes of requests and reports past it
                (splice, sendfile), so its memory, which every later candidate inherits by fork,
                never holds task data.
    fork server a second warm interpreter, from which judges are forked. Every judge inherits the
                layout of its memory, which no candidate knows.
    candidate   untrusted: it runs the program on one input at a time, in namespaces of its own.
    judge       trusted: it reads the request (program, tests, expected values), sends the program
                to the candidate over a socket, drains the candidate's output, compares its answers
                and writes the report. It has namespaces of its own and shares nothing with the
                candidate but that socket and the candidate's three standard streams. It judges
                again as long as nothing that it ran can have left anything behind.

An execution of two programs has one more process. It runs the tests' program, which is trusted, in
namespaces of its own like the candidate's, and the judge relays frames between the two.

`wire` describes every byte that crosses between the processes.
"""
