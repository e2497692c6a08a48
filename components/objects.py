"""Kubernetes objects of any shape as Pulumi resources, and the small manifests that many components need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

Manifest = Mapping[str, Any]

MANAGED_BY = {"app.kubernetes.io/managed-by": "pulumi"}


class KubernetesObject(pulumi.CustomResource):
    """One object, declared as the manifest that the API server gets; no field is renamed or dropped on the way."""

    def __init__(self, manifest: Manifest, opts: pulumi.ResourceOptions, *, name: str | None = None) -> None:
        """name: of the resource in the state, where the object's own name changes with its content."""
        super().__init__(type_token(manifest), name or resource_name(manifest), dict(manifest), opts)
        self.manifest = manifest


def type_token(manifest: Manifest) -> str:
    """The provider's token: `kubernetes:core/v1:Secret`, `kubernetes:helm.toolkit.fluxcd.io/v2:HelmRelease`."""
    version: str = manifest["apiVersion"]
    return f"kubernetes:{version if '/' in version else f'core/{version}'}:{manifest['kind']}"


def resource_name(manifest: Manifest) -> str:
    """The stable name in the state: `namespace/name`, or the name alone for cluster-scoped objects."""
    metadata: Mapping[str, str] = manifest["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def manifest(
    api_version: str,
    kind: str,
    name: str,
    *,
    namespace: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A manifest with the label that says who manages it; `fields` are its top-level keys, such as spec or data."""
    metadata: dict[str, Any] = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    metadata["labels"] = {**MANAGED_BY, **(labels or {})}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def secret(
    name: str,
    namespace: str,
    data: Mapping[str, pulumi.Input[str]],
    *,
    labels: Mapping[str, str] | None = None,
    kind: str = "Opaque",
) -> dict[str, Any]:
    """A Secret whose values are secret in the state; plain strings are refused. `kind` is its type."""
    if plain := sorted(key for key, value in data.items() if isinstance(value, str)):
        raise TypeError(f"Secret {namespace}/{name}: {', '.join(plain)} must be secret Outputs, not plain strings")
    values = {key: pulumi.Output.secret(value) for key, value in data.items()}
    return manifest("v1", "Secret", name, namespace=namespace, labels=labels, type=kind, stringData=values)
