"""Who may connect to pods: NetworkPolicies that leave only named peers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from components.objects import manifest


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Pods of a namespace by their labels (all of them if none are given), and the port that they may connect to.

    port: of the guarded pods, not of their Service; None for every port.
    """

    namespace: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    port: int | None = None


@dataclass(frozen=True, kw_only=True)
class Guard:
    """The pods with these labels, and the only ones that reach them. A node always reaches its own pods."""

    name: str
    namespace: str
    pods: Mapping[str, str]
    peers: tuple[Peer, ...]


def network_policy(guard: Guard) -> dict[str, Any]:
    """The NetworkPolicy. Raises ValueError for a guard without labels, which would close a whole namespace."""
    if not guard.pods:
        raise ValueError(f"the guard {guard.namespace}/{guard.name} names no pods")
    spec = {
        "podSelector": {"matchLabels": dict(guard.pods)},
        "policyTypes": ["Ingress"],
        "ingress": list(_rules(guard.peers)),
    }
    return manifest("networking.k8s.io/v1", "NetworkPolicy", guard.name, namespace=guard.namespace, spec=spec)


def _rules(peers: Iterable[Peer]) -> Iterable[dict[str, Any]]:
    for peer in peers:
        namespace = {"matchLabels": {"kubernetes.io/metadata.name": peer.namespace}}
        pods = {"podSelector": {"matchLabels": dict(peer.labels)}} if peer.labels else {}
        ports = {"ports": [{"protocol": "TCP", "port": peer.port}]} if peer.port else {}
        # Both selectors stand in one entry: as two entries either of them would be enough.
        yield {"from": [{"namespaceSelector": namespace, **pods}], **ports}
