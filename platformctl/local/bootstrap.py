"""What a fresh embedded cluster is given before anything else: rights and kinds for the simulation, and its nodes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from platformctl.local import crds
from platformctl.local.api import KubeApi
from platformctl.local.pki import SIMULATION_GROUP

SIMULATED = "simulated"


def prepare(api: KubeApi, nodes: Collection[str]) -> None:
    """Declares the role binding and exactly these simulated nodes; nodes that someone else made are left alone."""
    api.apply(_role_binding())
    # kwok would start without its CRD, but then waits seconds before it looks again
    for definition in crds.bundle("kwok").objects:
        api.apply(definition)
    for name in nodes:
        api.apply(_node(name))
    for node in api.list("v1", "Node", params={"labelSelector": f"{SIMULATED}=true"}):
        if node["metadata"]["name"] not in nodes:
            api.delete("v1", "Node", node["metadata"]["name"])


def _role_binding() -> dict[str, Any]:
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "platform-simulation"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": SIMULATION_GROUP}],
    }


def _node(name: str) -> dict[str, Any]:
    labels = {
        SIMULATED: "true",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
    }
    annotations = {"kwok.x-k8s.io/node": "fake", SIMULATED: "played by kwok; there is no machine behind this node"}
    metadata = {"name": name, "labels": labels, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
