"""What a service file says about the volumes of a service."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from components.definition_fields import MountPath, ObjectName
from components.fields import Label, Model, VolumeSize

AccessMode = Literal["ReadWriteOnce", "ReadWriteMany"]
Tier = Literal["standard", "bulk", "scratch"]


class Volume(Model):
    """A volume of the service's own, or with `existingClaim` a claim that is somebody else's.

    The claim is named `<service>-<name>`; it is never shrunk, and it stays when the service is removed.
    """

    name: Label = Field(max_length=20, description="a short name such as config, at most 20 characters")
    mount_path: MountPath
    size: VolumeSize | None = Field(default=None, description="a size in GiB such as 20Gi")
    tier: Tier = Field(
        default="standard",
        description="standard (replicated), bulk (large files on the disks for them) or scratch (one replica)",
    )
    access_mode: AccessMode = Field(default="ReadWriteOnce", description="ReadWriteOnce or ReadWriteMany")
    backup: bool | None = Field(
        default=None, description="true (the volume goes into every backup) or false; each volume of one's own says it"
    )
    existing_claim: ObjectName | None = None
    sub_path: str | None = Field(
        default=None, pattern=r"^[^/].*$", description="a path inside the volume, such as photos/2026"
    )
    read_only: bool = Field(default=False, description="true or false")
