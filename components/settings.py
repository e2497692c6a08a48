"""What a stack file may say: one small model per component, validated as a whole, without I/O."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from components.errors import PlatformError
from components.mistakes import sentences

NAMESPACE = "home"

DnsName = Annotated[
    str,
    Field(
        pattern=r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)+[a-z]{2,}$",
        max_length=253,
        description="a lower-case DNS name such as dev.home.example.org",
    ),
]
GoDuration = Annotated[
    str, Field(pattern=r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$", description="a duration such as 10m or 1h30m")
]
Replicas = Annotated[int, Field(ge=1, le=9, description="a whole number from 1 to 9")]
Email = Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", description="an e-mail address")]
GitUrl = Annotated[
    str,
    Field(
        pattern=r"^ssh://[^@\s]+@[^/\s]+/\S+$",
        description="an SSH address such as ssh://git@git.example.org/household/platform.git",
    ),
]
KubeContext = Annotated[
    str, Field(min_length=1, pattern=r"^\S+$", description="the name of a context in your kubeconfig")
]
Interface = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9._-]{0,13}\+?$", description="a network interface such as eno1 or enp+")
]


class Model(BaseModel):
    """Keys are camelCase; a key that is not known is a mistake, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, str_strip_whitespace=True)


class ApiServer(Model):
    """Where nodes and cilium's agents reach the Kubernetes API without kube-proxy."""

    host: IPv4Address = Field(description="the IPv4 address of the API server or its virtual IP")
    port: int = Field(default=6443, ge=1, le=65535, description="a port from 1 to 65535")


class Cluster(Model):
    """The k3s cluster that the stack is deployed to."""

    context: KubeContext
    api_server: ApiServer
    nodes: int = Field(ge=1, le=99, description="the number of nodes, a whole number from 1 to 99")
    pod_cidr: IPv4Network = Field(description="k3s' --cluster-cidr, such as 10.42.0.0/16")
    service_cidr: IPv4Network = Field(description="k3s' --service-cidr, such as 10.43.0.0/16")
    protect: bool = Field(description="true (destroy and replacement of stateful parts are refused) or false")


class Git(Model):
    """The repository that Flux reconciles."""

    url: GitUrl
    branch: str = Field(default="main", min_length=1, pattern=r"^\S+$", description="a branch name")
    interval: GoDuration = "10m"
    known_hosts: str = Field(
        pattern=r"^\S+ (ssh-ed25519|ecdsa-sha2-nistp256|ssh-rsa) \S+",
        description="the git host's line from `ssh-keyscan HOST`",
    )


class Kyverno(Model):
    """The policy engine."""

    replicas: Replicas
    failure_policy: Literal["Fail", "Ignore"] = Field(
        description="Fail (a request is refused while kyverno is down) or Ignore"
    )


class Cilium(Model):
    """The network."""

    devices: list[Interface] = Field(
        min_length=1, description='at least one interface that carries traffic, such as ["eno1"]'
    )
    operator_replicas: Replicas


class CertManager(Model):
    """Certificates from Let's Encrypt by DNS-01 through Cloudflare."""

    email: Email
    issuer: Literal["staging", "production"] = Field(description="staging or production")
    replicas: Replicas
    dns_zone: DnsName
    recursive_nameservers: list[IPv4Address] = Field(
        min_length=1, description="public resolvers outside the home's split horizon, such as [1.1.1.1, 9.9.9.9]"
    )


class Settings(Model):
    """Everything a stack decides; secrets are not in here, only their presence is checked."""

    domain: DnsName
    cluster: Cluster
    git: Git
    kyverno: Kyverno
    cilium: Cilium
    cert_manager: CertManager


@dataclass(frozen=True, kw_only=True)
class ConfigSecret:
    """A value that only encrypted stack config may hold, under a key of its own."""

    key: str
    meaning: str


CONFIG_SECRETS = (
    ConfigSecret(key="deployKey", meaning="the private SSH key with read and write access to the git repository"),
    ConfigSecret(key="ageKey", meaning="the age private key that decrypts the SOPS Secrets of this stack"),
)


@dataclass(frozen=True, kw_only=True)
class StackConfig:
    """Configuration as the engine hands it over: strings by full key, objects as JSON, and which are encrypted."""

    stack: str
    values: Mapping[str, str]
    encrypted: Collection[str]

    @property
    def file(self) -> str:
        """The file that a person edits."""
        return f"Pulumi.{self.stack}.yaml"


def parse(config: StackConfig) -> Settings:
    """The stack's settings. Raises PlatformError with every mistake at once."""
    secret_keys = {secret.key for secret in CONFIG_SECRETS}
    own = {key.removeprefix(f"{NAMESPACE}:"): raw for key, raw in config.values.items() if _is_own(key)}
    plain = {key: _decoded(raw) for key, raw in own.items() if key not in secret_keys}
    mistakes = _secret_mistakes(config, own)
    try:
        settings = Settings.model_validate(plain)
    except ValidationError as error:
        raise PlatformError(*sentences(error, Settings, prefix=f"{config.file}: {NAMESPACE}:"), *mistakes) from None
    if mistakes:
        raise PlatformError(*mistakes)
    return settings


def _is_own(key: str) -> bool:
    return key.startswith(f"{NAMESPACE}:")


def _secret_mistakes(config: StackConfig, own: Mapping[str, str]) -> list[str]:
    mistakes: list[str] = []
    for secret in CONFIG_SECRETS:
        key = f"{NAMESPACE}:{secret.key}"
        command = f"pulumi config set --secret {key} --stack {config.stack} < FILE"
        if not own.get(secret.key, "").strip():
            mistakes.append(f"{config.file}: {key} is missing, it is {secret.meaning}: set it with `{command}`")
        elif key not in config.encrypted:
            mistakes.append(
                f"{config.file}: {key} is in plain text, it must be encrypted: replace the key, "
                f"since this one is exposed, and set the new one with `{command}`"
            )
    mistakes += [
        f"{config.file}: {key} is encrypted but is no secret: set it without --secret"
        for key in sorted(config.encrypted)
        if _is_own(key) and key.removeprefix(f"{NAMESPACE}:") not in {secret.key for secret in CONFIG_SECRETS}
    ]
    return mistakes


def _decoded(raw: str) -> Any:
    """Objects and lists arrive as JSON text; anything else is the scalar itself."""
    if raw[:1] not in "{[":
        return raw
    try:
        return json.loads(raw)
    except json.JSONDecodeError:
        return raw
