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
)


def show(api: KubeApi, target: Deployment) -> None:
    """Three parts: the platform's objects with their condition, the simulation, the ways in."""
    table = Table("kind", "name", "version", "ready", box=None, pad_edge=False)
    for api_version, kind in WATCHED:
        for item in api.list(api_version, kind):
            table.add_row(kind, _name(item), _version(item), _ready(item))
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
    revision: str = status.get("lastAttemptedRevision") or status.get("lastAppliedRevision") or ""
    return history[0].get("chartVersion", revision)


def _ready(item: Mapping[str, Any]) -> str:
    conditions: Sequence[Mapping[str, str]] = item.get("status", {}).get("conditions") or []
    ready = next((condition for condition in conditions if condition["type"] == "Ready"), None)
    if ready is None:
        return "suspended" if item.get("spec", {}).get("suspend") else "unknown"
    word = "yes" if ready["status"] == "True" else f"no, {ready.get('reason', '')}"
    return f"{word} (simulated)" if "simulated" in ready.get("message", "") else word
