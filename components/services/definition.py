"""A service of the household as people write it, one file each: services/<name>.yaml."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from components.definition_fields import (
    CpuQuantity,
    DefinitionName,
    Digest,
    EnvName,
    HostLabel,
    MemoryQuantity,
    MountPath,
    ObjectName,
    Port,
    Reason,
    SecretKey,
)
from components.fields import DnsName, GoDuration, Label, Model, Network, Replicas
from components.services.auth import Auth
from components.services.storage import Volume
from components.services.update import Update

DIRECTORY = "services"


class Image(Model):
    """The container image. Flux writes new tags into the line that carries the marker."""

    repository: str = Field(
        pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+$",
        description="registry and path, without a tag, such as ghcr.io/immich-app/immich-server",
    )
    tag: str = Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$", description='a tag in quotes, such as "2.5.6"')
    digest: Digest | None = None
    pull_secret: ObjectName | None = None


class ExtraPort(Model):
    """A port besides HTTP: inside the cluster, or on an address of the load balancer's range.

    The address differs per stack: home:services.<name>.address. host: the name that people use for it.
    """

    name: Label = Field(max_length=15, description="a name of at most 15 characters, such as ssh")
    port: Port
    protocol: Literal["TCP", "UDP"] = Field(default="TCP", description="TCP or UDP")
    expose: Literal["cluster", "loadBalancer"] = Field(default="cluster", description="cluster or loadBalancer")
    service_port: Port | None = None
    host: HostLabel | None = None


class SecretEnv(Model):
    """A Secret's key as an environment variable. With `generate` the platform makes the Secret once by itself."""

    env: EnvName
    secret: ObjectName
    key: SecretKey
    generate: bool = Field(default=False, description="true (made once by the platform) or false (in git, by SOPS)")


class SecretFile(Model):
    """A Secret's key as a file, read-only."""

    file: MountPath
    secret: ObjectName
    key: SecretKey
    generate: bool = Field(default=False, description="true (made once by the platform) or false (in git, by SOPS)")


def _secret_kind(entry: Any) -> str:
    return "file" if isinstance(entry, dict) and "file" in entry else "env"


SecretEntry = Annotated[
    Annotated[SecretEnv, Tag("env")] | Annotated[SecretFile, Tag("file")], Discriminator(_secret_kind)
]


class Probe(Model):
    """How to see that the service is healthy: HTTP on `path`, or without one whether the port accepts connections."""

    path: str | None = Field(default=None, pattern=r"^/\S*$", description="a path such as /api/health")
    port: Port | None = None
    start: GoDuration = Field(default="5m", description="how long the first start may take, such as 5m")


class Resources(Model):
    """Requests and the memory limit; `devices` are extended resources such as gpu.intel.com/i915."""

    cpu: CpuQuantity = "10m"
    memory: MemoryQuantity = "128Mi"
    memory_limit: MemoryQuantity | None = None
    devices: dict[
        Annotated[str, Field(pattern=r"^[a-z0-9.-]+\.[a-z]+/[A-Za-z0-9._-]+$")],
        Annotated[int, Field(ge=1, le=16, description="a whole number from 1 to 16")],
    ] = Field(
        default_factory=dict[str, int], description='a map such as "gpu.intel.com/i915": 1, one for each device plugin'
    )


class User(Model):
    """Whom the container runs as. Root needs an exemption."""

    uid: int = Field(default=1000, ge=0, le=2**31 - 1, description="a user id such as 1000")
    gid: int = Field(default=1000, ge=0, le=2**31 - 1, description="a group id such as 1000; it owns the volumes")


class Exemptions(Model):
    """What this one service may do although the policies forbid it, each with its reason."""

    root: Reason | None = None
    host_network: Reason | None = None
    devices: Reason | None = None
    writable_root: Reason | None = None


class Egress(Model):
    """What the service reaches besides DNS; nothing else."""

    internet: bool = Field(default=False, description="true or false")
    services: list[DefinitionName] = Field(
        default_factory=list[str], description="a list of the names of other services, such as [photos-db]"
    )
    hosts: list[DnsName] = Field(default_factory=list[str], description="a list of DNS names such as api.github.com")
    networks: list[Network] = Field(
        default_factory=list[Network], description="a list of networks such as 192.168.30.0/24"
    )


class Backend(Model):
    """A Service that something in apps/ brings: the file adds name, certificate and sign-in, and no workload."""

    service: ObjectName
    port: Port
    pods: dict[str, str] = Field(
        min_length=1, description="a map with the labels of the pods behind it, such as app: cluster-info"
    )
    pod_port: Port | None = None


class ServiceDefinition(Model):
    """One service: what runs, where people find it, who may come in, what is kept and how it is updated.

    In `env`, `auth` and `args` {host} stands for the service's first host, {domain} for the stack's domain and
    {issuer} for the realm; nothing else in braces is touched.
    """

    name: DefinitionName
    title: str | None = Field(default=None, min_length=1, max_length=60, description="a title for people")
    namespace: Label = Field(description="a namespace such as media; services may share one")
    image: Image | None = None
    backend: Backend | None = None
    command: list[str] = Field(default_factory=list[str], description="a list of words, or []")
    args: list[str] = Field(default_factory=list[str], description="a list of words, or []")
    port: Port | None = None
    extra_ports: list[ExtraPort] = Field(default_factory=list[ExtraPort], description="a list of ports")
    hosts: list[HostLabel] = Field(
        default_factory=list[str], description="a list of labels below the domain, such as [photos]"
    )
    public: bool = Field(default=False, description="true (a record at Cloudflare) or false")
    request_timeout: GoDuration | None = Field(
        default=None, description="how long one request may take, such as 1h for large uploads"
    )
    replicas: Replicas = 1
    strategy: Literal["Recreate", "RollingUpdate"] | None = Field(default=None, description="Recreate or RollingUpdate")
    env: dict[EnvName, str] = Field(
        default_factory=dict[str, str], description='a map from names to text, numbers and true/false in quotes: "80"'
    )
    secrets: list[SecretEntry] = Field(
        default_factory=list[SecretEntry],
        description="a list of entries {env, secret, key} or {file, secret, key}",
    )
    storage: list[Volume] = Field(default_factory=list[Volume], description="a list of volumes")
    resources: Resources = Field(default_factory=Resources)
    health: Probe = Field(default_factory=Probe)
    user: User = Field(default_factory=User)
    host_network: bool = Field(default=False, description="true, with exempt.hostNetwork, or false")
    node_selector: dict[str, str] = Field(
        default_factory=dict[str, str], description="a map with labels of nodes, or {}"
    )
    exempt: Exemptions = Field(default_factory=Exemptions)
    egress: Egress = Field(default_factory=Egress)
    metrics: str | None = Field(
        default=None, pattern=r"^/\S*$", description="the path of its metrics, such as /metrics"
    )
    update: Update | None = None
    auth: Auth
