"""Volume snapshots: the CRDs, the controller, and the one class that Velero and machines take them with."""

from __future__ import annotations

from typing import Any

from components.helm import HelmApplication, install
from components.namespaces import Namespace
from components.objects import manifest
from components.platform import After, Component, Platform
from components.storage_classes import DRIVER
from components.upstream_manifest import UpstreamManifest
from components.versions import SNAPSHOT_CONTROLLER

NAMESPACE = Namespace(name="snapshot-controller")
# Entries of upstream.lock.yaml; upstream publishes one file for each definition.
DEFINITIONS = (
    "volumesnapshotclasses-crd",
    "volumesnapshotcontents-crd",
    "volumesnapshots-crd",
    "volumegroupsnapshotclasses-crd",
    "volumegroupsnapshotcontents-crd",
    "volumegroupsnapshots-crd",
)
CLASS = "longhorn-snapshot"


class SnapshotDefinitions(Component):
    """The CRDs, kept on destroy: with them would go every snapshot."""

    def __init__(self, platform: Platform, *, after: After = ()) -> None:
        super().__init__(platform, "snapshot-crds", after=after)
        for file in DEFINITIONS:
            UpstreamManifest(platform, file, parent=self, retain=True, after=after)
        self.register_outputs({})


class SnapshotController(Component):
    """The controller that every CSI driver's snapshots need; k3s has none."""

    def __init__(self, platform: Platform, *, monitored: bool = False, after: After = ()) -> None:
        """monitored: the CRDs of prometheus-operator are there, so a ServiceMonitor may be declared."""
        super().__init__(platform, "snapshot-controller", after=after)
        application = HelmApplication(
            chart=SNAPSHOT_CONTROLLER,
            namespace=NAMESPACE.name,
            values=_values(platform.settings.snapshots.replicas, monitored=monitored),
            crds="Skip",
        )
        self.release = install(self, application)
        self.register_outputs({})


class SnapshotClass(Component):
    """One class a driver, and ours has one driver: Velero refuses to choose between two."""

    def __init__(self, platform: Platform, *, after: After = ()) -> None:
        super().__init__(platform, "snapshot-class", after=after)
        self.declare(_snapshot_class())
        self.register_outputs({})


def _values(replicas: int, *, monitored: bool) -> dict[str, Any]:
    return {
        # Its CRDs are templates that an uninstall removes, and with them every snapshot; ours are declared apart.
        "installCRDs": False,
        "controller": {"replicaCount": replicas, "serviceMonitor": {"create": monitored}},
        "webhook": {"enabled": False},
        "volumeSnapshotClasses": [],
    }


def _snapshot_class() -> dict[str, Any]:
    return manifest(
        "snapshot.storage.k8s.io/v1",
        "VolumeSnapshotClass",
        CLASS,
        labels={"velero.io/csi-volumesnapshot-class": "true"},
        annotations={"snapshot.storage.kubernetes.io/is-default-class": "true"},
        driver=DRIVER,
        # A snapshot inside Longhorn, from which Velero copies; `bak` would upload a second time.
        parameters={"type": "snap"},
        # Velero keeps a snapshot itself for as long as it copies from it; what it leaves behind must not pile up.
        deletionPolicy="Delete",
    )
