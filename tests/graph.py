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
    Order(before="policies", after="gateway-api"),
    Order(before="gateway-api", after="HelmRelease/cilium"),
    Order(before="HelmRelease/cilium", after="CiliumLoadBalancerIPPool/lan"),
    Order(before="HelmRelease/cilium", after="CiliumL2AnnouncementPolicy/lan"),
    Order(before="HelmRelease/cilium", after="GatewayClass/cilium"),
    Order(before="Namespace/gateway", after="Certificate/wildcard"),
    Order(before="ClusterIssuer/letsencrypt-staging", after="Certificate/wildcard"),
    Order(before="ClusterIssuer/letsencrypt-production", after="Certificate/wildcard"),
    Order(before="GatewayClass/cilium", after="Gateway/home"),
    Order(before="CiliumLoadBalancerIPPool/lan", after="Gateway/home"),
    Order(before="Certificate/wildcard", after="Gateway/home"),
    Order(before="Gateway/home", after="HTTPRoute/redirect-to-https"),
    Order(before="gateway-api", after="external-dns"),
    Order(before="Kustomization/platform", after="external-dns"),
    Order(before="HelmRelease/prometheus-operator-crds", after="HelmRelease/external-dns"),
    Order(before="policies", after="longhorn"),
    Order(before="cilium", after="longhorn"),
    Order(before="Kustomization/platform", after="longhorn"),
    Order(before="HelmRelease/longhorn", after="StorageClass/longhorn-bulk"),
    Order(before="HelmRelease/longhorn", after="StorageClass/longhorn-scratch"),
    Order(before="volumesnapshots-crd", after="snapshot-controller"),
    Order(before="volumesnapshotcontents-crd", after="snapshot-controller"),
    Order(before="volumesnapshotclasses-crd", after="snapshot-controller"),
    Order(before="volumegroupsnapshotcontents-crd", after="snapshot-controller"),
    Order(before="volumesnapshotclasses-crd", after="VolumeSnapshotClass/longhorn-snapshot"),
    Order(before="HelmRelease/snapshot-controller", after="VolumeSnapshotClass/longhorn-snapshot"),
    Order(before="VolumeSnapshotClass/longhorn-snapshot", after="HelmRelease/velero"),
    Order(before="StorageClass/longhorn-scratch", after="HelmRelease/velero"),
    Order(before="HelmRelease/longhorn", after="HelmRelease/velero"),
    Order(before="ConfigMap/node-agent-config", after="HelmRelease/velero"),
    Order(before="Kustomization/platform", after="velero"),
    Order(before="policies", after="prometheus-operator-crds"),
    Order(before="HelmRelease/prometheus-operator-crds", after="HelmRelease/cilium"),
    Order(before="HelmRelease/prometheus-operator-crds", after="monitoring"),
    Order(before="HelmRelease/longhorn", after="HelmRelease/kube-prometheus-stack"),
    Order(before="HelmRelease/cert-manager", after="HelmRelease/kube-prometheus-stack"),
    Order(before="Kustomization/platform", after="HelmRelease/kube-prometheus-stack"),
    Order(before="Secret/grafana-admin", after="HelmRelease/kube-prometheus-stack"),
    Order(before="Secret/grafana-oidc", after="HelmRelease/kube-prometheus-stack"),
    Order(before="HelmRelease/longhorn", after="HelmRelease/loki"),
    Order(before="HelmRelease/loki", after="HelmRelease/alloy"),
    Order(before="GitRepository/flux-system", after="image-automation"),
    Order(before="namespaces", after="client-secrets"),
    Order(before="Secret/grafana-oidc", after="HelmRelease/kube-prometheus-stack"),
    Order(before="client-secrets", after="user-interfaces"),
    Order(before="keycloak", after="user-interfaces"),
    Order(before="realm", after="user-interfaces"),
    Order(before="Gateway/home", after="user-interfaces"),
    Order(before="longhorn", after="user-interfaces"),
    Order(before="monitoring", after="user-interfaces"),
    Order(before="HelmRelease/prometheus-operator-crds", after="user-interfaces"),
    Order(before="HelmRelease/oauth2-proxy-longhorn", after="HTTPRoute/longhorn"),
    Order(before="NetworkPolicy/longhorn-behind-sign-in", after="HTTPRoute/longhorn"),
    Order(before="policies", after="databases"),
    Order(before="HelmRelease/prometheus-operator-crds", after="databases"),
    Order(before="HelmRelease/cloudnative-pg", after="Cluster/keycloak-db"),
    Order(before="HelmRelease/longhorn", after="Cluster/keycloak-db"),
    Order(before="Secret/keycloak-database", after="Cluster/keycloak-db"),
    Order(before="Cluster/keycloak-db", after="Deployment/keycloak"),
    Order(before="Secret/keycloak-admin", after="Deployment/keycloak"),
    Order(before="HelmRelease/prometheus-operator-crds", after="PodMonitor/keycloak-db"),
    Order(before="Kustomization/platform", after="client-secrets"),
    Order(before="keycloak", after="realm"),
    Order(before="client-secrets", after="realm"),
    Order(before="client-secrets", after="HelmRelease/kube-prometheus-stack"),
    Order(before="realm", after="keycloak-route"),
    Order(before="gateway", after="keycloak-route"),
    Order(before="realm", after="user-interfaces"),
    Order(before="policies", after="kubevirt-operator"),
    Order(before="policies", after="cdi-operator"),
    Order(before="kubevirt-operator", after="KubeVirt/kubevirt"),
    Order(before="cdi-operator", after="CDI/cdi"),
    Order(before="Namespace/kubevirt", after="KubeVirt/kubevirt"),
    Order(before="Namespace/cdi", after="CDI/cdi"),
    Order(before="StorageClass/longhorn-scratch", after="CDI/cdi"),
    Order(before="HelmRelease/longhorn", after="KubeVirt/kubevirt"),
)


def left_out(recording: Recording, edge: Order) -> str | None:
    """Why the edge cannot be looked at: an upstream file that was out of reach, so nothing was declared for it."""
    absent = [message for message in recording.messages if message.startswith((f"{edge.before} ", f"{edge.after} "))]
    return absent[0] if absent else None


def missing_order(recording: Recording) -> list[Order]:
    """The required edges that the dependencies of the recording do not carry, directly or through others."""
    reach = _reach(recording)
    looked_at = [edge for edge in REQUIRED_ORDER if not left_out(recording, edge)]
    return [edge for edge in looked_at if not _carried(recording, edge, reach)]


def is_missing(recording: Recording, edge: Order) -> bool:
    """Whether this one edge is not carried."""
    return not _carried(recording, edge, _reach(recording))


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
    found = [each for each in recording.registrations if each.is_manifest and recording.component_of(each) == name]
    assert found, f"no objects in component {name}"
    return found


def resource(recording: Recording, kind: str, name: str) -> Registration:
    """The one object of that kind and metadata.name."""
    (found,) = (
        manifest
        for manifest in recording.registrations
        if manifest.is_manifest and manifest.inputs["kind"] == kind and manifest.inputs["metadata"]["name"] == name
    )
    return found


def _carried(recording: Recording, edge: Order, reach: dict[str, frozenset[str]]) -> bool:
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
