"""How long metrics and logs are kept, against the volumes that must hold them."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from components.settings import Settings

# Per node and day. Metrics: about 40 000 series every 30 s and 10 000 of cAdvisor every 10 s, two bytes a sample.
METRICS_GIB = 0.4
# Compressed logs of about 30 pods. Loki has no limit by size, so a full volume stops it.
LOGS_GIB = 0.15
# Of Prometheus' volume: the write-ahead log and the blocks of a compaction come on top of what it counts.
USABLE = 0.85


def metrics_fit_their_volume(settings: Settings) -> Iterator[str]:
    """Prometheus must delete by size before its volume is full, and not long before its retention ends."""
    prometheus = settings.monitoring.prometheus
    limit, size = _gib(prometheus.retention_size), _gib(prometheus.volume.size)
    if limit > size * USABLE:
        yield (
            f"home:monitoring.prometheus.retentionSize is {limit}Gi on a volume of {size}Gi; "
            f"leave room for the write-ahead log: at most {int(size * USABLE)}Gi, or a larger volume"
        )
    needed = _needed(settings, prometheus.retention, METRICS_GIB)
    if limit < needed:
        yield (
            f"home:monitoring.prometheus.retentionSize is {limit}Gi, but {prometheus.retention} of "
            f"{settings.cluster.nodes} nodes take about {needed}Gi; raise it, or shorten the retention"
        )


def logs_fit_their_volume(settings: Settings) -> Iterator[str]:
    """Loki deletes by age alone."""
    loki = settings.monitoring.loki
    size, needed = _gib(loki.volume.size), _needed(settings, loki.retention, LOGS_GIB)
    if size < needed:
        yield (
            f"home:monitoring.loki.volume.size is {size}Gi, but {loki.retention} of {settings.cluster.nodes} nodes "
            f"take about {needed}Gi; raise it, or shorten the retention"
        )


def _gib(size: str) -> int:
    return int(size.removesuffix("Gi"))


def _needed(settings: Settings, retention: str, gib_a_day: float) -> int:
    return ceil(settings.cluster.nodes * int(retention.removesuffix("d")) * gib_a_day)


MONITORING_RULES = (metrics_fit_their_volume, logs_fit_their_volume)
