"""Longhorn as it is declared: classes, replicas, backup target, and the guard against uninstall."""

from __future__ import annotations

from typing import Any

import pytest

from components import longhorn, storage_classes
from platformctl.render.recorder import Recording
from tests.altered import recorded
from tests.graph import resource

STACKS = ("dev", "prod")


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


@pytest.fixture(scope="module")
def confirmed() -> Recording:
    """dev, with the confirmation that Longhorn may be uninstalled."""
    return recorded("dev", {"longhorn": {"uninstallConfirmed": True}})


def values(recording: Recording) -> dict[str, Any]:
    return resource(recording, "HelmRelease", "longhorn").inputs["spec"]["values"]


def storage_class(recording: Recording, name: str) -> dict[str, Any]:
    return dict(resource(recording, "StorageClass", name).inputs)


def test_the_default_class_is_left_to_longhorns_manager(recording: Recording) -> None:
    declared = {found.name for found in recording.manifests if found.inputs["kind"] == "StorageClass"}
    assert declared == {storage_classes.BULK, storage_classes.SCRATCH}
    assert values(recording)["persistence"]["defaultClass"] is True


def test_no_declared_class_is_a_second_default(recording: Recording) -> None:
    for name in (storage_classes.BULK, storage_classes.SCRATCH):
        assert "annotations" not in storage_class(recording, name)["metadata"]


def test_volumes_have_one_replica_in_dev_and_three_in_prod(recordings: dict[str, Recording]) -> None:
    found = {stack: values(recording) for stack, recording in recordings.items()}
    assert {stack: each["persistence"]["defaultClassReplicaCount"] for stack, each in found.items()} == {
        "dev": 1,
        "prod": 3,
    }
    assert found["prod"]["defaultSettings"]["defaultReplicaCount"] == '{"v1": "3", "v2": "3"}'


def test_the_bulk_tier_is_a_class_of_its_own(recordings: dict[str, Recording]) -> None:
    bulk = storage_class(recordings["prod"], storage_classes.BULK)
    assert bulk["provisioner"] == "driver.longhorn.io"
    assert bulk["reclaimPolicy"] == "Retain"
    assert bulk["allowVolumeExpansion"] is True
    assert bulk["parameters"]["numberOfReplicas"] == "2"
    assert bulk["parameters"]["dataLocality"] == "best-effort"
    assert bulk["parameters"]["diskSelector"] == "hdd"


def test_without_disk_tags_the_bulk_tier_takes_every_untagged_disk(recordings: dict[str, Recording]) -> None:
    assert "diskSelector" not in storage_class(recordings["dev"], storage_classes.BULK)["parameters"]


def test_the_scratch_class_has_one_replica_and_keeps_nothing(recording: Recording) -> None:
    scratch = storage_class(recording, storage_classes.SCRATCH)
    assert scratch["parameters"]["numberOfReplicas"] == "1"
    assert scratch["reclaimPolicy"] == "Delete"


def test_every_parameter_and_every_setting_of_longhorns_own_is_text(recording: Recording) -> None:
    for name in (storage_classes.BULK, storage_classes.SCRATCH):
        assert all(isinstance(value, str) for value in storage_class(recording, name)["parameters"].values())
    assert all(isinstance(value, str) for value in values(recording)["defaultSettings"].values())


@pytest.mark.parametrize(
    ("changes", "labelled"),
    [
        ({}, "false"),
        ({"storageNodes": 2}, "true"),
        ({"bulk": {"diskTags": ["hdd"]}}, "true"),
    ],
)
def test_nodes_name_their_disks_where_not_all_are_alike(changes: dict[str, Any], labelled: str) -> None:
    settings = values(recorded("dev", {"longhorn": changes}))["defaultSettings"]
    assert settings["createDefaultDiskLabeledNodes"] == labelled
    assert settings["allowEmptyDiskSelectorVolume"] == "false"


def test_the_backup_target_names_its_secret_and_holds_none(recording: Recording) -> None:
    store = values(recording)["defaultBackupStore"]
    assert store["backupTarget"].startswith("s3://")
    assert store["backupTargetCredentialSecret"] == longhorn.BACKUP_CREDENTIALS.name
    assert longhorn.BACKUP_CREDENTIALS.namespace == "longhorn-system"


def test_the_ui_is_not_exposed_by_the_chart(recording: Recording) -> None:
    assert values(recording)["ingress"] == values(recording)["httproute"] == {"enabled": False}


def test_the_chart_runs_no_upgrade_job_of_its_own(recording: Recording) -> None:
    assert values(recording)["preUpgradeChecker"]["jobEnabled"] is False


class TestUninstall:
    def test_is_refused_by_longhorn_and_by_the_stack(self, recording: Recording) -> None:
        release = resource(recording, "HelmRelease", "longhorn")
        assert values(recording)["defaultSettings"]["deletingConfirmationFlag"] == "false"
        assert release.retain_on_delete
        assert release.protect is (recording.stack == "prod")

    def test_does_not_happen_through_the_namespace_or_the_source(self, recording: Recording) -> None:
        assert resource(recording, "Namespace", "longhorn-system").retain_on_delete
        assert resource(recording, "HelmRepository", "longhorn").retain_on_delete

    def test_is_possible_once_it_is_confirmed(self, confirmed: Recording) -> None:
        assert values(confirmed)["defaultSettings"]["deletingConfirmationFlag"] == "true"
        for kind, name in (
            ("HelmRelease", "longhorn"),
            ("HelmRepository", "longhorn"),
            ("Namespace", "longhorn-system"),
        ):
            assert not resource(confirmed, kind, name).retain_on_delete

    def test_needs_two_changes_where_the_stack_protects(self) -> None:
        prod = recorded("prod", {"longhorn": {"uninstallConfirmed": True}})
        assert resource(prod, "HelmRelease", "longhorn").protect
