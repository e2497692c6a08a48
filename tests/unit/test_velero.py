"""Velero as it is declared: schedules, data movement, CRDs, credentials by name. The S3 side has its own test."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from components import velero
from components.storage_classes import BULK, DEFAULT, SCRATCH
from platformctl.local import crds
from platformctl.render.recorder import Recording
from platformctl.render.schema import Schemas
from tests.graph import resource


@pytest.fixture(params=("dev", "prod"))
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


@pytest.fixture(scope="module")
def schemas() -> Schemas:
    return Schemas(crds.bundle("velero").objects)


def release(recording: Recording) -> dict[str, Any]:
    return resource(recording, "HelmRelease", "velero").inputs["spec"]


def values(recording: Recording) -> dict[str, Any]:
    return release(recording)["values"]


def hours(duration: str) -> int:
    found = re.fullmatch(r"(\d+)h0m0s", duration)
    assert found, duration
    return int(found[1])


def test_volumes_are_moved_out_of_the_cluster(recording: Recording) -> None:
    configuration = values(recording)["configuration"]
    assert configuration["features"] == "EnableCSI"
    assert configuration["defaultSnapshotMoveData"] is True
    assert values(recording)["deployNodeAgent"] is values(recording)["snapshotsEnabled"] is True


def test_there_is_no_snapshot_location_without_a_provider(recording: Recording) -> None:
    assert values(recording)["configuration"]["volumeSnapshotLocation"] == []


def test_helm_controller_alone_replaces_the_crds(recording: Recording) -> None:
    assert values(recording)["upgradeCRDs"] is values(recording)["cleanUpCRDs"] is False
    for action in ("install", "upgrade"):
        assert release(recording)[action]["crds"] == "CreateReplace"


def test_the_plugin_is_pinned_to_one_that_does_not_corrupt(recording: Recording) -> None:
    (plugin,) = values(recording)["initContainers"]
    found = re.fullmatch(r"docker\.io/velero/velero-plugin-for-aws:v1\.14\.(\d+)", plugin["image"])
    assert found, plugin["image"]
    assert int(found[1]) >= 3


def test_credentials_are_a_secret_by_name(recording: Recording) -> None:
    assert values(recording)["credentials"] == {"useSecret": True, "existingSecret": "velero-s3"}
    assert velero.CREDENTIALS.at == "velero/velero-s3"
    assert velero.CREDENTIALS.keys == ("cloud",)


def test_every_stack_has_a_place_of_its_own(recordings: dict[str, Recording]) -> None:
    places = {
        (location["bucket"], location["prefix"])
        for recording in recordings.values()
        for location in values(recording)["configuration"]["backupStorageLocation"]
    }
    assert len(places) == len(recordings)


def test_daily_and_weekly_backups_take_resources_and_volumes(recording: Recording) -> None:
    schedules = values(recording)["schedules"]
    assert schedules.keys() == {"daily", "weekly"}
    for schedule in schedules.values():
        template = schedule["template"]
        assert (
            template["snapshotVolumes"] is template["snapshotMoveData"] is template["includeClusterResources"] is True
        )
        assert {"kube-system", "velero", "longhorn-system"} <= set(template["excludedNamespaces"])
        assert "includedNamespaces" not in template
    assert hours(schedules["weekly"]["template"]["ttl"]) > hours(schedules["daily"]["template"]["ttl"])


def test_backups_survive_their_schedule(recording: Recording) -> None:
    assert all(found["useOwnerReferencesInBackup"] is False for found in values(recording)["schedules"].values())


def test_schedules_and_location_fit_the_crds_that_the_chart_brings(recording: Recording, schemas: Schemas) -> None:
    found = [*_schedules(recording), *_locations(recording)]
    assert [manifest["kind"] for manifest in found if manifest not in schemas] == []
    assert [sentence for manifest in found for sentence in schemas.violations(manifest)] == []


def test_the_copy_that_is_uploaded_from_has_no_replicas(recording: Recording) -> None:
    config = resource(recording, "ConfigMap", velero.NODE_AGENT_CONFIG).inputs
    (text,) = config["data"].values()
    copies = json.loads(text)["backupPVC"]
    assert {name: copies[name]["storageClass"] for name in (DEFAULT, BULK)} == {DEFAULT: SCRATCH, BULK: SCRATCH}
    # Longhorn serves a volume that many may read over NFS.
    assert not any(copy.get("readOnly") for copy in copies.values())
    assert f"--node-agent-configmap={config['metadata']['name']}" in values(recording)["nodeAgent"]["extraArgs"]


def _schedules(recording: Recording) -> list[dict[str, Any]]:
    """As the chart renders them."""
    return [
        {"apiVersion": "velero.io/v1", "kind": "Schedule", "metadata": {"name": f"velero-{name}"}, "spec": schedule}
        for name, schedule in values(recording)["schedules"].items()
    ]


def _locations(recording: Recording) -> list[dict[str, Any]]:
    """As the chart renders them: bucket and prefix move below objectStorage."""
    return [
        {
            "apiVersion": "velero.io/v1",
            "kind": "BackupStorageLocation",
            "metadata": {"name": location["name"]},
            "spec": {
                **{key: location[key] for key in ("provider", "default", "accessMode", "config")},
                "objectStorage": {key: location[key] for key in ("bucket", "prefix")},
            },
        }
        for location in values(recording)["configuration"]["backupStorageLocation"]
    ]
