"""Replicated block storage: Longhorn, its bulk tier and its scratch class, guarded against uninstall."""

from __future__ import annotations

import json
from typing import Any

from components.helm import HelmApplication, install
from components.namespaces import Namespace
from components.objects import manifest
from components.platform import After, Component, Platform
from components.secrets import Provider, SecretUse
from components.settings import Settings
from components.settings_storage import Longhorn as LonghornSettings
from components.storage_classes import BULK, DRIVER, SCRATCH
from components.versions import LONGHORN

NAMESPACE = Namespace(name="longhorn-system", pod_security="privileged")
BACKUP_CREDENTIALS = SecretUse(
    namespace=NAMESPACE.name,
    name="backup-target",
    keys=("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINTS"),
    provider=Provider.SOPS,
    needed_by="Longhorn's backup target",
)
SECRETS = (BACKUP_CREDENTIALS,)
UI_SERVICE = "longhorn-frontend"
UI_PORT = 80
UI_PODS = {"app": "longhorn-ui"}
UI_POD_PORT = 8000
MANAGER_PODS = {"app": "longhorn-manager"}
MANAGER_PORT = 9500


class Longhorn(Component):
    """The release, and after it the classes beside the default one, which Longhorn's manager makes itself."""

    def __init__(self, platform: Platform, *, monitored: bool = False, after: After = ()) -> None:
        """monitored: the CRDs of prometheus-operator are there, so a ServiceMonitor may be declared."""
        super().__init__(platform, "longhorn", after=after)
        settings = platform.settings.longhorn
        application = HelmApplication(
            chart=LONGHORN,
            namespace=NAMESPACE.name,
            values=_values(platform.settings, monitored=monitored),
            # The CRDs are templates of the chart, without a keep annotation.
            crds="Skip",
            timeout_minutes=15,
            protect=True,
            retain=not settings.uninstall_confirmed,
        )
        self.release = install(self, application)
        self.declare(_bulk_class(settings), after=[self.release])
        self.declare(_scratch_class(), after=[self.release])
        self.register_outputs({})


def retained_namespaces(settings: Settings) -> list[str]:
    """The namespaces that must outlive a destroy: deleting Longhorn's would uninstall it by the back door."""
    return [] if settings.longhorn.uninstall_confirmed else [NAMESPACE.name]


def _values(settings: Settings, *, monitored: bool) -> dict[str, Any]:
    longhorn = settings.longhorn
    return {
        "persistence": {
            "defaultClass": True,
            "defaultClassReplicaCount": longhorn.replicas,
            "reclaimPolicy": "Delete",
        },
        # k3s uses the usual path; written out, Longhorn need not search for it.
        "csi": {"kubeletRootDir": "/var/lib/kubelet"},
        # Under GitOps its Job would run as a hook at each upgrade; the manager checks the version itself.
        "preUpgradeChecker": {"jobEnabled": False, "upgradeVersionCheck": True},
        "defaultSettings": _default_settings(settings),
        "defaultBackupStore": {
            "backupTarget": longhorn.backup_target,
            "backupTargetCredentialSecret": BACKUP_CREDENTIALS.name,
        },
        "longhornUI": {"replicas": min(2, longhorn.storage_nodes)},
        # The UI is exposed by the platform's own route, behind sign-in.
        "ingress": {"enabled": False},
        "httproute": {"enabled": False},
        # The manager's API asks nobody who they are. Prometheus is let in by a policy of ours, beside the chart's.
        "networkPolicies": {"restrictInternalTraffic": True},
        "metrics": {"serviceMonitor": {"enabled": monitored}},
    }


def _default_settings(settings: Settings) -> dict[str, str]:
    """Longhorn's own settings are text; the chart refuses other types in some versions."""
    longhorn = settings.longhorn
    replicas = str(longhorn.replicas)
    return {
        "defaultReplicaCount": json.dumps({"v1": replicas, "v2": replicas}),
        "defaultDataPath": longhorn.data_path,
        "createDefaultDiskLabeledNodes": _text(_disks_are_labelled(settings)),
        # Volumes without a selector stay off the disks that carry a tag, so that they never fill the bulk tier.
        "allowEmptyDiskSelectorVolume": "false",
        "replicaAutoBalance": "best-effort",
        "nodeDrainPolicy": "block-for-eviction-if-contains-last-replica",
        "snapshotDataIntegrity": "fast-check",
        "deletingConfirmationFlag": _text(longhorn.uninstall_confirmed),
        "allowCollectingLonghornUsageMetrics": "false",
        "upgradeChecker": "false",
    }


def _disks_are_labelled(settings: Settings) -> bool:
    """Whether nodes say which disks they give: where not all of them do, or where disks carry tags."""
    longhorn = settings.longhorn
    return longhorn.storage_nodes < settings.cluster.nodes or bool(longhorn.bulk.disk_tags)


def _text(flag: bool) -> str:
    return "true" if flag else "false"


def _bulk_class(settings: LonghornSettings) -> dict[str, Any]:
    bulk = settings.bulk
    selector = {"diskSelector": ",".join(bulk.disk_tags)} if bulk.disk_tags else {}
    parameters = {**_parameters(bulk.replicas, bulk.data_locality), **selector}
    return _storage_class(BULK, parameters, reclaim_policy="Retain")


def _scratch_class() -> dict[str, Any]:
    return _storage_class(SCRATCH, _parameters(1, "best-effort"), reclaim_policy="Delete")


def _storage_class(name: str, parameters: dict[str, str], *, reclaim_policy: str) -> dict[str, Any]:
    return manifest(
        "storage.k8s.io/v1",
        "StorageClass",
        name,
        provisioner=DRIVER,
        parameters=parameters,
        reclaimPolicy=reclaim_policy,
        allowVolumeExpansion=True,
        volumeBindingMode="Immediate",
    )


def _parameters(replicas: int, data_locality: str) -> dict[str, str]:
    """As in the default class, which the chart renders."""
    return {
        "numberOfReplicas": str(replicas),
        "dataLocality": data_locality,
        "staleReplicaTimeout": "30",
        "fsType": "ext4",
        "dataEngine": "v1",
        "disableRevisionCounter": "true",
        "unmapMarkSnapChainRemoved": "ignored",
        "backupTargetName": "default",
    }
