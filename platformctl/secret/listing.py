"""What a stack needs, who provides it, and whether it is there; names alone, no values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from components.secret_files import read_tree
from components.secrets import Provider, SecretUse
from platformctl.secret.request import Registry
from platformctl.secret.stacks import has_config_secret


@dataclass(frozen=True, kw_only=True)
class Row:
    """One Secret of a stack. `state` is present, missing, generated, or says which keys are missing."""

    at: str
    keys: tuple[str, ...]
    provider: str
    needed_by: str
    state: str


def rows(root: Path, stack: str, registry: Registry) -> list[Row]:
    """Every Secret that the platform refers to, then the household's own ones in git."""
    found = {secret.at: secret for secret in read_tree(root, stack).secrets}
    keys = {at: secret.keys for at, secret in found.items()}
    listed = [
        Row(
            at=use.at,
            keys=use.keys,
            provider=use.provider.value,
            needed_by=use.needed_by,
            state=_state(root, stack, registry, use, keys.get(use.at)),
        )
        for use in registry.uses
    ]
    own = [secret for at, secret in sorted(found.items()) if not registry.of(at)]
    return listed + [
        Row(at=secret.at, keys=tuple(sorted(secret.keys)), provider=secret.file, needed_by="-", state="present")
        for secret in own
    ]


def _state(root: Path, stack: str, registry: Registry, use: SecretUse, keys: Iterable[str] | None) -> str:
    if use.provider is Provider.GENERATED:
        return "generated"
    if use.provider is Provider.CONFIG:
        return "present" if has_config_secret(root, stack, registry.config_keys[use.at]) else "missing"
    if keys is None:
        return "missing"
    absent = sorted(set(use.keys) - set(keys))
    return f"lacks {', '.join(absent)}" if absent else "present"
