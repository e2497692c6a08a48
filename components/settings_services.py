"""What a stack file may say about services: only what differs from stack to stack."""

from __future__ import annotations

from pydantic import Field

from components.fields import Address, Label, Model, Replicas, VolumeSize


class ServiceValues(Model):
    """The values of one service in this stack; what is not given is as in the service's file.

    address: of its load balancer ports, one of home:cilium.loadBalancer.
    """

    replicas: Replicas | None = None
    storage: dict[Label, VolumeSize] = Field(
        default_factory=dict[str, str], description="a map from volumes to sizes, such as library: 20Gi"
    )
    address: Address | None = None
