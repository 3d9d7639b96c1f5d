"""Servers on the nodes of a Ray cluster, started by one call and found by a name.

    start      what a driver calls: `start`, `find`, and the handle `Servers`
    registry   the actor that has the name: it places the servers and knows their addresses
    server     the actor on each node, which owns a process of `reward-server serve`
    process    that process, from its start to its end
    secrets    the credentials that are made for the servers
    plan       what the actors are told

Ray places, watches and replaces the servers. No request and no answer passes through it: clients
with the target `ray://NAME` ask the registry for the addresses and use gRPC.
"""

from reward_server.ray.start import Servers, ServerState, find, start

__all__ = ["ServerState", "Servers", "find", "start"]
