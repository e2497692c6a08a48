"""Kubeconfig files: written for the embedded cluster, read for a verified TLS connection."""

from __future__ import annotations

import base64
import ipaddress
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import yaml

from components.errors import PlatformError
from platformctl.local.files import write_private


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Where an API server is and how to prove who we are; certificates and key as PEM text."""

    server: str
    ca: str
    client_certificate: str | None = None
    client_key: str | None = None
    token: str | None = None

    def ssl_context(self) -> ssl.SSLContext:
        """Verifies the server against this cluster's CA alone and presents the client certificate, if any."""
        context = ssl.create_default_context(cadata=self.ca)
        if self.client_certificate and self.client_key:
            # ssl takes a certificate chain only as files; these are private and gone at once
            with tempfile.TemporaryDirectory() as directory:
                chain = Path(directory) / "client.pem"
                write_private(chain, self.client_key + "\n" + self.client_certificate)
                context.load_cert_chain(chain)
        return context


def is_loopback(server: str) -> bool:
    """Whether a server URL names this machine's loopback interface."""
    host = urlsplit(server).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def require_loopback(connection: Connection, source: Path) -> None:
    """Raises PlatformError unless the API server is on this machine."""
    if not is_loopback(connection.server):
        raise PlatformError(
            f"{source}: the API server {connection.server} is not on loopback; "
            "platformctl local only ever talks to a cluster on 127.0.0.1."
        )


def read(path: Path, context: str | None = None) -> Connection:
    """The connection of a kubeconfig's context (default: its current one); relative paths count from the file."""
    try:
        document: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PlatformError(f"{path}: there is no kubeconfig; run `platformctl local up` first.") from None
    except yaml.YAMLError:
        raise PlatformError(f"{path}: this is not a kubeconfig (invalid YAML).") from None
    if not isinstance(document, dict):
        raise PlatformError(f"{path}: this is not a kubeconfig (a mapping is expected).")
    config = cast("dict[str, Any]", document)
    chosen = _named(path, config, "context", context or str(config.get("current-context") or ""))
    cluster = _named(path, config, "cluster", str(chosen.get("cluster") or ""))
    user = _named(path, config, "user", str(chosen.get("user") or ""))
    return Connection(
        server=str(cluster["server"]).rstrip("/"),
        ca=_material(path, cluster, "certificate-authority") or "",
        client_certificate=_material(path, user, "client-certificate"),
        client_key=_material(path, user, "client-key"),
        token=user.get("token"),
    )


def write(path: Path, connection: Connection, *, context: str, user: str) -> None:
    """One cluster, one user and one context (the current one), everything embedded; mode 0600, atomically."""
    identity = {
        "client-certificate-data": _encoded(connection.client_certificate),
        "client-key-data": _encoded(connection.client_key),
        "token": connection.token,
    }
    cluster = {"server": connection.server, "certificate-authority-data": _encoded(connection.ca)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "clusters": [{"name": context, "cluster": cluster}],
        "users": [{"name": user, "user": {key: value for key, value in identity.items() if value}}],
        "contexts": [{"name": context, "context": {"cluster": context, "user": user}}],
    }
    text = yaml.safe_dump(document, sort_keys=False)  # pyright: ignore[reportUnknownMemberType]
    write_private(path, text)


def _encoded(pem: str | None) -> str | None:
    return base64.b64encode(pem.encode()).decode() if pem else None


def _named(path: Path, config: dict[str, Any], kind: str, name: str) -> dict[str, Any]:
    """The body of the entry `name` in the list of clusters, users or contexts."""
    entries: list[dict[str, Any]] = config.get(f"{kind}s") or []
    for entry in entries:
        if entry.get("name") == name:
            return entry.get(kind) or {}
    known = ", ".join(str(entry.get("name")) for entry in entries) or "none"
    raise PlatformError(f"{path}: there is no {kind} {name!r} (there is: {known}).")


def _material(path: Path, holder: dict[str, Any], key: str) -> str | None:
    """PEM text from `<key>-data` (base64) or from the file that `<key>` names."""
    if data := holder.get(f"{key}-data"):
        return base64.b64decode(str(data)).decode()
    if name := holder.get(key):
        return (path.parent / str(name)).read_text(encoding="utf-8")
    return None
