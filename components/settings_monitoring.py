"""What a stack file may say about metrics, logs and alerts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from components.fields import Days, Model, VolumeSize

StorageClass = Literal["longhorn", "longhorn-bulk"]


class Volume(Model):
    """A volume and the class that it is claimed from."""

    size: VolumeSize
    storage_class: StorageClass = Field(description="longhorn or longhorn-bulk")


class Prometheus(Model):
    """Metrics."""

    retention: Days
    retention_size: VolumeSize
    volume: Volume


class Loki(Model):
    """Logs."""

    retention: Days
    volume: Volume


class Alertmanager(Model):
    """Silences and the notifications that were sent."""

    volume: Volume


class Grafana(Model):
    """What people save in Grafana; the platform's dashboards are not in there."""

    volume: Volume


class Monitoring(Model):
    """Metrics, logs, alerts and dashboards."""

    prometheus: Prometheus
    loki: Loki
    alertmanager: Alertmanager
    grafana: Grafana
