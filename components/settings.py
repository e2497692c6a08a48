"""What a stack file may say: one small model per component, validated as a whole, without I/O."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field, ValidationError

from components.definition_fields import DefinitionName
from components.errors import PlatformError
from components.fields import (
    Address,
    DnsName,
    Email,
    GitUrl,
    GoDuration,
    K3sVersion,
    KubeContext,
    Model,
    Network,
    Replicas,
    UserName,
)
from components.mistakes import Schema, dotted, mistakes
from components.model_paths import known_keys
from components.settings_identity import Keycloak
from components.settings_interfaces import UserInterfaces
from components.settings_machines import KubeVirt
from components.settings_monitoring import Monitoring
from components.settings_network import Cilium, ExternalDns, Gateway
from components.settings_services import ServiceValues
from components.settings_storage import Longhorn, Snapshots, Velero

NAMESPACE = "home"


class ApiServer(Model):
    """Where nodes and cilium's agents reach the Kubernetes API without kube-proxy."""

    host: Address = Field(description="the IPv4 address of the API server or its virtual IP, such as 192.168.10.10")
    port: int = Field(default=6443, ge=1, le=65535, description="a port from 1 to 65535")


class Cluster(Model):
    """The k3s cluster that the stack is deployed to."""

    context: KubeContext
    kubernetes_version: K3sVersion
    api_server: ApiServer
    nodes: int = Field(ge=1, le=99, description="the number of nodes, a whole number from 1 to 99")
    lan: Network = Field(description="the home network that the nodes are in, such as 192.168.10.0/24")
    node_addresses: list[Address] = Field(
        min_length=1, description="a list of the IPv4 address of each node, such as [192.168.10.11]"
    )
    pod_cidr: Network = Field(description="the network of k3s' --cluster-cidr, such as 10.42.0.0/16")
    service_cidr: Network = Field(description="the network of k3s' --service-cidr, such as 10.43.0.0/16")
    protect: bool = Field(description="true (destroy and replacement of stateful parts are refused) or false")


class Git(Model):
    """The repository that Flux reconciles."""

    url: GitUrl
    branch: str = Field(default="main", min_length=1, pattern=r"^\S+$", description="a branch name such as main")
    interval: GoDuration = "10m"
    known_hosts: str = Field(
        pattern=r"^\S+ (ssh-ed25519|ecdsa-sha2-nistp256|ssh-rsa) \S+",
        description="the git host's line from `ssh-keyscan HOST`: the host, the key type and the key",
    )


class ImageAutomation(Model):
    """New image tags, written to the git repository by one stack alone."""

    interval: GoDuration = "30m"
    suspend: bool = Field(description="true, or false in the one stack that writes new image tags to git")


class Kyverno(Model):
    """The policy engine."""

    replicas: Replicas
    failure_policy: Literal["Fail", "Ignore"] = Field(
        description="Fail (a request is refused while kyverno is down) or Ignore"
    )
    deploy_users: list[UserName] = Field(
        min_length=1,
        description="a list of at least one Kubernetes user that runs pulumi up, such as [platform-deploy]",
    )
    break_glass_group: UserName = Field(
        description="the Kubernetes group that may change the platform by hand in an emergency, such as "
        "platform-break-glass"
    )


class CertManager(Model):
    """Certificates from Let's Encrypt by DNS-01 through Cloudflare."""

    email: Email
    issuer: Literal["staging", "production"] = Field(description="staging or production")
    replicas: Replicas
    dns_zone: DnsName
    recursive_nameservers: list[Address] = Field(
        min_length=1,
        description="a list of public resolvers outside the home's split horizon, such as [1.1.1.1, 9.9.9.9]",
    )


class Settings(Model):
    """Everything a stack decides; secrets are not in here, only their presence is checked."""

    domain: DnsName
    cluster: Cluster
    git: Git
    kyverno: Kyverno
    cilium: Cilium
    cert_manager: CertManager
    gateway: Gateway
    external_dns: ExternalDns = Field(default_factory=ExternalDns)
    longhorn: Longhorn
    snapshots: Snapshots
    velero: Velero
    kubevirt: KubeVirt
    monitoring: Monitoring
    keycloak: Keycloak
    user_interfaces: UserInterfaces
    image_automation: ImageAutomation
    services: dict[DefinitionName, ServiceValues] = Field(
        default_factory=dict[str, ServiceValues],
        description="a map from services to what differs in this stack, such as photos: {replicas: 1}",
    )


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
    """Configuration as the engine hands it over: strings by full key, objects as JSON, and which are encrypted.

    A reader of the file itself may add its name and the line of each dotted key.
    """

    stack: str
    values: Mapping[str, str]
    encrypted: Collection[str]
    source: str | None = None
    lines: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def file(self) -> str:
        """The file that a person edits."""
        return self.source or f"Pulumi.{self.stack}.yaml"

    def place(self, key: str) -> str:
        """`Pulumi.dev.yaml:12: ` for a dotted key or the nearest map around it; without the line if it is unknown."""
        while key and key not in self.lines:
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        return f"{self.file}:{self.lines[key]}: " if key else f"{self.file}: "


_SECRET_KEYS = frozenset(secret.key for secret in CONFIG_SECRETS)


def parse(config: StackConfig) -> Settings:
    """The stack's settings. Raises PlatformError with every mistake at once."""
    own = {key.removeprefix(f"{NAMESPACE}:"): raw for key, raw in config.values.items() if _is_own(key)}
    plain = {_unicode(key): _decoded(raw) for key, raw in own.items() if key not in _SECRET_KEYS}
    try:
        settings = Settings.model_validate(plain)
    except ValidationError as error:
        raise PlatformError(*_value_mistakes(error, config), *_secret_mistakes(config, own)) from None
    if secret_mistakes := _secret_mistakes(config, own):
        raise PlatformError(*secret_mistakes)
    return settings


def _is_own(key: str) -> bool:
    return key.startswith(f"{NAMESPACE}:")


def _value_mistakes(error: ValidationError, config: StackConfig) -> list[str]:
    """A setting that is encrypted by mistake gets one sentence for that, and its value is not looked at."""
    schema = Schema(model=Settings, root=f"{NAMESPACE}:", also_known=_SECRET_KEYS)
    hidden = _encrypted_settings(config)
    found = {f"{NAMESPACE}:{dotted(mistake.location)}": mistake for mistake in mistakes(error, schema)}
    return [
        f"{config.place(key)}{key} {mistake.text}"
        for key, mistake in found.items()
        if f"{NAMESPACE}:{dotted(mistake.location[:1])}" not in hidden
    ]


def _secret_mistakes(config: StackConfig, own: Mapping[str, str]) -> list[str]:
    encrypted = [
        f"{config.place(key)}{key} is encrypted, but it is no secret; set it in plain text, without --secret"
        for key in sorted(_encrypted_settings(config))
    ]
    return encrypted + [text for secret in CONFIG_SECRETS for text in _secret_complaint(secret, config, own)]


def _encrypted_settings(config: StackConfig) -> set[str]:
    return {key for key in config.encrypted if key.removeprefix(f"{NAMESPACE}:") in known_keys(Settings)}


def _secret_complaint(secret: ConfigSecret, config: StackConfig, own: Mapping[str, str]) -> Iterator[str]:
    key = f"{NAMESPACE}:{secret.key}"
    command = f"`pulumi config set --secret {key} --stack {config.stack} < FILE`"
    if secret.key not in own:
        yield f"{config.place(key)}{key} is missing; it must be {secret.meaning}, set with {command}"
    elif not own[secret.key].strip():
        yield f"{config.place(key)}{key} is empty, but must be {secret.meaning}, set with {command}"
    elif key not in config.encrypted:
        yield (
            f"{config.place(key)}{key} is in plain text, but must be encrypted; "
            f"this one is exposed, so make a new one and set it with {command}"
        )


def _decoded(raw: str) -> Any:
    """Objects and lists arrive as JSON text; anything else is the scalar itself."""
    if not raw.startswith(("{", "[")):
        return raw
    try:
        return json.loads(raw, object_pairs_hook=lambda pairs: {_unicode(key): value for key, value in pairs})
    except (ValueError, RecursionError):
        return raw


def _unicode(key: str) -> str:
    """Half a surrogate pair, which JSON can hold, would make pydantic reject the whole map without saying why."""
    return key.encode("utf-8", "replace").decode()
