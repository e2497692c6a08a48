"""Throw-away keys have the form of real ones and stay the same."""

from __future__ import annotations

import stat
from importlib import import_module
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_ssh_private_key,
    load_ssh_public_key,
)

from platformctl.local.keys import throwaway_keys

pyrage: Any = import_module("pyrage")


def test_the_deploy_keys_belong_together(tmp_path: Path) -> None:
    keys = throwaway_keys(tmp_path)
    assert keys.deploy_private_key.startswith("-----BEGIN OPENSSH PRIVATE KEY-----")
    public = load_ssh_private_key(keys.deploy_private_key.encode(), password=None).public_key()
    openssh = public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    assert openssh.startswith("ssh-ed25519 ")
    assert keys.deploy_public_key == f"{openssh} throw-away-key-of-an-embedded-cluster"


def test_the_age_identity_decrypts_what_is_encrypted_to_the_recipient(tmp_path: Path) -> None:
    keys = throwaway_keys(tmp_path)
    encrypted = pyrage.encrypt(b"text", [pyrage.x25519.Recipient.from_str(keys.age_recipient)])
    assert pyrage.decrypt(encrypted, [pyrage.x25519.Identity.from_str(keys.age_private_key)]) == b"text"


def test_known_hosts_names_the_host_with_a_key_that_is_not_the_deploy_key(tmp_path: Path) -> None:
    keys = throwaway_keys(tmp_path, git_host="git.example.org")
    host, key = keys.known_hosts.split(" ", 1)
    assert host == "git.example.org"
    load_ssh_public_key(key.encode())
    assert key not in keys.deploy_public_key


def test_keys_are_kept_and_private(tmp_path: Path) -> None:
    directory = tmp_path / "keys"
    assert throwaway_keys(directory) == throwaway_keys(directory)
    assert throwaway_keys(tmp_path / "others") != throwaway_keys(directory)
    assert {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()} == {0o600}
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
