"""One service as a stack runs it: what its file says, together with what the stack says about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from components.definition_files import Definition
from components.realm import issuer_url
from components.services.definition import ServiceDefinition
from components.services.storage import Volume
from components.settings_services import ServiceValues

APEX = "@"


@dataclass(frozen=True, kw_only=True)
class Service:
    """A service's definition, the stack's values for it, and the stack's domain."""

    source: Definition[ServiceDefinition]
    values: ServiceValues
    domain: str

    @property
    def definition(self) -> ServiceDefinition:
        """What the file says."""
        return self.source.value

    @property
    def name(self) -> str:
        """The file's name, and that of the workload and its Service."""
        return self.definition.name

    @property
    def namespace(self) -> str:
        """Where everything of the service lives."""
        return self.definition.namespace

    @property
    def title(self) -> str:
        """What people call it."""
        return self.definition.title or self.name.replace("-", " ").capitalize()

    @property
    def hosts(self) -> tuple[str, ...]:
        """Whole DNS names, in the order of the file."""
        return tuple(full_host(label, self.domain) for label in self.definition.hosts)

    @property
    def replicas(self) -> int:
        """The stack's number, else the file's."""
        return self.values.replicas if self.values.replicas is not None else self.definition.replicas

    def size(self, volume: Volume) -> str | None:
        """The stack's size of a volume, else the file's; None for a claim that is somebody else's."""
        return self.values.storage.get(volume.name, volume.size)

    def claim(self, volume: Volume) -> str:
        """The name of the volume's claim in the service's namespace."""
        return volume.existing_claim or f"{self.name}-{volume.name}"

    def filled(self, text: str) -> str:
        """The text with {host}, {domain} and {issuer} replaced; other braces stay as they are."""
        return filled(text, self.placeholders)

    @property
    def placeholders(self) -> Mapping[str, str]:
        """What stands for {host} (only with a host), {domain} and {issuer}."""
        known = {"domain": self.domain, "issuer": issuer_url(self.domain)}
        return {**known, "host": self.hosts[0]} if self.hosts else known


def full_host(label: str, domain: str) -> str:
    """The DNS name of a host label; `@` is the domain itself."""
    return domain if label == APEX else f"{label}.{domain}"


def filled(text: str, known: Mapping[str, str]) -> str:
    """The text with each `{key}` replaced by its value."""
    for key, value in known.items():
        text = text.replace(f"{{{key}}}", value)
    return text


def in_stack(
    definitions: Iterable[Definition[ServiceDefinition]], values: Mapping[str, ServiceValues], domain: str
) -> tuple[Service, ...]:
    """Every service of a stack, in the order of the names."""
    return tuple(
        Service(source=each, values=values.get(each.value.name, ServiceValues()), domain=domain) for each in definitions
    )
