"""What a stack file may say about sign-in."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from components.fields import Label, Model, Replicas, VolumeSize


class Database(Model):
    """Keycloak's PostgreSQL."""

    instances: Replicas
    size: VolumeSize
    storage_class: Literal["longhorn", "longhorn-bulk"] = Field(description="longhorn or longhorn-bulk")


class Keycloak(Model):
    """The identity provider."""

    instances: Replicas
    database: Database
    groups: list[Label] = Field(
        min_length=1, description="a list of at least one group of people in the realm, such as [admins, family]"
    )
