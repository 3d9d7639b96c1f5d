"""An image's bill of materials: its Debian and Python packages.

It is read from the image itself at each request, so it is never out of date. It omits what was
installed without a package manager. The server's image, which `deploy/Dockerfile` builds, has a
list of the hashes of its packages; a package that the list does not name has no hash here.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from email.parser import HeaderParser

import docker
import docker.errors
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot5
from packageurl import PackageURL

from reward_server.errors import SandboxError
from reward_server.sandbox.docker.exported import Exported
from reward_server.sandbox.docker.inventory import ENGINE_FAILURES, OWNER_LABEL, remove, told
from reward_server.sandbox.owner import owner_id

_DPKG_STATUS = "var/lib/dpkg/status"
_RELEASE = "usr/lib/os-release"
_HASHES = "opt/reward-server/hashes.tsv"  # lines of kind, name, version, SHA-256
_FILES = (_DPKG_STATUS, _RELEASE, _HASHES)
_PYTHON_METADATA = re.compile(r".*\.(?:dist-info/METADATA|egg-info/PKG-INFO)")
_OF_DPKG = "usr/lib/python3/dist-packages/"  # dpkg's database lists these packages

_Package = tuple[str, str, str | None]  # kind, name, version


def bill_of_materials(engine: docker.APIClient, name: str) -> str:
    """Lists the packages of an image, as CycloneDX 1.5 in JSON.

    Args:
        engine: the engine that has the image.
        name: a name, a digest or an id of the image.

    Raises:
        SandboxError: the engine does not have the image, or does not export its files.
    """
    try:
        identifier = engine.inspect_image(name)["Id"]
        texts = _texts(engine, identifier)
    except docker.errors.ImageNotFound:
        raise SandboxError(f"the engine has no image {name!r}; see `docker images`") from None
    except ENGINE_FAILURES as error:
        raise SandboxError(f"the engine does not give {name}'s files: {told(error)}") from error
    whole = Component(
        type=ComponentType.CONTAINER, name=name, version=identifier, bom_ref=identifier
    )
    hashes = _hashes(texts)
    urls = (*_debian_packages(texts), *_python_packages(texts))
    bom = Bom(components=[_component(url, hashes) for url in urls])
    bom.metadata.component = whole
    bom.register_dependency(whole, bom.components)
    return JsonV1Dot5(bom).output_as_string(indent=2)


def _texts(engine: docker.APIClient, identifier: str) -> Mapping[str, str]:
    """Returns the files of an image that describe packages, by path."""
    created = engine.create_container(
        identifier, ["true"], labels={OWNER_LABEL: owner_id()}, network_disabled=True
    )["Id"]
    try:
        return _interesting(engine.export(created))
    finally:
        remove(engine, created)


def _interesting(export: Iterable[bytes]) -> Mapping[str, str]:
    """Returns the files that describe packages, by path, from an archive of all files."""
    texts = {}
    stream = io.BufferedReader(Exported(export))
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for entry in archive:
            if entry.name in _FILES or _PYTHON_METADATA.fullmatch(entry.name):
                content = archive.extractfile(entry)
                texts[entry.name] = content.read().decode() if content else ""
    return texts


def _debian_packages(texts: Mapping[str, str]) -> Iterator[PackageURL]:
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', texts.get(_RELEASE, ""), re.MULTILINE))
    system = release.get("ID", "debian")
    for stanza in texts.get(_DPKG_STATUS, "").split("\n\n"):
        fields = HeaderParser().parsestr(stanza)
        if not fields.get("Status", "").endswith(" installed"):
            continue
        yield PackageURL(
            type="deb",
            namespace=system,
            name=fields["Package"],
            version=fields["Version"],
            qualifiers={
                "arch": fields["Architecture"],
                "distro": f"{system}-{release.get('VERSION_ID', '')}",
            },
        )


def _python_packages(texts: Mapping[str, str]) -> Iterator[PackageURL]:
    for path, text in texts.items():
        if _PYTHON_METADATA.fullmatch(path) and not path.startswith(_OF_DPKG):
            fields = HeaderParser().parsestr(text)
            yield PackageURL("pypi", None, fields["Name"], fields["Version"])


def _hashes(texts: Mapping[str, str]) -> Mapping[_Package, str]:
    """Returns the SHA-256 of packages, by kind, name and version."""
    rows = (line.split("\t") for line in texts.get(_HASHES, "").splitlines())
    return {_package(PackageURL(kind, None, name, at)): digest for kind, name, at, digest in rows}


def _package(url: PackageURL) -> _Package:
    return url.type, url.name, url.version


def _component(url: PackageURL, hashes: Mapping[_Package, str]) -> Component:
    known = hashes.get(_package(url))
    return Component(
        type=ComponentType.LIBRARY,
        name=url.name,
        version=url.version,
        purl=url,
        bom_ref=url.to_string(),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=known)] if known else [],
    )
