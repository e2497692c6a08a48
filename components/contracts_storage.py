"""What storage and backup must agree on with the cluster and with each other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from components.cron import longest_gap_days
from components.settings import Settings

_TARGET = re.compile(r"s3://(?P<bucket>[^@]+)@[^/]+/(?P<path>.*)")


def storage_replicas_fit_nodes(settings: Settings) -> Iterator[str]:
    """Each replica of a volume needs a node of its own that gives disks."""
    longhorn, nodes = settings.longhorn, settings.cluster.nodes
    if longhorn.storage_nodes > nodes:
        yield (
            f"home:longhorn.storageNodes is {longhorn.storage_nodes}, but home:cluster.nodes is {nodes}; "
            "count the nodes of the cluster that give disks"
        )
    wanted = {"replicas": longhorn.replicas, "bulk.replicas": longhorn.bulk.replicas}
    for key, replicas in wanted.items():
        if replicas > longhorn.storage_nodes:
            yield (
                f"home:longhorn.{key} is {replicas}, but home:longhorn.storageNodes is {longhorn.storage_nodes}; "
                "a volume with more replicas than nodes stays degraded for ever"
            )


def strict_locality_has_one_replica(settings: Settings) -> Iterator[str]:
    """Longhorn refuses a strict-local volume that has a replica elsewhere."""
    bulk = settings.longhorn.bulk
    if bulk.data_locality == "strict-local" and bulk.replicas > 1:
        yield (
            f"home:longhorn.bulk.dataLocality is strict-local with home:longhorn.bulk.replicas {bulk.replicas}; "
            "use 1 replica, or best-effort"
        )


def backups_are_kept_until_the_next(settings: Settings) -> Iterator[str]:
    """Between two runs of a schedule there must be a backup that has not expired."""
    schedules = settings.velero.schedules
    for name, schedule in (("daily", schedules.daily), ("weekly", schedules.weekly)):
        gap = longest_gap_days(schedule.cron)
        key = f"home:velero.schedules.{name}"
        if gap is None:
            yield f'{key}.cron "{schedule.cron}" never comes true; name days that exist'
        elif schedule.keep_days < gap:
            yield (
                f"{key}.keepDays is {schedule.keep_days}, but {key}.cron leaves up to {gap} days between two backups; "
                f"keep them for at least {gap} days, or take them more often"
            )


def weekly_backups_outlive_daily_ones(settings: Settings) -> Iterator[str]:
    """Otherwise the weekly backups add nothing."""
    schedules = settings.velero.schedules
    daily, weekly = schedules.daily.keep_days, schedules.weekly.keep_days
    if weekly <= daily:
        yield (
            f"home:velero.schedules.weekly.keepDays is {weekly}, but home:velero.schedules.daily.keepDays is {daily}; "
            "keep the weekly backups longer than the daily ones"
        )


def backup_paths_are_apart(settings: Settings) -> Iterator[str]:
    """Velero calls a location broken that holds directories which are not its own."""
    store, target = settings.velero.s3, _TARGET.fullmatch(settings.longhorn.backup_target)
    if target is None or target["bucket"] != store.bucket:
        return
    ours, theirs = f"{store.prefix}/", f"{target['path'].strip('/')}/".lstrip("/")
    if ours.startswith(theirs) or theirs.startswith(ours):
        yield (
            f"home:longhorn.backupTarget is {settings.longhorn.backup_target}, which overlaps "
            f"home:velero.s3.prefix {store.prefix} in the same bucket; give each a path of its own"
        )


STORAGE_RULES = (
    storage_replicas_fit_nodes,
    strict_locality_has_one_replica,
    backups_are_kept_until_the_next,
    weekly_backups_outlive_daily_ones,
    backup_paths_are_apart,
)
