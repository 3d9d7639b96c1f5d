"""Credentials that are made for the servers of one name.

All of its servers require one token. Each has a key and a certificate of its own, which it signs
itself and which is valid for its node's address alone. The registry hands token and certificates to
every process of the Ray cluster that asks, since such a process could run programs on the nodes
anyway. A key never leaves its node. Nothing is written to a disk.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAYS = 3650
_CLOCK_DIFFERENCE = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A key, and the certificate that a server shows with it, both in PEM form."""

    key: bytes
    certificate: bytes


def make_identity(host: str) -> Identity:
    """Makes a key and a certificate for a server at an address."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "reward-server")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address(host))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_DIFFERENCE)
        .not_valid_after(now + datetime.timedelta(days=_DAYS))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    return Identity(
        key=key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
        certificate=certificate.public_bytes(serialization.Encoding.PEM),
    )


@contextmanager
def in_memory(**contents: bytes) -> Iterator[dict[str, str]]:
    """Yields the path of a file for each content; the files end with this process at the latest.

    Only processes of the same user can open them.
    """
    with ExitStack() as stack:
        paths = {}
        for name, content in contents.items():
            descriptor = os.memfd_create(f"reward-server-{name}")
            file = stack.enter_context(open(descriptor, "wb"))
            file.write(content)
            file.flush()
            paths[name] = f"/proc/{os.getpid()}/fd/{descriptor}"
        yield paths
