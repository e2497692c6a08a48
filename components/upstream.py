"""Upstream files pinned by URL and sha256 in upstream.lock.yaml; the hash is checked wherever a file comes from."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import yaml

from components.errors import PlatformError

LOCK = Path(__file__).resolve().parent.parent / "upstream.lock.yaml"
TIMEOUT_SECONDS = 10
ROLES = ("manifest", "crds", "chart-values", "chart-schema")
_SHA256 = re.compile(r"[0-9a-f]{64}")

# An unreachable host costs its timeout once in a process, not once a file.
_unreachable_hosts: set[str] = set()


class UpstreamUnavailable(PlatformError):  # noqa: N818 - a state of the world, not of the code
    """A pinned file that neither the mirror, nor the cache, nor the network provides now."""


@dataclass(frozen=True, kw_only=True)
class UpstreamFile:
    """One entry of the lock. `sha256` is of the whole file; `role` says what the file is (one of ROLES)."""

    name: str
    version: str
    role: str
    url: str
    sha256: str

    @property
    def host(self) -> str:
        """The URL's host."""
        return urlsplit(self.url).netloc

    @property
    def mirror_path(self) -> str:
        """Where the file lies below a mirror directory: host, then path."""
        return f"{self.host}{urlsplit(self.url).path}"


def locked(lock: Path = LOCK) -> dict[str, UpstreamFile]:
    """Every entry of the lock by its name. Raises PlatformError for one that is incomplete or given twice."""
    document = cast("dict[str, list[dict[str, Any]]]", yaml.load(lock.read_bytes(), Loader=yaml.CSafeLoader) or {})
    found: dict[str, UpstreamFile] = {}
    for number, raw in enumerate(document.get("files") or [], start=1):
        entry = _entry(raw, f"{lock.name}: file {number}")
        if entry.name in found:
            raise PlatformError(f"{lock.name}: the name {entry.name} is given twice; every file needs its own")
        found[entry.name] = entry
    return found


def read(name: str, *, lock: Path = LOCK) -> bytes:
    """The file's content, its hash verified: from $UPSTREAM_MIRROR, else the cache, else over HTTPS (then cached)."""
    files = locked(lock)
    if name not in files:
        raise PlatformError(f"{lock.name} has no file {name}; it has: {', '.join(sorted(files)) or 'none'}")
    file = files[name]
    cached = _cache_directory() / file.sha256
    for source in (*_mirrored(file), cached):
        if source.is_file():
            return _verified(file, source.read_bytes(), str(source))
    content = _verified(file, _download(file), "the download")
    _store(cached, content)
    return content


def documents(name: str, *, lock: Path = LOCK) -> list[dict[str, Any]]:
    """The YAML documents of the file, empty ones left out; parsed once in a process, so not to be changed."""
    return _parsed_once(read(name, lock=lock))


def parse(content: bytes) -> list[dict[str, Any]]:
    """The documents of a Kubernetes manifest in YAML, empty ones left out."""
    loaded = yaml.load_all(content, Loader=_ManifestLoader)
    return [cast("dict[str, Any]", document) for document in loaded if document]


@functools.lru_cache(maxsize=64)
def _parsed_once(content: bytes) -> list[dict[str, Any]]:
    return parse(content)


class _ManifestLoader(yaml.CSafeLoader):
    """Reads a bare `=` as text, as Kubernetes does: CRDs have it in enums, and YAML 1.1 calls it a value."""


_ManifestLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:value"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _entry(raw: dict[str, Any], where: str) -> UpstreamFile:
    keys = [field.name for field in fields(UpstreamFile)]
    if missing := [key for key in keys if not isinstance(raw.get(key), str)]:
        raise PlatformError(f"{where} lacks {', '.join(missing)} (as text); a file has {', '.join(keys)}")
    if unknown := sorted(set(raw) - set(keys)):
        raise PlatformError(f"{where}: {', '.join(unknown)} is not a known key; a file has {', '.join(keys)}")
    entry = UpstreamFile(**raw)
    if not _SHA256.fullmatch(entry.sha256):
        raise PlatformError(f"{where}: sha256 is {entry.sha256!r}, it must be 64 lower-case hexadecimal digits")
    if not entry.url.startswith("https://") or not entry.host:
        raise PlatformError(f"{where}: url is {entry.url!r}, it must begin with https:// and a host")
    if entry.role not in ROLES:
        raise PlatformError(f"{where}: role is {entry.role!r}, it must be one of {', '.join(ROLES)}")
    return entry


def _cache_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "home-platform" / "upstream"


def _mirrored(file: UpstreamFile) -> list[Path]:
    mirror = os.environ.get("UPSTREAM_MIRROR")
    return [Path(mirror) / file.mirror_path] if mirror else []


def _verified(file: UpstreamFile, content: bytes, source: str) -> bytes:
    actual = hashlib.sha256(content).hexdigest()
    if actual != file.sha256:
        raise PlatformError(
            f"{file.name} {file.version} ({file.url}) is not the pinned file: "
            f"{source} has sha256 {actual}, upstream.lock.yaml says {file.sha256}"
        )
    return content


def _download(file: UpstreamFile) -> bytes:
    import http.client
    import urllib.error
    import urllib.request

    if file.host in _unreachable_hosts:
        raise _unavailable(file, "the host did not answer before")
    try:
        # The scheme was checked when the lock was read.
        with urllib.request.urlopen(file.url, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
            return response.read()
    except urllib.error.HTTPError as error:
        raise _unavailable(file, f"the server answered {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        _unreachable_hosts.add(file.host)
        raise _unavailable(file, str(getattr(error, "reason", error))) from error


def _unavailable(file: UpstreamFile, reason: str) -> UpstreamUnavailable:
    return UpstreamUnavailable(
        f"{file.name} {file.version} could not be read from {file.url} ({reason}): connect to the network, "
        f"or set UPSTREAM_MIRROR to a directory that holds it as {file.mirror_path}"
    )


def _store(target: Path, content: bytes) -> None:
    """Caches a verified download; a cache that cannot be written only costs the next download."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as temporary:
            temporary.write(content)
        Path(temporary.name).replace(target)
    except OSError:
        return
