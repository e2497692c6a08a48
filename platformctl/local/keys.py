"""Throw-away keys: they stand in for the real deploy and age keys, so that the dev stack needs no secret of yours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_ssh_private_key,
)

from platformctl.local.files import private_directory, write_private

# pyrage is a compiled module without type information
_x25519: Any = import_module("pyrage").x25519

COMMENT = "throw-away-key-of-an-embedded-cluster"
GIT_HOST = "git.invalid"


@dataclass(frozen=True, kw_only=True)
class ThrowawayKeys:
    """Deploy key in OpenSSH format, one known_hosts line, age identity (AGE-SECRET-KEY-1…) and recipient (age1…)."""

    deploy_private_key: str
    deploy_public_key: str
    known_hosts: str
    age_private_key: str
    age_recipient: str


def throwaway_keys(directory: Path, *, git_host: str = GIT_HOST) -> ThrowawayKeys:
    """The keys kept in `directory` (mode 0600), made on first use; the host key belongs to no real server."""
    private_directory(directory)
    deploy = _kept(directory / "deploy-key", _ssh_private_key)
    host = _kept(directory / "host-key.pub", lambda: _ssh_public_key(_ssh_private_key()) + "\n")
    age = _kept(directory / "age-key.txt", lambda: f"{_x25519.Identity.generate()}\n").strip()
    return ThrowawayKeys(
        deploy_private_key=deploy,
        deploy_public_key=f"{_ssh_public_key(deploy)} {COMMENT}",
        known_hosts=f"{git_host} {host.strip()}",
        age_private_key=age,
        age_recipient=str(_x25519.Identity.from_str(age).to_public()),
    )


def _kept(file: Path, make: Callable[[], str]) -> str:
    if not file.exists():
        write_private(file, make())
    return file.read_text(encoding="ascii")


def _ssh_private_key() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()


def _ssh_public_key(private_key: str) -> str:
    public = load_ssh_private_key(private_key.encode(), password=None).public_key()
    return public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
