"""One Secret, one file: what is there already, what is kept of it, and the new file in its place."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from components import sops_rules
from components.errors import PlatformError
from components.secret_files import read_file, read_tree
from components.sops_rules import VALUES, mapping, yaml_mistake
from platformctl.local.files import write_private
from platformctl.secret.request import Request
from platformctl.secret.sops import DecryptionError, Sops
from platformctl.secret.values import Value

Document = Mapping[str, Any]


def set_secret(
    root: Path, request: Request, open_sops: Callable[[], Sops], read: Callable[[], Mapping[str, Value]]
) -> Path:
    """Writes the Secret's file with the values of `read`; whatever fails, the old file stays as it is.

    Everything that can be refused is refused before `open_sops` and `read` are called, in this order.
    """
    rules = sops_rules.load(root)
    rules.usable_rule(request.file)
    existing = _existing(root, request)
    kept = sorted(_keys(existing) - set(request.keys))
    if missing := [key for key in request.needed if key not in (*request.keys, *kept)]:
        raise PlatformError(
            f"Secret {request.at}: the platform also needs its key {', '.join(missing)}; "
            f"set all of {', '.join(request.needed)} at once, which is what happens without --key"
        )
    sops = open_sops()
    current: Document = _decrypted(sops, request, kept) if kept else {}
    document = _updated(_clear(existing, request), current, read())
    return _write(root, request, sops.encrypt(document, request.file), rules)


def _existing(root: Path, request: Request) -> Document:
    elsewhere = [
        secret.file
        for secret in read_tree(root, request.stack).secrets
        if secret.at == request.at and secret.file != request.file
    ]
    if elsewhere:
        raise PlatformError(
            f"{elsewhere[0]}: already holds Secret {request.at}, whose file must be {request.file}; "
            "move or remove it first"
        )
    path = root / request.file
    if not path.exists():
        return {}
    try:
        documents: list[object] = [document for document in yaml.safe_load_all(path.read_bytes()) if document]
    except yaml.YAMLError as error:
        raise PlatformError(f"{request.file}{yaml_mistake(error)}") from None
    found: Document = mapping(documents[0]) if len(documents) == 1 else {}
    metadata = mapping(found.get("metadata"))
    if (found.get("kind"), metadata.get("namespace"), metadata.get("name")) != (
        "Secret",
        request.namespace,
        request.name,
    ):
        raise PlatformError(
            f"{request.file}: must hold Secret {request.at} and nothing else; correct or remove it first"
        )
    return found


def _keys(document: Document) -> set[str]:
    return {key for block in VALUES for key in mapping(document.get(block))}


def _decrypted(sops: Sops, request: Request, kept: list[str]) -> Document:
    try:
        return sops.decrypt(request.file)
    except DecryptionError as error:
        raise PlatformError(
            f"{request.file}: to keep {', '.join(kept)} the file must be decrypted, but {error}; "
            f"or set every key at once: {' '.join(f'--key {key}' for key in (*request.keys, *kept))}"
        ) from None


def _clear(existing: Document, request: Request) -> dict[str, Any]:
    """What stays readable: labels, annotations and the type of an existing file are kept."""
    fresh = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": request.name, "namespace": request.namespace},
        "type": "Opaque",
    }
    return {key: value for key, value in (existing or fresh).items() if key not in (*VALUES, "sops")}


def _updated(clear: Document, current: Document, values: Mapping[str, Value]) -> dict[str, Any]:
    """Text goes to stringData, anything else to data; a key is in one of them alone."""
    blocks = {
        block: {key: value for key, value in mapping(current.get(block)).items() if key not in values}
        for block in VALUES
    }
    for key, value in values.items():
        if isinstance(value, bytes):
            blocks["data"][key] = base64.b64encode(value).decode()
        else:
            blocks["stringData"][key] = value
    return {**clear, **{block: content for block, content in blocks.items() if content}}


def _write(root: Path, request: Request, content: bytes, rules: sops_rules.SopsRules) -> Path:
    if mistakes := read_file(request.file, content, request.stack, rules).mistakes:
        raise PlatformError(*mistakes, f"{request.file}: nothing was written")
    path = root / request.file
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_public(path, content)


def write_public(path: Path, content: str | bytes) -> Path:
    """Atomic as `write_private`, with the mode of a file in git, 0644."""
    write_private(path, content).chmod(0o644)
    return path
