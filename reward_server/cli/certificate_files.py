"""The files of a certificate and its key. A key is readable by its owner only."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from reward_server.errors import StartError

_KEY_MODE, _CERTIFICATE_MODE, _FOLDER_MODE = 0o600, 0o644, 0o700


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A certificate with its key.

    Args:
        name: name of its files, without the ending.
        certificate: the certificate.
        folder: where its files are.
    """

    name: str
    certificate: x509.Certificate
    folder: Path

    @property
    def certificate_file(self) -> Path:
        """The file of the certificate."""
        return self.folder / f"{self.name}.pem"

    @property
    def key_file(self) -> Path:
        """The file of the key."""
        return self.folder / f"{self.name}.key"

    @property
    def end(self) -> datetime:
        """When the certificate expires."""
        return self.certificate.not_valid_after_utc

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names and addresses of a server; those of a client are none."""
        try:
            found = self.certificate.extensions.get_extension_for_class(
                x509.SubjectAlternativeName
            ).value
        except x509.ExtensionNotFound:
            return ()
        return tuple(str(one.value) for one in found)

    @classmethod
    def read(cls, folder: Path, name: str) -> Pair:
        """Reads a certificate.

        Raises:
            StartError: there is none, or it cannot be read.
        """
        path = folder / f"{name}.pem"
        try:
            certificate = x509.load_pem_x509_certificate(path.read_bytes())
        except (OSError, ValueError) as error:
            raise StartError(
                f"{path}: no certificate can be read ({error}); make one with "
                "`reward-server certificates server` or `client`"
            ) from None
        return cls(name=name, certificate=certificate, folder=folder)

    def write(self, key: bytes, *, is_new: bool) -> None:
        """Writes both files.

        Args:
            key: PEM text of the key.
            is_new: whether a file that exists is refused; otherwise it is replaced.

        Raises:
            StartError: a file exists, or cannot be written.
        """
        try:
            self.folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
            if is_new:
                _refuse_existing(self.key_file, self.certificate_file)
            shown = self.certificate.public_bytes(serialization.Encoding.PEM)
            _write_file(self.key_file, key, _KEY_MODE, is_new=is_new)
            _write_file(self.certificate_file, shown, _CERTIFICATE_MODE, is_new=is_new)
        except OSError as error:
            raise StartError(f"{self.folder}: nothing can be written: {error}") from None

    def expires_within(self, days: int) -> bool:
        """Returns True if so many days from now the certificate is no longer valid."""
        return self.end <= datetime.now(UTC) + timedelta(days=days)


def _refuse_existing(*files: Path) -> None:
    for file in files:
        if os.path.lexists(file):
            raise StartError(
                f"{file} exists; choose another name, or replace the certificate and its key "
                "with `reward-server certificates renew`"
            )


def _write_file(file: Path, content: bytes, mode: int, *, is_new: bool) -> None:
    """Writes a file at once: a reader sees the old content or the new one, and the same rights."""
    descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(descriptor, "wb") as written:
            os.fchmod(descriptor, mode)
            written.write(content)
            if not is_new:
                present = os.stat(file)
                os.fchown(descriptor, present.st_uid, present.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(present.st_mode))
        if is_new:
            os.link(temporary, file)  # fails if the file exists
        else:
            os.replace(temporary, file)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
