"""Stand-ins for CRDs that cannot be reached: the right names, and any content is accepted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

TABLE = Path(__file__).with_name("schema_free.yaml")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One custom resource kind; the last of `versions` is the stored one."""

    group: str
    kind: str
    plural: str
    namespaced: bool
    versions: tuple[str, ...]


@cache
def kinds(bundle: str) -> tuple[Kind, ...]:
    """The kinds of a bundle, as the table lists them."""
    table: dict[str, dict[str, list[str]]] = yaml.load(TABLE.read_bytes(), Loader=yaml.CSafeLoader)
    return tuple(_kind(group, row) for group, rows in table[bundle].items() for row in rows)


def schema_free(bundle: str) -> list[dict[str, Any]]:
    """A CRD for each kind of the bundle, with status subresource and without a schema."""
    return [_definition(kind) for kind in kinds(bundle)]


def _kind(group: str, row: str) -> Kind:
    kind, plural, scope, *versions = row.split()
    return Kind(group=group, kind=kind, plural=plural, namespaced=scope == "Namespaced", versions=tuple(versions))


def _definition(kind: Kind) -> dict[str, Any]:
    names = {"kind": kind.kind, "listKind": f"{kind.kind}List", "plural": kind.plural, "singular": kind.kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}", "annotations": _annotations(kind.group)},
        "spec": {
            "group": kind.group,
            "names": names,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [_version(version, stored=version == kind.versions[-1]) for version in kind.versions],
        },
    }


def _annotations(group: str) -> dict[str, str]:
    note = {"platform.local/schema-free": "true"}
    # Without this annotation the API server refuses CRDs in the protected group.
    approval = {"api-approved.kubernetes.io": "unapproved, a local stand-in"} if group.endswith("k8s.io") else {}
    return {**note, **approval}


def _version(name: str, *, stored: bool) -> dict[str, Any]:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "name": name,
        "served": True,
        "storage": stored,
        "schema": {"openAPIV3Schema": anything},
        "subresources": {"status": {}},
    }
