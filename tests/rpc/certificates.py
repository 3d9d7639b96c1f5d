"""Certificates made for a test: an authority, and what it signs."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_START = datetime.datetime(2020, 1, 1)
_END = datetime.datetime(2120, 1, 1)


@dataclass(frozen=True, kw_only=True)
class Pair:
    """PEM files of a certificate and its key."""

    certificate: Path
    key: Path

    def read(self) -> tuple[bytes, bytes]:
        """Returns the key and the certificate."""
        return self.key.read_bytes(), self.certificate.read_bytes()


class Authority:
    """Signs certificates, by default for loopback."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        certificate = self._sign(self._name, self._key, authority=True)
        self.certificate = folder / f"{name}.pem"
        self.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, password: bytes | None = None, host: str | None = None) -> Pair:
        """Makes a key and signs a certificate for it: for a host, or for loopback."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign(_name(name), key, authority=False, host=host)
        pair = Pair(certificate=self._folder / f"{name}.pem", key=self._folder / f"{name}.key")
        pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if password is not None:
            encryption = serialization.BestAvailableEncryption(password)
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
            )
        )
        return pair

    def _sign(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        *,
        authority: bool,
        host: str | None = None,
    ) -> x509.Certificate:
        loopback = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        named = loopback if host is None else x509.DNSName(host)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(_START)
            .not_valid_after(_END)
            .add_extension(x509.SubjectAlternativeName([named]), critical=False)
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
