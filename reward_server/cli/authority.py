"""A certificate authority of one's own, in a folder.

`authority.pem` and `authority.key` sign the others. `NAME.pem` and `NAME.key` belong to a server or
a client. A file that exists is replaced only by `renew`.
"""

from __future__ import annotations

import ipaddress
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from reward_server.cli.certificate_files import Pair
from reward_server.errors import SettingsError, StartError

AUTHORITY = "authority"
AUTHORITY_DAYS = 3650
PAIR_DAYS = 397
MOST_DAYS = 36_500
MOST_HOSTS = 100

_CLOCKS_APART = timedelta(hours=1)  # a machine whose clock is late accepts a new certificate too
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}[A-Za-z0-9]|[A-Za-z0-9]")
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"(\*\.)?{_LABEL}(\.{_LABEL})*")
_MOST_HOST_CHARACTERS = 253
_OTHER_USAGES = (
    *("content_commitment", "key_encipherment", "data_encipherment"),
    *("key_agreement", "encipher_only", "decipher_only"),
)


class Authority:
    """The authority of a folder.

    Args:
        folder: where its files are, and those of the certificates that it signs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def pair(self) -> Pair:
        """Its own certificate.

        Raises:
            StartError: the folder has none, or one that cannot be read.
        """
        return Pair.read(self._folder, AUTHORITY)

    def make(self, days: int = AUTHORITY_DAYS) -> Pair | None:
        """Makes the authority; returns None if there is one.

        Raises:
            SettingsError: the time is not within its limits.
            StartError: the files cannot be written.
        """
        if (self._folder / f"{AUTHORITY}.key").exists():
            return None
        key = ec.generate_private_key(ec.SECP256R1())
        return self._write(AUTHORITY, key, self._authority_certificate(key, days), is_new=True)

    def issue(self, name: str, hosts: tuple[str, ...], days: int = PAIR_DAYS) -> Pair:
        """Makes a key, and signs a certificate for a server, or for a client if it has no host.

        Raises:
            SettingsError: a name or the time is not within its limits.
            StartError: there are such files, or the authority cannot be used.
        """
        if name == AUTHORITY or not _FILE_NAME.fullmatch(name):
            raise SettingsError(
                f"name {name!r}: use 1 to 64 letters, digits, dots, hyphens and underscores, and "
                f"not {AUTHORITY!r}"
            )
        return self._sign(name, hosts, days, is_new=True)

    def renew(self, name: str, days: int | None = None) -> Pair:
        """Replaces a certificate and its key; the authority keeps its key.

        Args:
            name: name of the files.
            days: how long it will be valid; as long as the present one if None.

        Raises:
            SettingsError: the time is not within its limits.
            StartError: there is no such certificate, or the authority cannot be used.
        """
        present = Pair.read(self._folder, name)
        if days is None:
            days = max((present.end - present.certificate.not_valid_before_utc).days, 1)
        if name != AUTHORITY:
            return self._sign(name, present.hosts, days, is_new=False)
        key = self._key()
        return self._write(name, key, self._authority_certificate(key, days), is_new=False)

    def pairs(self) -> list[Pair]:
        """Returns the certificates of the folder, the authority first.

        Raises:
            StartError: a file cannot be read.
        """
        names = {path.stem for path in self._folder.glob("*.key")} - {AUTHORITY}
        return [self.pair, *(Pair.read(self._folder, name) for name in sorted(names))]

    def _sign(self, name: str, hosts: tuple[str, ...], days: int, *, is_new: bool) -> Pair:
        issuer, end = self.pair.certificate, _end(days)
        if end > issuer.not_valid_after_utc:
            raise SettingsError(
                f"days {days}: the authority's certificate ends on "
                f"{issuer.not_valid_after_utc:%Y-%m-%d}; renew it first, and give the new "
                f"{AUTHORITY}.pem to servers and clients"
            )
        key = ec.generate_private_key(ec.SECP256R1())
        # `reward-server probe` shows the server's certificate as a client does.
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = _builder(name, key, issuer.subject, end, is_authority=False)
        if hosts:
            usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
            names = x509.SubjectAlternativeName(_general_names(hosts))
            builder = builder.add_extension(names, critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        signer = self._key()
        known = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
        builder = builder.add_extension(known, critical=False)
        return self._write(name, key, builder.sign(signer, hashes.SHA256()), is_new=is_new)

    def _authority_certificate(
        self, key: ec.EllipticCurvePrivateKey, days: int
    ) -> x509.Certificate:
        subject = _name("Reward Server authority")
        builder = _builder("Reward Server authority", key, subject, _end(days), is_authority=True)
        return builder.sign(key, hashes.SHA256())

    def _key(self) -> ec.EllipticCurvePrivateKey:
        path = self._folder / f"{AUTHORITY}.key"
        try:
            key = serialization.load_pem_private_key(path.read_bytes(), None)
        except (OSError, ValueError, TypeError) as error:
            raise StartError(f"{path}: no key can be read: {error}") from None
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise StartError(f"{path}: is no key of this command")
        return key

    def _write(
        self,
        name: str,
        key: ec.EllipticCurvePrivateKey,
        certificate: x509.Certificate,
        *,
        is_new: bool,
    ) -> Pair:
        pair = Pair(name=name, certificate=certificate, folder=self._folder)
        secret = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        pair.write(secret, is_new=is_new)
        return pair


def _builder(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Name,
    end: datetime,
    *,
    is_authority: bool,
) -> x509.CertificateBuilder:
    usage = x509.KeyUsage(
        digital_signature=not is_authority,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        **dict.fromkeys(_OTHER_USAGES, False),
    )
    constraints = x509.BasicConstraints(ca=is_authority, path_length=0 if is_authority else None)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - _CLOCKS_APART)
        .not_valid_after(end)
        .add_extension(constraints, critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _end(days: int) -> datetime:
    if not 1 <= days <= MOST_DAYS:
        raise SettingsError(f"days {days}: use 1 to {MOST_DAYS}")
    return datetime.now(UTC) + timedelta(days=days)


def _general_names(hosts: tuple[str, ...]) -> list[x509.GeneralName]:
    if len(hosts) > MOST_HOSTS:
        raise SettingsError(f"hosts: {len(hosts)} are given; at most {MOST_HOSTS} are allowed")
    return [_general_name(host) for host in dict.fromkeys(hosts)]


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    if len(host) > _MOST_HOST_CHARACTERS or not _HOST.fullmatch(host):
        raise SettingsError(
            f"host {host!r}: is no address and no name; give it without a scheme and a port"
        )
    return x509.DNSName(host)
