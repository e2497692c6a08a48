"""Off-cluster backup: Velero copies resource state and volumes to S3, by schedule and with retention."""

from __future__ import annotations

import json
from typing import Any

from components.cron import longest_gap_days
from components.helm import HelmApplication, install
from components.namespaces import Namespace
from components.objects import manifest
from components.platform import After, Component, Platform
from components.secrets import Provider, SecretUse
from components.settings_storage import BackupSchedule, ObjectStore
from components.settings_storage import Velero as VeleroSettings
from components.storage_classes import CLASSES, SCRATCH
from components.versions import VELERO, VELERO_PLUGIN_AWS

NAMESPACE = Namespace(name="velero", pod_security="privileged")
CREDENTIALS = SecretUse(
    namespace=NAMESPACE.name,
    name="velero-s3",
    # An AWS credentials file: the header [default], then aws_access_key_id= and aws_secret_access_key=.
    keys=("cloud",),
    provider=Provider.SOPS,
    needed_by="Velero's backup storage location",
)
SECRETS = (CREDENTIALS,)
LOCATION = "default"
NODE_AGENT_CONFIG = "node-agent-config"
# Not worth a backup, or harmful to restore: Longhorn's objects describe disks that a new cluster does not have.
EXCLUDED_NAMESPACES = ("kube-node-lease", "kube-public", "kube-system", "longhorn-system", "velero")


def expected_backups(settings: VeleroSettings) -> dict[str, int]:
    """The most days between two backups of each schedule, by the name that the chart gives it."""
    schedules = {"daily": settings.schedules.daily, "weekly": settings.schedules.weekly}
    gaps = {name: longest_gap_days(schedule.cron) for name, schedule in schedules.items()}
    return {f"{VELERO.name}-{name}": days for name, days in gaps.items() if days}


class Velero(Component):
    """The server, one node agent a node, the backup storage location and the schedules."""

    def __init__(self, platform: Platform, *, monitored: bool = False, after: After = ()) -> None:
        """monitored: the CRDs of prometheus-operator are there, so monitors may be declared."""
        super().__init__(platform, "velero", after=after)
        application = HelmApplication(
            chart=VELERO,
            namespace=NAMESPACE.name,
            values=_values(platform.settings.velero, monitored=monitored),
        )
        config = self.declare(_node_agent_config())
        install(self, application, after=[config])
        self.register_outputs({})


def _values(settings: VeleroSettings, *, monitored: bool) -> dict[str, Any]:
    return {
        # helm-controller replaces the CRDs; the chart's Job would do it with a kubectl image of its own.
        "upgradeCRDs": False,
        "cleanUpCRDs": False,
        "initContainers": [_plugin()],
        "credentials": {"useSecret": True, "existingSecret": CREDENTIALS.name},
        "backupsEnabled": True,
        "snapshotsEnabled": True,
        "deployNodeAgent": True,
        "nodeAgent": {"extraArgs": [f"--node-agent-configmap={NODE_AGENT_CONFIG}"]},
        "configuration": {
            "backupStorageLocation": [_location(settings.s3)],
            # The chart's default is a location without a provider, which Velero would report as broken.
            "volumeSnapshotLocation": [],
            "features": "EnableCSI",
            "uploaderType": "kopia",
            "defaultSnapshotMoveData": True,
            "defaultVolumesToFsBackup": False,
            # A bulk volume is copied for hours, before and during its upload; the defaults are 30m and 4h.
            "dataMoverPrepareTimeout": "4h",
            "defaultItemOperationTimeout": "24h",
        },
        "schedules": {
            "daily": _schedule(settings.schedules.daily),
            "weekly": _schedule(settings.schedules.weekly),
        },
        "metrics": {
            "enabled": True,
            "serviceMonitor": {"enabled": monitored},
            "nodeAgentPodMonitor": {"enabled": monitored},
        },
    }


def _plugin() -> dict[str, Any]:
    return {
        "name": "velero-plugin-for-aws",
        "image": f"docker.io/velero/velero-plugin-for-aws:{VELERO_PLUGIN_AWS}",
        "imagePullPolicy": "IfNotPresent",
        "volumeMounts": [{"mountPath": "/target", "name": "plugins"}],
    }


def _location(store: ObjectStore) -> dict[str, Any]:
    return {
        "name": LOCATION,
        "provider": "aws",
        "bucket": store.bucket,
        "prefix": store.prefix,
        "default": True,
        "accessMode": "ReadWrite",
        "config": _plugin_config(store),
    }


def _plugin_config(store: ObjectStore) -> dict[str, str]:
    """The plugin's own options: a map of text, booleans too."""
    if store.url is None:
        return {"region": store.region}
    return {
        "region": store.region,
        "s3Url": store.url,
        "s3ForcePathStyle": "true",
        # Only AWS itself understands the checksums that the plugin sends otherwise.
        "checksumAlgorithm": "",
    }


def _schedule(schedule: BackupSchedule) -> dict[str, Any]:
    return {
        "schedule": schedule.cron,
        # With owner references a deleted schedule would take its backups along.
        "useOwnerReferencesInBackup": False,
        "template": {
            "ttl": f"{schedule.keep_days * 24}h0m0s",
            "storageLocation": LOCATION,
            "excludedNamespaces": list(EXCLUDED_NAMESPACES),
            # Left open, an excluded namespace would leave out everything that has none.
            "includeClusterResources": True,
            "snapshotVolumes": True,
            "snapshotMoveData": True,
        },
    }


def _node_agent_config() -> dict[str, Any]:
    """The volume that a snapshot is copied from needs no replicas; it lives for one upload."""
    copies = {name: {"storageClass": SCRATCH} for name in CLASSES}
    config = {"loadConcurrency": {"globalConfig": 1}, "backupPVC": copies}
    data = {"node-agent-config.json": json.dumps(config, indent=2, sort_keys=True)}
    return manifest("v1", "ConfigMap", NODE_AGENT_CONFIG, namespace=NAMESPACE.name, data=data)
