"""Messages and descriptors between the runner's processes."""

from __future__ import annotations

import socket

from reward_server.runner.channel.descriptors import receive, send


def test_what_was_sent_arrives_though_the_other_end_left_a_message_unread() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        send(theirs, b"word", ())
        send(ours, b"unread", ())
        theirs.close()
        assert receive(ours, 16) == (b"word", [])
        assert receive(ours, 16) == (b"", [])


def test_an_end_that_left_a_message_unread_and_sent_nothing_is_gone() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        send(ours, b"unread", ())
        theirs.close()
        assert receive(ours, 16) == (b"", [])
