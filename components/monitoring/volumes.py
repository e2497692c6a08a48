"""Claims as the charts of monitoring want them, always with the name of a class."""

from __future__ import annotations

from typing import Any

from components.settings_monitoring import Volume


def claim_template(volume: Volume) -> dict[str, Any]:
    """The volumeClaimTemplate of a Prometheus or Alertmanager."""
    spec = {
        "storageClassName": volume.storage_class,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": volume.size}},
    }
    return {"volumeClaimTemplate": {"spec": spec}}
