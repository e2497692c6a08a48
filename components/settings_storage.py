"""What a stack file may say about storage and backup."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from components.cron import CronSchedule
from components.fields import Model, Replicas

DiskTag = Annotated[
    str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$", description="a Longhorn disk tag such as hdd")
]
Bucket = Annotated[
    str,
    Field(
        pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$",
        description="an S3 bucket of 3 to 63 lower-case letters, digits, dots and hyphens, such as home-backup",
    ),
]


class Bulk(Model):
    """The tier for large volumes."""

    replicas: Replicas
    data_locality: Literal["disabled", "best-effort", "strict-local"] = Field(
        description="disabled, best-effort or strict-local"
    )
    disk_tags: list[DiskTag] = Field(
        description="a list of the tags that a disk must carry, such as [hdd]; empty for every disk without a tag"
    )


class Longhorn(Model):
    """Replicated block storage."""

    replicas: Replicas
    storage_nodes: int = Field(ge=1, le=99, description="the number of nodes that give disks, from 1 to 99")
    bulk: Bulk
    data_path: str = Field(
        default="/var/lib/longhorn",
        pattern=r"^(/[A-Za-z0-9._-]+)+$",
        description="an absolute directory on the nodes such as /var/lib/longhorn",
    )
    backup_target: str = Field(
        pattern=r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]@[a-z0-9-]+/([A-Za-z0-9._-]+/?)*$",
        description="s3://BUCKET@REGION/PATH such as s3://home-backup@us-east-1/longhorn",
    )
    uninstall_confirmed: bool = Field(
        default=False, description="true (destroy uninstalls Longhorn and deletes every volume) or false"
    )


class Snapshots(Model):
    """The snapshot controller."""

    replicas: Replicas


class ObjectStore(Model):
    """Where backups are kept, outside the cluster."""

    bucket: Bucket
    prefix: str = Field(
        pattern=r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$",
        description="a path in the bucket that no other stack uses, without slashes around it, such as velero/prod",
    )
    region: str = Field(
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$",
        description="the bucket's region such as us-east-1, which S3 of other makers has too",
    )
    url: str | None = Field(
        default=None,
        pattern=r"^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?$",
        description="the address of an S3 that is not AWS, such as https://s3.example.org:9000; left out for AWS",
    )


class BackupSchedule(Model):
    """When a backup is taken, and how long it is kept."""

    cron: CronSchedule
    keep_days: int = Field(ge=1, le=3650, description="the days that a backup is kept, from 1 to 3650")


class BackupSchedules(Model):
    """Both take everything; the weekly ones are kept longer."""

    daily: BackupSchedule
    weekly: BackupSchedule


class Velero(Model):
    """Backup of volumes and resource state."""

    s3: ObjectStore
    schedules: BackupSchedules
