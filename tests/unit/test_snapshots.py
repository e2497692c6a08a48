"""Volume snapshots as they are declared: CRDs that survive, a controller, exactly one class for Velero."""

from __future__ import annotations

from typing import Any

import pytest

from components import snapshots, upstream
from components.storage_classes import DRIVER
from platformctl.render.recorder import Recording
from tests.graph import resource

LABEL = "velero.io/csi-volumesnapshot-class"
DEFAULT = "snapshot.storage.kubernetes.io/is-default-class"


@pytest.fixture(params=("dev", "prod"))
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


def classes(recording: Recording) -> list[dict[str, Any]]:
    return [dict(found.inputs) for found in recording.manifests if found.inputs["kind"] == "VolumeSnapshotClass"]


def test_there_is_exactly_one_labelled_class_for_each_driver(recording: Recording) -> None:
    labelled = [found["driver"] for found in classes(recording) if LABEL in found["metadata"]["labels"]]
    assert labelled == [DRIVER]
    assert classes(recording)[0]["metadata"]["labels"][LABEL] == "true"


def test_the_class_is_the_default_once(recording: Recording) -> None:
    annotations = [found["metadata"].get("annotations", {}) for found in classes(recording)]
    assert [found.get(DEFAULT) for found in annotations] == ["true"]
    assert values(recording)["volumeSnapshotClasses"] == []


def test_snapshots_stay_in_longhorn_and_velero_moves_the_data(recording: Recording) -> None:
    (found,) = classes(recording)
    assert found["parameters"] == {"type": "snap"}
    assert found["deletionPolicy"] == "Delete"


def test_the_chart_brings_no_crds_since_its_uninstall_would_take_them(recording: Recording) -> None:
    assert values(recording)["installCRDs"] is False


def test_every_definition_is_pinned_and_of_one_version() -> None:
    locked = upstream.locked()
    assert {locked[name].role for name in snapshots.DEFINITIONS} == {"crds"}
    assert len({locked[name].version for name in snapshots.DEFINITIONS}) == 1


def test_the_definitions_survive_a_destroy(recording: Recording) -> None:
    if any(message.startswith("volumesnapshots-crd") for message in recording.messages):
        pytest.skip("the definitions are out of reach")
    found = {
        each.name: each.retain_on_delete
        for each in recording.manifests
        if each.inputs["kind"] == "CustomResourceDefinition" and "snapshot.storage.k8s.io" in each.name
    }
    assert len(found) == len(snapshots.DEFINITIONS)
    assert set(found.values()) == {True}


def values(recording: Recording) -> dict[str, Any]:
    return resource(recording, "HelmRelease", "snapshot-controller").inputs["spec"]["values"]
