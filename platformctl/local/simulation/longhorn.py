"""What Longhorn's manager does outside its chart: the default StorageClass, and the refusal to be uninstalled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from platformctl.local.simulation.objects import Obj

Values = Mapping[str, Any]


def storage_classes(values: Values) -> list[Obj]:
    """`longhorn`, from the values that the chart writes into ConfigMap longhorn-storageclass."""
    persistence: Values = values.get("persistence") or {}
    if not persistence.get("createStorageClass", True):
        return []
    default = "true" if persistence.get("defaultClass", True) else "false"
    parameters = {
        "numberOfReplicas": str(persistence.get("defaultClassReplicaCount", 3)),
        "staleReplicaTimeout": "30",
        "fromBackup": "",
        "fsType": persistence.get("defaultFsType", "ext4"),
        "dataLocality": persistence.get("defaultDataLocality", "disabled"),
        "dataEngine": "v1",
    }
    annotations = {"storageclass.kubernetes.io/is-default-class": default, "simulated": "by the longhorn release"}
    return [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "longhorn", "annotations": annotations},
            "provisioner": "driver.longhorn.io",
            "allowVolumeExpansion": True,
            "reclaimPolicy": persistence.get("reclaimPolicy", "Delete"),
            "volumeBindingMode": persistence.get("volumeBindingMode", "Immediate"),
            "parameters": parameters,
        }
    ]


def refusal(values: Values) -> str:
    """Why the chart's pre-delete Job fails, or nothing: the confirmation is a setting of Longhorn's own."""
    settings: Values = values.get("defaultSettings") or {}
    if str(settings.get("deletingConfirmationFlag")).lower() == "true":
        return ""
    return "pre-delete hook failed: the setting deleting-confirmation-flag is false"
