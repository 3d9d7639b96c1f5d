"""An image's bill of materials: its Debian and Python packages.

It is read from the image itself at each request, so it is never out of date. It omits what was
installed without a package manager.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from email.parser import HeaderParser

import docker
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot5
from packageurl import PackageURL

from reward_server.errors import SandboxError
from reward_server.sandbox.docker.images import SandboxImage
from reward_server.sandbox.docker.inventory import ENGINE_FAILURES, OWNER_LABEL, remove, told
from reward_server.sandbox.owner import owner_id

_DPKG_STATUS = "var/lib/dpkg/status"
_RELEASE = "usr/lib/os-release"
_PYTHON_METADATA = re.compile(r".*\.(?:dist-info/METADATA|egg-info/PKG-INFO)")
_OF_DPKG = "usr/lib/python3/dist-packages/"  # dpkg's database lists these packages


def bill_of_materials(engine: docker.APIClient, image: SandboxImage) -> str:
    """Lists the packages of an image, as CycloneDX 1.5 in JSON.

    Raises:
        SandboxError: the engine does not export the image's files.
    """
    try:
        created = engine.create_container(
            image.identifier, ["true"], labels={OWNER_LABEL: owner_id()}, network_disabled=True
        )["Id"]
        try:
            texts = _interesting(engine.export(created))
        finally:
            remove(engine, created)
    except ENGINE_FAILURES as error:
        raise SandboxError(
            f"the engine does not give {image.name}'s files: {told(error)}"
        ) from error
    whole = Component(
        type=ComponentType.CONTAINER,
        name=image.name,
        version=image.identifier,
        bom_ref=image.identifier,
    )
    bom = Bom(components=(*_debian_packages(texts), *_python_packages(texts)))
    bom.metadata.component = whole
    bom.register_dependency(whole, bom.components)
    return JsonV1Dot5(bom).output_as_string(indent=2)


class _Chunks(io.RawIOBase):
    """A file that can be read once, from a stream of pieces."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # callers pass one
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def _interesting(export: Iterable[bytes]) -> Mapping[str, str]:
    """Returns the files that describe packages, by path, from an archive of all files."""
    texts = {}
    stream = io.BufferedReader(_Chunks(export))
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for entry in archive:
            if entry.name in (_DPKG_STATUS, _RELEASE) or _PYTHON_METADATA.fullmatch(entry.name):
                content = archive.extractfile(entry)
                texts[entry.name] = content.read().decode() if content else ""
    return texts


def _debian_packages(texts: Mapping[str, str]) -> Iterator[Component]:
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', texts.get(_RELEASE, ""), re.MULTILINE))
    system = release.get("ID", "debian")
    for stanza in texts.get(_DPKG_STATUS, "").split("\n\n"):
        fields = HeaderParser().parsestr(stanza)
        if not fields.get("Status", "").endswith(" installed"):
            continue
        url = PackageURL(
            type="deb",
            namespace=system,
            name=fields["Package"],
            version=fields["Version"],
            qualifiers={
                "arch": fields["Architecture"],
                "distro": f"{system}-{release.get('VERSION_ID', '')}",
            },
        )
        yield _component(url)


def _python_packages(texts: Mapping[str, str]) -> Iterator[Component]:
    for path, text in texts.items():
        if _PYTHON_METADATA.fullmatch(path) and not path.startswith(_OF_DPKG):
            fields = HeaderParser().parsestr(text)
            yield _component(PackageURL("pypi", None, fields["Name"], fields["Version"]))


def _component(url: PackageURL) -> Component:
    return Component(
        type=ComponentType.LIBRARY,
        name=url.name,
        version=url.version,
        purl=url,
        bom_ref=url.to_string(),
    )
