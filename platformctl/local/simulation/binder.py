"""Stands in for the scheduler: pods are bound round-robin to ready nodes that their nodeSelector admits."""

from __future__ import annotations

from itertools import count

from platformctl.local.api import ApiError, KubeApi
from platformctl.local.simulation.objects import FROM_CACHE, Obj, condition, is_deleting, key_of, mapping


class Binder:
    """Level-triggered, like the reconcilers: every sweep binds the pods that have no node yet."""

    def __init__(self, api: KubeApi) -> None:
        self._api = api
        self._turn = count()

    def sweep(self) -> None:
        """Binds what can be bound now; a pod that no node admits waits, as it would for the real scheduler."""
        pending = self._api.list("v1", "Pod", params={**FROM_CACHE, "fieldSelector": "spec.nodeName="})
        if not pending:
            return
        nodes = [node for node in self._api.list("v1", "Node", params=FROM_CACHE) if _is_schedulable(node)]
        for pod in pending:
            admitted = [node for node in nodes if _admits(node, pod)]
            if admitted and not is_deleting(pod):
                self._bind(pod, admitted[next(self._turn) % len(admitted)])

    def _bind(self, pod: Obj, node: Obj) -> None:
        namespace, name = key_of(pod)
        target = {"apiVersion": "v1", "kind": "Node", "name": node["metadata"]["name"]}
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace},
            "target": target,
        }
        try:
            self._api.request("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/binding", body=binding)
        except ApiError as error:
            if not (error.conflict or error.not_found):
                raise


def _is_schedulable(node: Obj) -> bool:
    return condition(node, "Ready").get("status") == "True" and not node["spec"].get("unschedulable")


def _admits(node: Obj, pod: Obj) -> bool:
    labels = mapping(node, "metadata", "labels")
    return all(labels.get(key) == wanted for key, wanted in mapping(pod, "spec", "nodeSelector").items())
