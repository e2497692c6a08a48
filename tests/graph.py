"""The order in which the platform must come up, and whether a recording's dependencies carry it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from platformctl.render.recorder import Recording, Registration


@dataclass(frozen=True, kw_only=True)
class Order:
    """Every resource of component `after` must come after `before`, a component or one `Kind/name`."""

    before: str
    after: str


REQUIRED_ORDER = (
    Order(before="Namespace/flux-system", after="flux-operator"),
    Order(before="flux-operator", after="FluxInstance/flux"),
    Order(before="FluxInstance/flux", after="namespaces"),
    Order(before="FluxInstance/flux", after="sync"),
    Order(before="Secret/flux-system", after="GitRepository/flux-system"),
    Order(before="Secret/sops-age", after="Kustomization/platform"),
    Order(before="namespaces", after="Kustomization/platform"),
    Order(before="GitRepository/flux-system", after="Kustomization/platform"),
    Order(before="ConfigMap/cluster-vars", after="Kustomization/apps"),
    Order(before="Kustomization/platform", after="Kustomization/apps"),
    Order(before="Secret/receiver-token", after="Receiver/git-push"),
    Order(before="Kustomization/platform", after="kyverno"),
    Order(before="HelmRelease/kyverno", after="policies"),
    Order(before="policies", after="cilium"),
    Order(before="policies", after="cert-manager"),
    Order(before="cilium", after="cert-manager"),
    Order(before="HelmRelease/cert-manager", after="ClusterIssuer/letsencrypt-staging"),
    Order(before="HelmRelease/cert-manager", after="ClusterIssuer/letsencrypt-production"),
)


def left_out(recording: Recording, edge: Order) -> str | None:
    """Why the edge cannot be looked at: an upstream file that was out of reach, so nothing was declared for it."""
    absent = [message for message in recording.messages if message.startswith((edge.before, edge.after))]
    return absent[0] if absent else None


def missing_order(recording: Recording) -> list[Order]:
    """The required edges that the dependencies of the recording do not carry, directly or through others."""
    looked_at = [edge for edge in REQUIRED_ORDER if not left_out(recording, edge)]
    return [edge for edge in looked_at if not _carried(recording, edge)]


def without_edge(recording: Recording, edge: Order) -> Recording:
    """The recording as if nobody had ever written the edge: no path from `after` to `before` is left."""
    before = {found.urn for found in members(recording, edge.before)}
    reaching = {urn for urn, reached in _reach(recording).items() if reached & before} | before
    after = {found.urn for found in members(recording, edge.after)}
    registrations = [
        replace(found, dependencies=found.dependencies - reaching) if found.urn in after else found
        for found in recording.registrations
    ]
    return replace(recording, registrations=registrations)


def members(recording: Recording, name: str) -> list[Registration]:
    """The objects of a component, or the one object `Kind/name`."""
    kind, _, object_name = name.rpartition("/")
    if kind:
        return [resource(recording, kind, object_name)]
    found = [manifest for manifest in recording.manifests if recording.component_of(manifest) == name]
    assert found, f"no objects in component {name}"
    return found


def resource(recording: Recording, kind: str, name: str) -> Registration:
    """The one object of that kind and metadata.name."""
    (found,) = (
        manifest
        for manifest in recording.manifests
        if manifest.inputs["kind"] == kind and manifest.inputs["metadata"]["name"] == name
    )
    return found


def _carried(recording: Recording, edge: Order) -> bool:
    reach = _reach(recording)
    before = {found.urn for found in members(recording, edge.before)}
    return all(before <= reach[found.urn] for found in members(recording, edge.after))


def _reach(recording: Recording) -> dict[str, frozenset[str]]:
    """For each resource everything that the engine finishes before it; registrations come in dependency order."""
    reach: dict[str, frozenset[str]] = {}
    for found in recording.registrations:
        reach[found.urn] = found.dependencies | _union(reach.get(urn, frozenset()) for urn in found.dependencies)
    return reach


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)
