"""The small API client and the controllers, on a running embedded cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from platformctl.local.api import ApiError, KubeApi, ObjectRef
from platformctl.local.cluster import DEFAULT_NODES, Cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(60, func_only=True)]


@pytest.fixture(scope="module")
def api(shared: Cluster) -> Iterator[KubeApi]:
    with shared.api() as client:
        yield client


@pytest.fixture(scope="module")
def namespace(api: KubeApi) -> Iterator[str]:
    """A namespace of these tests; at the end the namespace controller empties and removes it (it waits for 5 s)."""
    name = f"test-{time.time_ns()}"
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    api.delete("v1", "Namespace", name)
    eventually(lambda: gone(api, ObjectRef(api_version="v1", kind="Namespace", name=name)))


def eventually(holds: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"did not come true within {seconds} s"
        time.sleep(0.1)


def gone(api: KubeApi, ref: ObjectRef) -> bool:
    try:
        api.get(ref.api_version, ref.kind, ref.name, ref.namespace)
    except ApiError as error:
        return error.not_found
    return False


def config_map(name: str, namespace: str, **data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


def test_the_version_is_one_that_kubevirt_supports(api: KubeApi) -> None:
    assert api.request("GET", "/version")["gitVersion"].startswith("v1.35.")


def test_nodes_are_ready_and_say_that_they_are_simulated(api: KubeApi) -> None:
    nodes = {node["metadata"]["name"]: node for node in api.list("v1", "Node")}
    assert set(nodes) == set(DEFAULT_NODES)
    for node in nodes.values():
        assert node["metadata"]["labels"]["simulated"] == "true"
        assert node["metadata"]["annotations"]["kwok.x-k8s.io/node"] == "fake"
        assert {"Ready": "True"}.items() <= {c["type"]: c["status"] for c in node["status"]["conditions"]}.items()


def test_apply_creates_then_changes_only_its_own_fields(api: KubeApi, namespace: str) -> None:
    api.apply(config_map("mixed", namespace, mine="1"))
    api.apply(config_map("mixed", namespace, theirs="1"), field_manager="somebody")
    api.apply(config_map("mixed", namespace, mine="2"))
    assert api.get("v1", "ConfigMap", "mixed", namespace)["data"] == {"mine": "2", "theirs": "1"}


def test_apply_without_force_reports_the_conflict(api: KubeApi, namespace: str) -> None:
    api.apply(config_map("contested", namespace, key="1"))
    with pytest.raises(ApiError, match='"platformctl"') as caught:
        api.apply(config_map("contested", namespace, key="2"), field_manager="somebody", force=False)
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")


def test_list_names_kind_and_version_of_each_object(api: KubeApi, namespace: str) -> None:
    api.apply(config_map("listed", namespace))
    wanted = ObjectRef(api_version="v1", kind="ConfigMap", name="listed", namespace=namespace)
    assert wanted in [ObjectRef.of(item) for item in api.list("v1", "ConfigMap", namespace)]
    assert "listed" in {item["metadata"]["name"] for item in api.list("v1", "configmaps")}


def test_watch_reports_what_happens_after_the_list(api: KubeApi, namespace: str) -> None:
    version = api.apply(config_map("watched", namespace))["metadata"]["resourceVersion"]
    api.apply(config_map("watched", namespace, key="new"))
    api.delete("v1", "ConfigMap", "watched", namespace)
    events = api.watch("v1", "ConfigMap", namespace, resource_version=version, seconds=5)
    assert [next(events)["type"], next(events)["type"]] == ["MODIFIED", "DELETED"]


def test_delete_of_something_missing(api: KubeApi, namespace: str) -> None:
    api.delete("v1", "ConfigMap", "missing", namespace)
    with pytest.raises(ApiError) as caught:
        api.delete("v1", "ConfigMap", "missing", namespace, missing_ok=False)
    assert caught.value.not_found


def test_an_unknown_kind_is_not_found(api: KubeApi) -> None:
    for api_version, kind in (("v1", "Nothing"), ("nothing.invalid/v1", "Nothing")):
        with pytest.raises(ApiError) as caught:
            api.list(api_version, kind)
        assert caught.value.not_found


@pytest.fixture
def widgets(api: KubeApi) -> Iterator[str]:
    """A custom resource whose CRD appears after the client has looked its group up in vain."""
    group = "test.invalid"
    with pytest.raises(ApiError):
        api.list(f"{group}/v1", "Widget")
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "scope": "Namespaced",
            "versions": [version],
        },
    }
    api.apply(definition)
    ref = ObjectRef.of(definition)
    eventually(lambda: established(api.get(ref.api_version, ref.kind, ref.name)))
    yield f"{group}/v1"
    api.delete(ref.api_version, ref.kind, ref.name)
    eventually(lambda: gone(api, ref))


def established(definition: dict[str, Any]) -> bool:
    conditions = definition.get("status", {}).get("conditions") or []
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def test_status_of_a_custom_resource_is_patched_apart_from_its_spec(api: KubeApi, namespace: str, widgets: str) -> None:
    widget = {"apiVersion": widgets, "kind": "Widget", "metadata": {"name": "one", "namespace": namespace}}
    eventually(lambda: applied(api, {**widget, "spec": {"size": 1}}))
    api.patch_status(ObjectRef.of(widget), {"observedGeneration": 1, "note": "simulated"})
    api.patch(ObjectRef.of(widget), {"spec": {"size": 2}, "status": {"note": "ignored"}})
    api.patch_status(ObjectRef.of(widget), {"observedGeneration": None})
    found = api.get(widgets, "Widget", "one", namespace)
    assert (found["spec"], found["status"]) == ({"size": 2}, {"note": "simulated"})


def applied(api: KubeApi, obj: dict[str, Any]) -> bool:
    try:
        api.apply(obj)
    except ApiError as error:
        assert error.not_found, error
        return False
    return True


def test_the_controllers_make_pods_of_a_deployment_and_collect_them(api: KubeApi, namespace: str) -> None:
    labels = {"app": "web"}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": "example.invalid/web:1"}]},
            },
        },
    }
    api.apply(deployment)
    eventually(lambda: len(api.list("v1", "Pod", namespace)) == 2)
    api.delete("apps/v1", "Deployment", "web", namespace)
    eventually(lambda: api.list("apps/v1", "ReplicaSet", namespace) == [])
    eventually(lambda: api.list("v1", "Pod", namespace) == [])


def test_a_stopped_server_is_an_api_error(shared: Cluster, api: KubeApi) -> None:
    assert api.connection.server == shared.status().server
    with pytest.raises(ApiError) as caught:
        api.request("GET", "https://127.0.0.1:1/")
    assert caught.value.reason == "Unreachable"
