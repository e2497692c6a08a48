"""The simulated data plane on a real API server: it can fail, it recovers, and it never forgets an update."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from components import upstream
from platformctl.local import crds, simulation
from platformctl.local.api import ApiError, KubeApi, ObjectRef
from platformctl.local.cluster import Cluster
from platformctl.local.schema_free import schema_free
from platformctl.local.simulation import command, definitions, preinstall
from platformctl.local.simulation.delays import Delays
from platformctl.local.simulation.objects import condition, is_ready
from platformctl.paths import CHECKOUT

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]

SECONDS = 60.0
SEED = 7
SOURCE = "source.toolkit.fluxcd.io/v1"
HELM = "helm.toolkit.fluxcd.io/v2"
KUSTOMIZE = "kustomize.toolkit.fluxcd.io/v1"
COMPONENTS = ["source", "kustomize", "helm", "notification", "image-reflector", "image-automation"]


@pytest.fixture(scope="module")
def cluster(session_cluster: Callable[..., Cluster]) -> Cluster:
    made = session_cluster("simulation", seed=SEED)
    made.up()
    return made


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[KubeApi]:
    """A cluster on which Flux is ready."""
    with cluster.api() as client:
        definitions.install(client, crds.bundle("flux-operator").objects, manager="test")
        eventually(lambda: kind_is_served(client, "fluxcd.controlplane.io/v1", "FluxInstance"))
        client.apply(namespaced("v1", "Namespace", "flux-system", None))
        client.apply(flux_instance())
        eventually(lambda: ready(client, flux_instance()))
        client.apply(repository("charts", "flux-system"))
        yield client


@pytest.fixture
def namespace(api: KubeApi) -> Iterator[str]:
    """An empty namespace; what a test leaves in it goes with it."""
    name = f"test-{time.time_ns()}"
    api.apply(namespaced("v1", "Namespace", name, None))
    yield name
    for release in api.list(HELM, "HelmRelease", name):
        api.delete(HELM, "HelmRelease", release["metadata"]["name"], name)
    eventually(lambda: not api.list(HELM, "HelmRelease", name))
    api.delete("v1", "Namespace", name)


def test_the_crds_of_a_manifest_that_is_out_of_reach_are_there_beforehand(
    api: KubeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only what this cluster has anyway: the other tests count on the rest not being there.
    monkeypatch.setattr(simulation, "UPSTREAM_BUNDLES", {"flux-operator": "flux-operator"})
    monkeypatch.setattr(upstream, "read", lambda file: b"")
    assert preinstall(api) == []

    def unreachable(file: str) -> bytes:
        raise upstream.UpstreamUnavailable(f"{file} is out of reach")

    monkeypatch.setattr(upstream, "read", unreachable)
    assert [note.partition(":")[0] for note in preinstall(api)] == ["flux-operator"]
    eventually(lambda: kind_is_served(api, "fluxcd.controlplane.io/v1", "FluxInstance"))


def eventually(holds: Callable[[], object], seconds: float = SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"did not come true within {seconds} s"
        time.sleep(0.05)


def remains(holds: Callable[[], object], seconds: float) -> None:
    """Longer than the longest delay, so that whatever would happen has happened."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert holds()
        time.sleep(0.05)


def namespaced(api_version: str, kind: str, name: str, namespace: str | None, **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def flux_instance() -> dict[str, Any]:
    spec = {
        "distribution": {"version": crds.bundle("flux").version.removeprefix("v"), "registry": "ghcr.io/fluxcd"},
        "components": [f"{component}-controller" for component in COMPONENTS],
    }
    return namespaced("fluxcd.controlplane.io/v1", "FluxInstance", "flux", "flux-system", spec=spec)


def repository(name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    spec = {"interval": "1h", "url": "https://charts.example.org", **spec}
    return namespaced(SOURCE, "HelmRepository", name, namespace, spec=spec)


def release(name: str, namespace: str, chart: str = "anything", **spec: Any) -> dict[str, Any]:
    source = {"kind": "HelmRepository", "name": "charts", "namespace": "flux-system"}
    template = {"spec": {"chart": chart, "version": "1.0.0", "sourceRef": source}}
    spec = {"interval": "1h", "releaseName": name, "chart": template, **spec}
    return namespaced(HELM, "HelmRelease", name, namespace, spec=spec)


def read(api: KubeApi, obj: dict[str, Any]) -> dict[str, Any]:
    ref = ObjectRef.of(obj)
    return api.get(ref.api_version, ref.kind, ref.name, ref.namespace)


def ready(api: KubeApi, obj: dict[str, Any]) -> bool:
    return is_ready(read(api, obj))


def ready_condition(api: KubeApi, obj: dict[str, Any]) -> tuple[str, str, str]:
    found = condition(read(api, obj), "Ready")
    return found.get("status", ""), found.get("reason", ""), found.get("message", "")


def fails_with(api: KubeApi, obj: dict[str, Any], reason: str, message: str) -> bool:
    status, given, text = ready_condition(api, obj)
    return (status, given) == ("False", reason) and text.startswith("simulated: ") and message in text


def exists(api: KubeApi, api_version: str, kind: str, name: str, namespace: str | None = None) -> bool:
    try:
        api.get(api_version, kind, name, namespace)
    except ApiError as error:
        if error.not_found:
            return False
        raise
    return True


def kind_is_served(api: KubeApi, api_version: str, kind: str) -> bool:
    try:
        api.list(api_version, kind)
    except ApiError:
        return False
    return True


def defined(api: KubeApi, bundle: str) -> set[str]:
    """Which of the bundle's definitions are in the cluster."""
    names = [definition["metadata"]["name"] for definition in crds.bundle(bundle).objects]
    return {name for name in names if exists(api, definitions.API_VERSION, definitions.KIND, name)}


def test_a_release_waits_for_its_dependency(api: KubeApi, namespace: str) -> None:
    first = release("first", namespace, suspend=True)
    second = release("second", namespace, dependsOn=[{"name": "first"}])
    api.apply(second)
    eventually(lambda: fails_with(api, second, "DependencyNotReady", f"dependency '{namespace}/first' is not ready"))
    api.apply(first)
    remains(lambda: not ready(api, second), 3)
    api.patch(ObjectRef.of(first), {"spec": {"suspend": False}})
    eventually(lambda: ready(api, second))
    assert ready(api, first)


def test_a_dependency_that_is_being_updated_is_not_ready(api: KubeApi, namespace: str) -> None:
    first, second = release("first", namespace), release("second", namespace, dependsOn=[{"name": "first"}])
    api.apply(first)
    eventually(lambda: ready(api, first))
    api.patch(ObjectRef.of(first), {"spec": {"values": {"changed": True}, "suspend": True}})
    api.apply(second)
    eventually(lambda: fails_with(api, second, "DependencyNotReady", "first"))
    remains(lambda: not ready(api, second), 3)


def test_a_release_waits_for_its_source(api: KubeApi, namespace: str) -> None:
    source = repository("mine", namespace, suspend=True)
    mine = release("mine", namespace)
    mine["spec"]["chart"]["spec"]["sourceRef"] = {"kind": "HelmRepository", "name": "mine"}
    api.apply(mine)
    eventually(lambda: fails_with(api, mine, "SourceNotReady", "was not found"))
    api.apply(source)
    eventually(lambda: fails_with(api, mine, "SourceNotReady", f"HelmRepository '{namespace}/mine' is not ready"))
    api.patch(ObjectRef.of(source), {"spec": {"suspend": False}})
    eventually(lambda: ready(api, mine))


def test_crds_appear_with_readiness_and_an_uninstall_removes_what_the_chart_does_not_keep(
    api: KubeApi, namespace: str
) -> None:
    first = release("first", namespace, suspend=True)
    snapshots = release("snapshots", namespace, "snapshot-controller", dependsOn=[{"name": "first"}])
    api.apply(first)
    api.apply(snapshots)
    eventually(lambda: fails_with(api, snapshots, "DependencyNotReady", "first"))
    remains(lambda: defined(api, "snapshots") == set(), 2)
    api.patch(ObjectRef.of(first), {"spec": {"suspend": False}})
    eventually(lambda: ready(api, snapshots))
    assert len(defined(api, "snapshots")) == len(crds.bundle("snapshots").objects)
    eventually(lambda: kind_is_served(api, "snapshot.storage.k8s.io/v1", "VolumeSnapshot"))

    api.delete(HELM, "HelmRelease", "snapshots", namespace)
    assert exists(api, HELM, "HelmRelease", "snapshots", namespace), (
        "its finalizer must hold it until it is uninstalled"
    )
    eventually(lambda: not exists(api, HELM, "HelmRelease", "snapshots", namespace))
    assert defined(api, "snapshots") == set()


def test_a_kept_crd_survives_the_uninstall_and_a_chart_told_to_bring_none_brings_none(
    api: KubeApi, namespace: str
) -> None:
    without = release("without", namespace, "cert-manager")
    api.apply(without)
    eventually(lambda: ready(api, without))
    assert defined(api, "cert-manager") == set()

    kept = release("kept", namespace, "cert-manager", values={"crds": {"enabled": True, "keep": True}})
    api.apply(kept)
    eventually(lambda: ready(api, kept))
    issuer = namespaced("cert-manager.io/v1", "ClusterIssuer", "self-signed", None, spec={"selfSigned": {}})
    api.apply(issuer)
    eventually(lambda: ready(api, issuer))
    api.delete(HELM, "HelmRelease", "kept", namespace)
    eventually(lambda: not exists(api, HELM, "HelmRelease", "kept", namespace))
    assert len(defined(api, "cert-manager")) == 6
    assert ready(api, issuer)

    api.apply(release("unkept", namespace, "cert-manager", values={"crds": {"enabled": True, "keep": False}}))
    eventually(lambda: ready(api, release("unkept", namespace)))
    api.delete(HELM, "HelmRelease", "unkept", namespace)
    eventually(lambda: not exists(api, HELM, "HelmRelease", "unkept", namespace))
    assert defined(api, "cert-manager") == set()


def test_a_suspended_release_does_nothing_and_its_deletion_uninstalls_nothing(api: KubeApi, namespace: str) -> None:
    suspended = release("suspended", namespace, "snapshot-controller", suspend=True)
    api.apply(suspended)
    remains(lambda: ready_condition(api, suspended)[0] == "" and defined(api, "snapshots") == set(), 3)
    api.patch(ObjectRef.of(suspended), {"spec": {"suspend": False}})
    eventually(lambda: ready(api, suspended))
    api.patch(ObjectRef.of(suspended), {"spec": {"suspend": True}})
    api.delete(HELM, "HelmRelease", "suspended", namespace)
    eventually(lambda: not exists(api, HELM, "HelmRelease", "suspended", namespace))
    assert len(defined(api, "snapshots")) == len(crds.bundle("snapshots").objects)
    eventually(lambda: definitions.remove(api, crds.bundle("snapshots").objects))
    assert defined(api, "snapshots") == set()


def test_an_update_becomes_unready_and_then_ready_at_its_generation(api: KubeApi, namespace: str) -> None:
    updated = release("updated", namespace)
    api.apply(updated)
    eventually(lambda: ready(api, updated))
    assert ready_condition(api, updated)[1:] == (
        "InstallSucceeded",
        f"simulated: Helm install succeeded for release {namespace}/updated with chart anything@1.0.0",
    )
    changed = api.patch(ObjectRef.of(updated), {"spec": {"values": {"replicas": 2}}})
    assert changed["metadata"]["generation"] == 2
    eventually(lambda: ready_condition(api, updated)[0] == "Unknown")
    assert read(api, updated)["status"]["observedGeneration"] == 1
    eventually(lambda: ready(api, updated))
    status = read(api, updated)["status"]
    assert status["observedGeneration"] == 2
    assert condition(read(api, updated), "Ready")["reason"] == "UpgradeSucceeded"
    assert [(entry["version"], entry["status"]) for entry in status["history"]] == [(2, "deployed"), (1, "superseded")]


def test_a_missing_namespace_fails_until_it_is_there(api: KubeApi, namespace: str) -> None:
    target = f"{namespace}-target"
    elsewhere = release("elsewhere", namespace, targetNamespace=target)
    api.apply(elsewhere)
    eventually(lambda: fails_with(api, elsewhere, "InstallFailed", f'namespaces "{target}" not found'))
    remains(lambda: not ready(api, elsewhere), 2)
    api.apply(namespaced("v1", "Namespace", target, None))
    eventually(lambda: ready(api, elsewhere))
    api.delete("v1", "Namespace", target)


def test_longhorn_brings_its_class_and_leaves_only_when_that_is_confirmed(api: KubeApi, namespace: str) -> None:
    storage = release("storage", namespace, "longhorn")
    api.apply(storage)
    eventually(lambda: ready(api, storage))
    default = api.get("storage.k8s.io/v1", "StorageClass", "longhorn")
    assert default["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "true"
    api.delete(HELM, "HelmRelease", "storage", namespace)
    eventually(lambda: fails_with(api, storage, "UninstallFailed", "deleting-confirmation-flag is false"))
    remains(lambda: defined(api, "longhorn"), 2)
    confirmed = {"defaultSettings": {"deletingConfirmationFlag": "true"}}
    api.patch(ObjectRef.of(storage), {"spec": {"values": confirmed}})
    eventually(lambda: not exists(api, HELM, "HelmRelease", "storage", namespace))
    assert defined(api, "longhorn") == set()


def test_missing_values_fail_until_they_are_there(api: KubeApi, namespace: str) -> None:
    references = [{"kind": "Secret", "name": "token"}, {"kind": "ConfigMap", "name": "extra", "optional": True}]
    reading = release("reading", namespace, valuesFrom=references)
    api.apply(reading)
    eventually(lambda: fails_with(api, reading, "InstallFailed", f"could not find Secret '{namespace}/token'"))
    remains(lambda: not ready(api, reading), 2)
    api.apply(namespaced("v1", "Secret", "token", namespace, stringData={"values.yaml": "a: 1"}))
    eventually(lambda: ready(api, reading))


def test_two_releases_cannot_share_a_helm_release(api: KubeApi, namespace: str) -> None:
    one, two = release("one", namespace, releaseName="same"), release("two", namespace, releaseName="same")
    api.apply(one)
    eventually(lambda: ready(api, one))
    api.apply(two)
    eventually(lambda: fails_with(api, two, "InstallFailed", f"managed by HelmRelease '{namespace}/one'"))
    api.delete(HELM, "HelmRelease", "one", namespace)
    eventually(lambda: ready(api, two))


def test_the_order_depends_on_the_seed_and_not_on_creation(api: KubeApi, namespace: str) -> None:
    names = [f"release-{letter}" for letter in "abcdefgh"]

    def order(seed: int) -> list[str]:
        delays = Delays(seed=seed, shortest=0.3, longest=1.5)
        return sorted(names, key=lambda name: delays.seconds(f"reconcile HelmRelease {namespace}/{name}"))

    orders = [order(seed) for seed in range(6)]
    assert len({tuple(found) for found in orders}) > 3
    assert names not in orders
    assert order(3) == orders[3]

    for name in names:
        api.apply(release(name, namespace))
    finished: list[str] = []

    def collect() -> bool:
        found = {obj["metadata"]["name"] for obj in api.list(HELM, "HelmRelease", namespace) if is_ready(obj)}
        finished.extend(sorted(found - set(finished)))
        return len(finished) == len(names)

    eventually(collect)
    assert finished != names


@pytest.mark.parametrize("kind", ["HelmRepository", "GitRepository", "OCIRepository"])
def test_a_source_is_ready_again_after_an_update(api: KubeApi, namespace: str, kind: str) -> None:
    url = {"OCIRepository": "oci://example.org/charts/thing"}.get(kind, "https://example.org/thing")
    source = namespaced(SOURCE, kind, "thing", namespace, spec={"interval": "1h", "url": url})
    api.apply(source)
    eventually(lambda: ready(api, source))
    assert ready_condition(api, source)[2].startswith("simulated: ")
    api.patch(ObjectRef.of(source), {"spec": {"interval": "2h"}})
    eventually(lambda: ready(api, source))
    assert read(api, source)["status"]["observedGeneration"] == 2


def test_kwok_follows_the_seed_too(api: KubeApi, namespace: str) -> None:
    """Sources become ready in the order of their delays, as stages.py computes them, not of their creation."""
    sources = [repository(f"source-{number}", namespace) for number in range(6)]
    expected = sorted(sources, key=lambda source: kwok_delay(SEED, source))
    gaps = [kwok_delay(SEED, later) - kwok_delay(SEED, earlier) for earlier, later in pairwise(expected)]
    for source in sources:
        api.apply(source)
    eventually(lambda: all(ready(api, source) for source in sources))
    times = [condition(read(api, source), "Ready")["lastTransitionTime"] for source in expected]
    for (earlier, later), gap in zip(pairwise(times), gaps, strict=True):
        assert earlier <= later or gap < 400


def kwok_delay(seed: int, obj: dict[str, Any]) -> int:
    """Milliseconds, counted here a second time."""
    state = 7
    for letter in f"{seed} {obj['kind']} {obj['metadata']['namespace']}/{obj['metadata']['name']}":
        state = (state * (31 + 2 * seed) + ord(letter)) % 1_000_003
    return state % 1200 + 300


def test_a_kind_that_comes_back_is_played_again(api: KubeApi, namespace: str) -> None:
    values = {"crds": {"enabled": True, "keep": False}}
    issuer = namespaced("cert-manager.io/v1", "Issuer", "self-signed", namespace, spec={"selfSigned": {}})
    for name in ("once", "again"):
        api.apply(release(name, namespace, "cert-manager", values=values))
        eventually(lambda name=name: ready(api, release(name, namespace)))
        api.apply(issuer)
        eventually(lambda: ready(api, issuer))
        api.delete(HELM, "HelmRelease", name, namespace)
        eventually(lambda: defined(api, "cert-manager") == set())


def test_pods_are_bound_by_their_node_selector_and_run(api: KubeApi, namespace: str) -> None:
    containers = [{"name": "main", "image": "example.org/image:1"}]
    account = namespaced("v1", "ServiceAccount", "default", namespace)
    api.apply(account)
    there = {"nodeSelector": {"kubernetes.io/hostname": "node-b"}, "containers": containers}
    nowhere = {"nodeSelector": {"kubernetes.io/hostname": "node-z"}, "containers": containers}
    api.apply(namespaced("v1", "Pod", "there", namespace, spec=there))
    api.apply(namespaced("v1", "Pod", "nowhere", namespace, spec=nowhere))
    eventually(lambda: read(api, namespaced("v1", "Pod", "there", namespace))["status"]["phase"] == "Running")
    pod = read(api, namespaced("v1", "Pod", "there", namespace))
    assert pod["spec"]["nodeName"] == "node-b"
    assert pod["status"]["podIP"]
    assert "simulated" in condition(pod, "Ready")["message"]
    assert "nodeName" not in read(api, namespaced("v1", "Pod", "nowhere", namespace))["spec"]
    api.delete("v1", "Pod", "there", namespace)
    eventually(lambda: not exists(api, "v1", "Pod", "there", namespace))


def test_a_job_completes_and_a_claim_is_bound_and_let_go(api: KubeApi, namespace: str) -> None:
    api.apply(namespaced("v1", "ServiceAccount", "default", namespace))
    containers = [{"name": "main", "image": "example.org/image:1"}]
    template = {"spec": {"restartPolicy": "Never", "containers": containers}}
    job = namespaced("batch/v1", "Job", "job", namespace, spec={"template": template})
    storage = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "any",
    }
    claim = namespaced("v1", "PersistentVolumeClaim", "claim", namespace, spec=storage)
    api.apply(job)
    api.apply(claim)
    eventually(lambda: condition(read(api, job), "Complete").get("status") == "True")
    eventually(lambda: read(api, claim).get("status", {}).get("phase") == "Bound")
    volume = read(api, claim)["spec"]["volumeName"]
    assert exists(api, "v1", "PersistentVolume", volume)
    api.delete("v1", "PersistentVolumeClaim", "claim", namespace)
    eventually(lambda: not exists(api, "v1", "PersistentVolumeClaim", "claim", namespace))
    eventually(lambda: not exists(api, "v1", "PersistentVolume", volume))


def test_kustomizations_wait_for_each_other_and_bring_the_secrets_that_lie_in_git(api: KubeApi) -> None:
    files = sorted((CHECKOUT / "platform/secrets/dev").rglob("*.yaml"))
    wanted = [document for file in files for document in upstream.parse(file.read_bytes())]
    wanted = [document for document in wanted if document["kind"] == "Secret"]
    assert wanted
    source = namespaced(
        SOURCE, "GitRepository", "git", "flux-system", spec={"interval": "1h", "url": "https://example.org"}
    )
    common = {"interval": "1h", "prune": True, "sourceRef": {"kind": "GitRepository", "name": "git"}}
    platform = namespaced(
        KUSTOMIZE, "Kustomization", "platform", "flux-system", spec={**common, "path": "./platform/secrets/dev"}
    )
    apps = namespaced(
        KUSTOMIZE,
        "Kustomization",
        "apps",
        "flux-system",
        spec={**common, "path": "./nothing", "dependsOn": [{"name": "platform"}]},
    )
    for obj in (source, apps, platform):
        api.apply(obj)
    eventually(lambda: fails_with(api, platform, "ReconciliationFailed", "namespace not found"))
    eventually(lambda: fails_with(api, apps, "DependencyNotReady", "flux-system/platform"))
    for secret in wanted:
        api.apply(namespaced("v1", "Namespace", secret["metadata"]["namespace"], None))
    eventually(lambda: ready(api, apps))
    for secret in wanted:
        assert set(read(api, secret)["data"]) == {*secret.get("data", {}), *secret.get("stringData", {})}
    api.delete(KUSTOMIZE, "Kustomization", "platform", "flux-system")
    eventually(lambda: not exists(api, KUSTOMIZE, "Kustomization", "platform", "flux-system"))
    found = api.list("v1", "Secret", params={"labelSelector": "simulated=true"})
    assert found == []


def test_the_gateway_gets_an_address_and_follows_updates(api: KubeApi, namespace: str) -> None:
    version = "gateway.networking.k8s.io/v1"
    eventually(lambda: definitions.install(api, crds.bundle("gateway-api-standard").objects, "test"))
    shared_class = namespaced(version, "GatewayClass", "cilium", None, spec={"controllerName": "io.cilium/gateway"})
    listeners = [{"name": "http", "port": 80, "protocol": "HTTP"}]
    spec = {"gatewayClassName": "cilium", "listeners": listeners}
    gateway = namespaced(version, "Gateway", "shared", namespace, spec=spec)
    api.apply(shared_class)
    api.apply(gateway)
    eventually(lambda: condition(read(api, shared_class), "Accepted").get("status") == "True")
    for generation in (1, 2):
        eventually(lambda g=generation: condition(read(api, gateway), "Programmed").get("observedGeneration") == g)
        status = read(api, gateway)["status"]
        assert status["addresses"][0]["value"].startswith("192.0.2.")
        assert len(status["listeners"]) == generation
        listeners.append({"name": "https", "port": 443, "protocol": "HTTP"})
        if generation == 1:
            api.apply(gateway)


def test_every_bundle_is_established_and_real_where_the_mirror_is(api: KubeApi) -> None:
    for name in crds.NAMES:
        bundle = crds.bundle(name)
        if os.environ.get("UPSTREAM_MIRROR"):
            assert not bundle.schema_free, bundle.note
        eventually(lambda bundle=bundle: definitions.install(api, bundle.objects, "test"), 120)


@pytest.mark.parametrize("name", crds.NAMES)
def test_the_api_server_would_take_every_stand_in(api: KubeApi, name: str) -> None:
    path = f"/apis/{definitions.API_VERSION}/customresourcedefinitions"
    for definition in schema_free(name):
        spec = definition["spec"]
        # Another group, because the real ones may be there; a protected one stays protected.
        group = f"dry.{spec['group']}"
        renamed = {"metadata": {**definition["metadata"], "name": f"{spec['names']['plural']}.{group}"}}
        dry = {**definition, **renamed, "spec": {**spec, "group": group}}
        api.request("POST", path, body=dry, params={"dryRun": "All"})


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_process_ends_quietly(cluster: Cluster, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [*command(cluster.kubeconfig), "--min-delay", "60", "--max-delay", "61"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=CHECKOUT,
    )
    try:
        time.sleep(2)
        process.send_signal(number)
        output, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, output) == (0, b"")


def test_flux_leaves_with_its_instance_and_takes_its_objects_along(api: KubeApi, namespace: str) -> None:
    """As the real operator: nothing is uninstalled, finalizers are dropped, the CRDs go."""
    api.apply(release("left", namespace, "snapshot-controller"))
    eventually(lambda: ready(api, release("left", namespace)))
    api.delete("fluxcd.controlplane.io/v1", "FluxInstance", "flux", "flux-system")
    eventually(lambda: not exists(api, "fluxcd.controlplane.io/v1", "FluxInstance", "flux", "flux-system"))
    assert defined(api, "flux") == set()
    assert len(defined(api, "snapshots")) == len(crds.bundle("snapshots").objects)
    api.apply(flux_instance())
    eventually(lambda: ready(api, flux_instance()))
