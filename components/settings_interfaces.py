"""What a stack file may say about the platform's user interfaces."""

from __future__ import annotations

from pydantic import Field

from components.fields import Label, Model, Replicas


class UserInterfaces(Model):
    """The user interfaces that sign nobody in themselves: Longhorn, Hubble, Prometheus, Alertmanager."""

    allowed_groups: list[Label] = Field(
        min_length=1,
        description="a list of at least one group of the realm whose members may come in, such as [platform-admins]",
    )
    proxy_replicas: Replicas
