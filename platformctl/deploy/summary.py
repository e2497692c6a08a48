"""The end of `up`: what runs, what is simulated, where to look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from platformctl import console
from platformctl.local.api import KubeApi

if TYPE_CHECKING:
    from platformctl.deploy.flow import Deployment

WATCHED = (
    ("fluxcd.controlplane.io/v1", "FluxInstance"),
    ("source.toolkit.fluxcd.io/v1", "GitRepository"),
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
    ("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
    ("cert-manager.io/v1", "ClusterIssuer"),
    ("cert-manager.io/v1", "Certificate"),
    ("gateway.networking.k8s.io/v1", "Gateway"),
    ("kubevirt.io/v1", "KubeVirt"),
    ("cdi.kubevirt.io/v1beta1", "CDI"),
)

# A Gateway is of use when it is programmed, KubeVirt and CDI when they are available.
READY = ("Ready", "Programmed", "Available")
# Where a status says which version runs.
VERSIONS = ("lastAttemptedRevision", "lastAppliedRevision", "observedKubeVirtVersion", "observedVersion")


def show(api: KubeApi, target: Deployment) -> None:
    """Three parts: the platform's objects with their condition, the simulation, the ways in."""
    table = Table("kind", "name", "version or address", "ready", box=None, pad_edge=False)
    for api_version, kind in WATCHED:
        for item in api.list(api_version, kind):
            table.add_row(kind, _name(item), _version(item) or _addresses(item), _ready(item))
    console.out.print(table)
    console.out.print(
        "\nreal: the Pulumi engine and its providers, etcd, the Kubernetes API with its CRDs, RBAC and validation\n"
        "simulated: nodes, pods, Flux's controllers and every chart; each such status says so\n",
        markup=False,
    )
    engine, kubeconfig = target.engine, target.cluster.kubeconfig
    console.out.print(
        f"look around:  export KUBECONFIG={kubeconfig}; kubectl get helmreleases -A\n"
        f"state:        {engine.directory / 'state'} (passphrase beside it)\n"
        f"logs:         {target.cluster.layout.logs}\n"
        f"stop:         make down (data stays), make destroy (the stack's objects go)",
        markup=False,
        soft_wrap=True,
    )


def _name(item: Mapping[str, Any]) -> str:
    metadata = item["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def _version(item: Mapping[str, Any]) -> str:
    status: Mapping[str, Any] = item.get("status", {})
    history: Sequence[Mapping[str, str]] = status.get("history") or [{}]
    revision: str = next((status[key] for key in VERSIONS if status.get(key)), "")
    return history[0].get("chartVersion", revision)


def _addresses(item: Mapping[str, Any]) -> str:
    """Of a Gateway."""
    addresses: Sequence[Mapping[str, str]] = item.get("status", {}).get("addresses") or []
    return ", ".join(address["value"] for address in addresses)


def _ready(item: Mapping[str, Any]) -> str:
    conditions: Sequence[Mapping[str, str]] = item.get("status", {}).get("conditions") or []
    ready = next((condition for condition in conditions if condition["type"] in READY), None)
    if ready is None:
        return "suspended" if item.get("spec", {}).get("suspend") else "unknown"
    word = "yes" if ready["status"] == "True" else f"no, {ready.get('reason', '')}"
    return f"{word} (simulated)" if "simulated" in ready.get("message", "") else word
