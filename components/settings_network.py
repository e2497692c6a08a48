"""What a stack file may say about the network: cilium, the Gateway and public DNS."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from components.fields import Address, GoDuration, Interface, Label, Model, Network, Replicas

LabelValue = Annotated[
    str,
    Field(
        pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$",
        description="a label's value in text of at most 63 letters, digits, hyphens, dots and underscores",
    ),
]
Labels = dict[str, LabelValue]


class AddressRange(Model):
    """Addresses for Services of type LoadBalancer, both ends included."""

    start: Address = Field(description="the first IPv4 address for load balancers, such as 192.168.10.200")
    stop: Address = Field(description="the last IPv4 address for load balancers, such as 192.168.10.230")


class EgressPolicy(Model):
    """Traffic that leaves through one chosen node, with an address that a firewall elsewhere can know."""

    name: Label
    namespace: Label
    pod_labels: Labels = Field(
        default_factory=dict[str, LabelValue],
        description="a map of the labels of the pods; empty for every pod of the namespace",
    )
    destinations: list[Network] = Field(
        min_length=1, description="a list of at least one network outside the cluster, such as [198.51.100.0/24]"
    )
    except_for: list[Network] = Field(
        default_factory=list[Network], description="a list of networks inside the destinations that are left alone"
    )
    node_labels: Labels = Field(
        min_length=1, description="a map of at least one label of the node that the traffic leaves through"
    )
    egress_ip: Address | None = Field(
        default=None, description="an IPv4 address that the node has, such as 192.168.10.21"
    )
    interface: Interface | None = Field(
        default=None, description="the node's network interface whose first address is used, such as eno2"
    )


class Cilium(Model):
    """The network."""

    devices: list[Interface] = Field(
        min_length=1, description="a list of at least one interface that carries traffic, such as [eno1]"
    )
    operator_replicas: Replicas
    load_balancer: AddressRange
    mtu: int | None = Field(default=None, ge=1280, le=9000, description="a packet size from 1280 to 9000")
    monitors: bool = Field(default=True, description="true (cilium brings ServiceMonitors and dashboards) or false")
    egress: list[EgressPolicy] = Field(
        default_factory=list[EgressPolicy], description="a list of egress policies, each a map with a name"
    )


class Gateway(Model):
    """The one entrance for HTTP and HTTPS."""

    address: Address = Field(description="an IPv4 address out of home:cilium.loadBalancer, such as 192.168.10.200")


class ExternalDns(Model):
    """Records of public services at Cloudflare."""

    policy: Literal["upsert-only", "sync"] = Field(
        default="upsert-only", description="upsert-only (records are never deleted) or sync"
    )
    interval: GoDuration = "5m"
    target: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$",
        description="the address or DNS name that public records point to, such as wan.example.org; "
        "left out, they point to home:gateway.address",
    )
