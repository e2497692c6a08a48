"""What a stack file may say about virtual machines."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from components.fields import Model, Replicas, VolumeSize

FeatureGate = Annotated[
    str, Field(pattern=r"^[A-Z][A-Za-z]{2,63}$", description="a feature gate of KubeVirt such as HostDevices")
]
UpdateMethod = Annotated[Literal["LiveMigrate", "Evict"], Field(description="LiveMigrate or Evict")]


class KubeVirt(Model):
    """Virtual machines, and CDI, which fills their disks."""

    replicas: Replicas
    feature_gates: list[FeatureGate] = Field(
        description="a list of the feature gates to switch on, such as [HostDevices], or []"
    )
    disabled_feature_gates: list[FeatureGate] = Field(
        description="a list of the feature gates to switch off, such as [Template], or []"
    )
    eviction_strategy: Literal["LiveMigrate", "LiveMigrateIfPossible"] = Field(
        description="LiveMigrate or LiveMigrateIfPossible"
    )
    workload_updates: list[UpdateMethod] = Field(
        description="a list of how running machines get a new KubeVirt, such as [LiveMigrate]; [] for not by itself"
    )
    import_memory: VolumeSize
