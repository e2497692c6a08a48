"""The two policies that run inside the API server, on a real one: who may change the platform, and routes anywhere.

kyverno makes a ValidatingAdmissionPolicy of each; what it copies is copied here the same way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from components.objects import Manifest
from platformctl.local import crds
from platformctl.local.api import MERGE_PATCH, ApiError, KubeApi, User
from platformctl.local.cluster import Cluster
from platformctl.local.simulation import definitions
from platformctl.render.recorder import Recording
from tests.integration.test_simulation import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]

ADMISSION = "admissionregistration.k8s.io/v1"
PLATFORM = "cert-manager"
ELSEWHERE = "household"
# Every user here may do everything as far as RBAC is concerned.
EVERYTHING = "guard-test"
LABEL = {"app.kubernetes.io/managed-by": "pulumi"}

PERSON = User(name="keith", groups=("system:authenticated", EVERYTHING))
ALLOWED = (
    User(name="platform-deploy", groups=(EVERYTHING,)),
    User(name="keith", groups=(EVERYTHING, "platform-break-glass")),
    User(name="system:kube-controller-manager", groups=(EVERYTHING,)),
    User(name="system:k3s-supervisor", groups=("system:masters",)),
    User(name="system:node:node-a", groups=("system:nodes", EVERYTHING)),
    User(
        name="system:serviceaccount:flux-system:helm-controller",
        groups=("system:serviceaccounts", "system:serviceaccounts:flux-system", EVERYTHING),
    ),
    User(
        name="system:serviceaccount:kubevirt:kubevirt-operator",
        groups=("system:serviceaccounts", "system:serviceaccounts:kubevirt", EVERYTHING),
    ),
)
REFUSED = (
    PERSON,
    User(name="system:admin", groups=("system:masters",)),
    User(name="platform-deploy-2", groups=(EVERYTHING,)),
    User(
        name="system:serviceaccount:household:app",
        groups=("system:serviceaccounts", "system:serviceaccounts:household", EVERYTHING),
    ),
)


@pytest.fixture(scope="module")
def cluster(session_cluster: Callable[..., Cluster], recordings: dict[str, Recording]) -> Cluster:
    """A cluster where both policies are in force, with one object of each kind that the tests need."""
    made = session_cluster("guard")
    made.up()
    with made.api() as api:
        gateway = crds.bundle("gateway-api-standard").objects
        eventually(lambda: definitions.install(api, gateway, manager="test"))
        for manifest in (*_population(), *_in_force(recordings["prod"])):
            api.apply(manifest)
        with made.api() as client:
            eventually(lambda: refusal(made, PERSON, lambda api: change(api, client_path(client, "guarded"))))
    return made


def _population() -> Iterator[dict[str, Any]]:
    for namespace in (PLATFORM, ELSEWHERE):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": LABEL}}
        yield _object("ConfigMap", "guarded", namespace, labels=LABEL)
        yield _object("ConfigMap", "free", namespace)
        yield _object("ConfigMap", "of-a-chart", namespace, labels={"helm.toolkit.fluxcd.io/name": "cert-manager"})
    yield _deployment()
    yield {"apiVersion": "v1", "kind": "PersistentVolume", **_volume("guarded", LABEL)}
    yield {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": EVERYTHING},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": EVERYTHING}],
    }


def _object(kind: str, name: str, namespace: str, labels: dict[str, str] | None = None) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata}


def _deployment() -> dict[str, Any]:
    # Without the label: a Scale has none to look at.
    pod = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "x", "image": "quay.io/x/x:1"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "scaled", "namespace": PLATFORM},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "x"}}, "template": pod},
    }


def _volume(name: str, labels: dict[str, str]) -> dict[str, Any]:
    source = {"driver": "driver.longhorn.io", "volumeHandle": name}
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "csi": source}
    return {"metadata": {"name": name, "labels": labels}, "spec": spec}


def _in_force(recording: Recording) -> Iterator[dict[str, Any]]:
    for found in recording.manifests:
        if found.inputs["kind"] == "ValidatingPolicy" and found.inputs["spec"].get("autogen"):
            yield from _admission_policy(found.inputs)


def _admission_policy(policy: Manifest) -> Iterator[dict[str, Any]]:
    """As kyverno does it: the failure policy is not taken over, so an error in an expression refuses."""
    spec, name = policy["spec"], f"vpol-{policy['metadata']['name']}"
    copied = {
        key: spec[key] for key in ("matchConstraints", "matchConditions", "variables", "validations") if key in spec
    }
    yield {
        "apiVersion": ADMISSION,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {"failurePolicy": "Fail", **copied},
    }
    yield {
        "apiVersion": ADMISSION,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": f"{name}-binding"},
        "spec": {"policyName": name, "validationActions": spec["validationActions"]},
    }


@contextmanager
def acting_as(cluster: Cluster, user: User) -> Generator[KubeApi]:
    with KubeApi(cluster.kubeconfig, acting_as=user) as api:
        yield api


def refusal(cluster: Cluster, user: User, act: Callable[[KubeApi], object]) -> str:
    """What admission says against it; empty if it went through."""
    with acting_as(cluster, user) as api:
        try:
            act(api)
        except ApiError as error:
            assert "ValidatingAdmissionPolicy" in error.message, error
            return error.message
    return ""


def client_path(api: KubeApi, name: str, namespace: str = PLATFORM, kind: str = "ConfigMap") -> str:
    return api.resource_path("apps/v1" if kind == "Deployment" else "v1", kind, namespace, name)


def change(api: KubeApi, path: str, **params: str) -> object:
    """Something new each time: what changes nothing is not judged in the same way."""
    body = {"metadata": {"annotations": {"changed": str(time.time_ns())}}}
    return api.request("PATCH", path, body=body, content_type=MERGE_PATCH, params=dict(params))


def touch(name: str, namespace: str = PLATFORM) -> Callable[[KubeApi], object]:
    return lambda api: change(api, client_path(api, name, namespace))


@pytest.mark.parametrize("user", ALLOWED, ids=lambda user: f"{user.name} {user.groups[-1]}")
def test_these_may_change_the_platform(cluster: Cluster, user: User) -> None:
    assert refusal(cluster, user, touch("guarded")) == ""


@pytest.mark.parametrize("user", REFUSED, ids=lambda user: user.name)
def test_these_may_not(cluster: Cluster, user: User) -> None:
    sentence = refusal(cluster, user, touch("guarded"))
    assert f"{user.name} must not change it by hand. In an emergency act as a member of the group" in sentence


def test_what_flux_installed_is_guarded_too(cluster: Cluster) -> None:
    assert refusal(cluster, PERSON, touch("of-a-chart"))


def test_a_person_does_not_delete_it(cluster: Cluster) -> None:
    assert refusal(cluster, PERSON, lambda api: api.delete("v1", "ConfigMap", "guarded", PLATFORM))


def test_taking_the_label_off_is_a_change(cluster: Cluster) -> None:
    bare = {"metadata": {"labels": {"app.kubernetes.io/managed-by": None}}}

    def strip(api: KubeApi) -> object:
        return api.request("PATCH", client_path(api, "guarded"), body=bare, content_type=MERGE_PATCH)

    assert refusal(cluster, PERSON, strip)


def test_objects_of_the_whole_cluster_are_guarded(cluster: Cluster) -> None:
    assert refusal(
        cluster, PERSON, lambda api: change(api, api.resource_path("v1", "PersistentVolume", None, "guarded"))
    )


def test_a_namespace_of_the_platform_is_guarded(cluster: Cluster) -> None:
    assert refusal(cluster, PERSON, lambda api: api.delete("v1", "Namespace", PLATFORM))


def test_a_person_does_not_scale_in_the_platform(cluster: Cluster) -> None:
    def scale(api: KubeApi) -> object:
        path = f"{client_path(api, 'scaled', kind='Deployment')}/scale"
        return api.request("PATCH", path, body={"spec": {"replicas": 1}}, content_type=MERGE_PATCH)

    assert refusal(cluster, PERSON, scale)


def test_looking_is_not_changing(cluster: Cluster) -> None:
    def preview(api: KubeApi) -> object:
        return change(api, client_path(api, "guarded"), dryRun="All")

    assert refusal(cluster, PERSON, preview) == ""


def test_what_nobody_declared_is_free(cluster: Cluster) -> None:
    assert refusal(cluster, PERSON, touch("free")) == ""


def test_outside_the_platform_everything_is_free(cluster: Cluster) -> None:
    assert refusal(cluster, PERSON, touch("guarded", ELSEWHERE)) == ""


@pytest.mark.parametrize("namespace", [PLATFORM, ELSEWHERE])
@pytest.mark.parametrize("user", [PERSON, ALLOWED[0]], ids=lambda user: user.name)
def test_a_route_stays_under_the_domain_wherever_it_is(
    cluster: Cluster, user: User, namespace: str, recordings: dict[str, Recording]
) -> None:
    domain = recordings["prod"].exports["domain"]

    def route(host: str) -> Callable[[KubeApi], object]:
        manifest = {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "HTTPRoute",
            "metadata": {"name": "route", "namespace": namespace},
            "spec": {"hostnames": [host]},
        }
        return lambda api: api.apply(manifest, dry_run=True)

    assert refusal(cluster, user, route(f"app.{domain}")) == ""
    assert f"host app.example.net must be {domain} or one name below it" in refusal(
        cluster, user, route("app.example.net")
    )
