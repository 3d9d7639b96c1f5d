"""Who may use the server, and how much of it.

tenant      a named credential with its weight and quotas, and the table of all of them
token_file  reads them from the token file
shares      compares what owners received of the slots with their weights
quotas      counts what is in flight for each owner, and refuses more than its quotas
"""
