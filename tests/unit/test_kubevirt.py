"""KubeVirt and CDI as they are rendered: real KVM, nothing lost by an uninstall, operators before what they serve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from components import contracts_machines, kubevirt_support, upstream
from components.settings import Settings
from platformctl.render.recorder import Recording, Registration
from tests.graph import resource
from tests.unit.test_contracts import settings

STACKS = ("dev", "prod")


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


def served(recording: Recording) -> tuple[Registration, Registration]:
    return resource(recording, "KubeVirt", "kubevirt"), resource(recording, "CDI", "cdi")


def test_machines_run_on_real_kvm_only(recording: Recording) -> None:
    """Written out, so that no default of a later version turns emulation on."""
    developer = served(recording)[0].inputs["spec"]["configuration"]["developerConfiguration"]
    assert developer["useEmulation"] is False


def test_both_are_awaited_until_every_part_is_available(recording: Recording) -> None:
    for found in served(recording):
        assert found.inputs["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=Available"


def test_an_uninstall_waits_for_the_machines_and_prod_refuses_it(recording: Recording) -> None:
    for found in served(recording):
        assert found.inputs["spec"]["uninstallStrategy"] == "BlockUninstallIfWorkloadsExist"
        assert found.protect is (recording.stack == "prod")


def test_volumes_have_their_classes(recording: Recording) -> None:
    machines, disks = (found.inputs["spec"] for found in served(recording))
    classes = {found.name for found in recording.manifests if found.inputs["kind"] == "StorageClass"} | {"longhorn"}
    assert machines["configuration"]["vmStateStorageClass"] in classes
    assert disks["config"]["scratchSpaceStorageClass"] == "longhorn-scratch"


def test_disks_are_filled_where_their_machine_will_run(recording: Recording) -> None:
    config = served(recording)[1].inputs["spec"]["config"]
    assert config["featureGates"] == ["HonorWaitForFirstConsumer"]
    assert config["filesystemOverhead"] == {"global": "0.06"}
    assert config["podResourceRequirements"].keys() == {"requests", "limits"}


def test_their_namespaces_are_ours_and_privileged(recording: Recording) -> None:
    for name in ("kubevirt", "cdi"):
        labels = resource(recording, "Namespace", name).inputs["metadata"]["labels"]
        assert labels["pod-security.kubernetes.io/enforce"] == "privileged"


def test_the_facts_are_those_of_the_pinned_release() -> None:
    """After an upgrade: read the supported versions and the feature gates anew, in the release's own sources."""
    version = upstream.locked()["kubevirt-operator"].version
    assert version.removeprefix("v").rpartition(".")[0] == kubevirt_support.RELEASE


def test_no_feature_gate_has_two_states() -> None:
    states = (
        kubevirt_support.ALPHA,
        kubevirt_support.BETA,
        kubevirt_support.GENERAL,
        kubevirt_support.WITHDRAWN,
    )
    assert len(frozenset[str]().union(*states)) == sum(len(state) for state in states)


def cluster(version: str) -> Settings:
    return settings({"cluster": {"kubernetesVersion": version}})


@pytest.mark.parametrize("version", ["v1.34.0+k3s1", "v1.35.4+k3s1", "v1.36.11+k3s2"])
def test_a_supported_kubernetes_is_fine(version: str) -> None:
    assert not list(contracts_machines.kubernetes_fits_kubevirt(cluster(version)))


@pytest.mark.parametrize(
    ("version", "advice"),
    [
        ("v1.31.4+k3s1", "upgrade k3s to v1.35, one minor version at a time: v1.32, v1.33, v1.34, v1.35"),
        ("v1.33.9+k3s1", "upgrade k3s to v1.35, one minor version at a time: v1.34, v1.35"),
        ("v1.37.2+k3s1", "stay on k3s v1.36 until a KubeVirt that supports it is pinned"),
    ],
)
def test_another_kubernetes_comes_with_the_way_out(version: str, advice: str) -> None:
    (sentence,) = contracts_machines.kubernetes_fits_kubevirt(cluster(version))
    assert sentence.startswith(
        f"home:cluster.kubernetesVersion is {version}, but KubeVirt 1.9 supports Kubernetes 1.34"
    )
    assert sentence.endswith(advice)


def gates(**lists: list[str]) -> Settings:
    changes: Mapping[str, Any] = {"kubevirt": lists}
    return settings(changes)


@pytest.mark.parametrize(
    ("lists", "state"),
    [
        ({"featureGates": ["LiveMigration"]}, "always on"),
        ({"featureGates": ["Macvtap"]}, "does nothing any more"),
        ({"featureGates": ["Snapshots"]}, "does not know"),
        ({"disabledFeatureGates": ["NUMA"]}, "always on"),
        ({"disabledFeatureGates": ["Sidecar"]}, "off by itself"),
    ],
)
def test_a_gate_that_does_nothing_is_refused(lists: dict[str, list[str]], state: str) -> None:
    (sentence,) = contracts_machines.feature_gates_exist(gates(**lists))
    assert state in sentence


def test_gates_that_do_something_are_fine() -> None:
    found = gates(featureGates=["HostDevices", "Snapshot"], disabledFeatureGates=["Template"])
    assert not list(contracts_machines.feature_gates_exist(found))
    assert not list(contracts_machines.feature_gates_disjoint(found))


def test_a_gate_is_in_one_list_at_most() -> None:
    (sentence,) = contracts_machines.feature_gates_disjoint(
        gates(featureGates=["Snapshot"], disabledFeatureGates=["Snapshot"])
    )
    assert sentence.startswith("Snapshot is in home:kubevirt.featureGates and home:kubevirt.disabledFeatureGates")


def test_not_everybody_may_change_the_platform() -> None:
    found = settings({"kyverno": {"breakGlassGroup": "system:authenticated", "deployUsers": ["system:anonymous"]}})
    assert len(list(contracts_machines.platform_is_not_everybodys(found))) == 2
