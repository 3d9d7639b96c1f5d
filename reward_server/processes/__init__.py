"""Several serving processes behind one address, for hosts with more cores than one process can use.

    parent   starts, watches and restarts the processes; serves their metrics; judges nothing
    child    one process: a whole server with its share of the slots and of the queue
    shares   decides how many processes there are, and the share of each

The kernel gives each new connection to one of the processes (`SO_REUSEPORT`). Parent and child
exchange lines of JSON over a pair of sockets (`line`). Requests and answers do not pass through it.
"""
