"""The simulated operators of KubeVirt and CDI: kinds come with the object that they serve, and order counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from platformctl.local import crds
from platformctl.local.api import KubeApi
from platformctl.local.cluster import Cluster
from platformctl.local.simulation import definitions
from platformctl.local.simulation.objects import condition
from tests.integration.test_simulation import eventually, exists, kind_is_served, namespaced, remains

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]

MACHINES = "kubevirt.io/v1"
DISKS = "cdi.kubevirt.io/v1beta1"
VIRT = ("kubevirt", "virt-operator")
CDI = ("cdi", "cdi-operator")


@pytest.fixture
def api(shared: Cluster) -> Iterator[KubeApi]:
    """CRDs as the manifests bring them, without their operators; only the namespaces are left afterwards."""
    with shared.api() as client:
        both = [*crds.bundle("kubevirt").objects, *crds.bundle("cdi").objects]
        eventually(lambda: definitions.remove(client, both))
        eventually(lambda: definitions.install(client, both, manager="test"))
        for namespace, _ in (VIRT, CDI):
            client.apply(namespaced("v1", "Namespace", namespace, None))
        yield client
        for operator in (VIRT, CDI):
            client.apply(deployment(*operator))
        for obj in (kubevirt(), cdi()):
            remove(client, obj)
            eventually(lambda obj=obj: not there(client, obj))
        eventually(lambda: definitions.remove(client, both))
        for namespace, name in (VIRT, CDI):
            client.delete("apps/v1", "Deployment", name, namespace)
            eventually(lambda at=(name, namespace): not exists(client, "apps/v1", "Deployment", *at))


def kubevirt(**spec: Any) -> dict[str, Any]:
    return namespaced(MACHINES, "KubeVirt", "kubevirt", VIRT[0], spec=spec)


def cdi() -> dict[str, Any]:
    return namespaced(DISKS, "CDI", "cdi", None, spec={})


def deployment(namespace: str, name: str) -> dict[str, Any]:
    containers = [{"name": name, "image": "quay.io/simulated/operator:1"}]
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": template}
    return namespaced("apps/v1", "Deployment", name, namespace, spec=spec)


def read(api: KubeApi, obj: dict[str, Any]) -> dict[str, Any]:
    metadata = obj["metadata"]
    return api.get(obj["apiVersion"], obj["kind"], metadata["name"], metadata.get("namespace"))


def there(api: KubeApi, obj: dict[str, Any]) -> bool:
    metadata = obj["metadata"]
    return exists(api, obj["apiVersion"], obj["kind"], metadata["name"], metadata.get("namespace"))


def remove(api: KubeApi, obj: dict[str, Any]) -> None:
    if kind_is_served(api, obj["apiVersion"], obj["kind"]):
        metadata = obj["metadata"]
        api.delete(obj["apiVersion"], obj["kind"], metadata["name"], metadata.get("namespace"))


def available(api: KubeApi, obj: dict[str, Any]) -> tuple[str, str]:
    found = condition(read(api, obj), "Available")
    return found.get("status", ""), found.get("reason", "")


@pytest.mark.parametrize(
    ("obj", "operator", "kind"),
    [
        (kubevirt(), VIRT, (MACHINES, "VirtualMachine")),
        (cdi(), CDI, (DISKS, "DataVolume")),
    ],
    ids=["kubevirt", "cdi"],
)
def test_the_kinds_come_when_the_operator_serves_its_object(
    api: KubeApi, obj: dict[str, Any], operator: tuple[str, str], kind: tuple[str, str]
) -> None:
    api.apply(obj)
    eventually(lambda: available(api, obj) == ("False", "OperatorNotRunning"))
    assert not kind_is_served(api, *kind)
    api.apply(deployment(*operator))
    eventually(lambda: available(api, obj)[0] == "True")
    eventually(lambda: kind_is_served(api, *kind), seconds=5)
    assert "simulated" in condition(read(api, obj), "Available")["message"]


def test_a_change_is_observed(api: KubeApi) -> None:
    api.apply(deployment(*VIRT))
    api.apply(kubevirt())
    eventually(lambda: available(api, kubevirt())[0] == "True")
    changed = api.apply(kubevirt(infra={"replicas": 1}))["metadata"]["generation"]
    eventually(lambda: read(api, kubevirt())["status"]["observedGeneration"] == changed)


def test_a_machine_holds_kubevirt_back(api: KubeApi) -> None:
    api.apply(deployment(*VIRT))
    api.apply(kubevirt())
    eventually(lambda: kind_is_served(api, MACHINES, "VirtualMachine"))
    eventually(lambda: available(api, kubevirt())[0] == "True")
    machine = namespaced(MACHINES, "VirtualMachine", "machine", "default", spec={})
    api.apply(machine)
    remove(api, kubevirt())
    remains(lambda: there(api, kubevirt()), seconds=4)
    remove(api, machine)
    eventually(lambda: not there(api, kubevirt()))
    eventually(lambda: not kind_is_served(api, MACHINES, "VirtualMachine"))


def test_without_its_operator_kubevirt_cannot_leave(api: KubeApi) -> None:
    api.apply(deployment(*VIRT))
    api.apply(kubevirt())
    eventually(lambda: available(api, kubevirt())[0] == "True")
    api.delete("apps/v1", "Deployment", VIRT[1], VIRT[0])
    eventually(lambda: not exists(api, "apps/v1", "Deployment", VIRT[1], VIRT[0]))
    remove(api, kubevirt())
    remains(lambda: there(api, kubevirt()), seconds=4)


def test_where_the_manifest_is_out_of_reach_nobody_waits_for_the_operator(api: KubeApi) -> None:
    definition = crds.bundle("kubevirt").objects[0]
    eventually(lambda: definitions.remove(api, [definition]))
    eventually(lambda: definitions.install(api, [definition], manager="platformctl"))
    api.apply(kubevirt())
    eventually(lambda: available(api, kubevirt())[0] == "True")
