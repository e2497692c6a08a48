"""What the household runs on the platform, as the files in the checkout describe it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from components.definition_files import read_directory
from components.errors import PlatformError
from components.namespaces import Namespace
from components.realm import OidcClient
from components.secrets import SecretUse
from components.services import secrets
from components.services.definition import DIRECTORY, ServiceDefinition
from components.services.pod import is_root
from components.services.service import Service, in_stack
from components.services.sign_in import client_texts, oidc_client
from components.settings import Settings

PodSecurity = Literal["restricted", "baseline", "privileged"]
_LEVELS: tuple[PodSecurity, ...] = ("restricted", "baseline", "privileged")
# Kubernetes' own; they are there before the program is.
_BUILT_IN = ("default", "kube-system", "kube-public", "kube-node-lease", "flux-system")
# Keycloak's own in every realm.
_BUILT_IN_CLIENTS = ("account", "account-console", "admin-cli", "broker", "realm-management", "security-admin-console")


@dataclass(frozen=True, kw_only=True)
class Household:
    """Everything that people described in files of their own, in the order of the names."""

    services: tuple[Service, ...] = ()

    @property
    def namespaces(self) -> tuple[Namespace, ...]:
        """Each namespace once, as restricted as all of its services allow."""
        levels: dict[str, PodSecurity] = {}
        for service in self.services:
            known: PodSecurity = levels.get(service.namespace, "restricted")
            levels[service.namespace] = max((known, pod_security(service)), key=_LEVELS.index)
        return tuple(Namespace(name=name, pod_security=levels[name], routes=True) for name in sorted(levels))

    @property
    def retained_namespaces(self) -> tuple[str, ...]:
        """Those with volumes: with the namespace the claims would go that are meant to stay."""
        owners = (service for service in self.services if service.definition.storage)
        return tuple(sorted({service.namespace for service in owners}))

    @property
    def clients(self) -> tuple[OidcClient, ...]:
        """The realm's clients of all services."""
        return tuple(client for service in self.services if (client := oidc_client(service)))

    @property
    def client_texts(self) -> Mapping[str, Mapping[str, str]]:
        """What the Secret of a client holds besides its id and secret, by client id."""
        texts = ((oidc_client(service), client_texts(service)) for service in self.services)
        return {client.client_id: text for client, text in texts if client and text}

    @property
    def secret_uses(self) -> tuple[SecretUse, ...]:
        """Every Secret that a service needs."""
        return secrets.secret_uses(self.services)

    def mistakes(self, taken: Iterable[str], clients: Iterable[str]) -> Iterator[str]:
        """Namespaces, clients and Secrets that would have two owners. taken, clients: those of the platform itself."""
        yield from _taken_namespaces(self.services, {*taken, *_BUILT_IN})
        yield from _taken_clients(self.services, {*clients, *_BUILT_IN_CLIENTS})
        yield from secrets.mistakes(self.services)


def load(root: Path, settings: Settings) -> Household:
    """The household of a stack. Raises PlatformError with every mistake in its files."""
    definitions = read_directory(root, DIRECTORY, ServiceDefinition)
    if definitions.mistakes:
        raise PlatformError(*definitions.mistakes)
    return Household(services=in_stack(definitions.found, settings.services, settings.domain))


def secret_uses(root: Path) -> tuple[SecretUse, ...]:
    """Every Secret that a service needs; names do not depend on the stack. Files with mistakes are left out."""
    definitions = read_directory(root, DIRECTORY, ServiceDefinition)
    return secrets.secret_uses(in_stack(definitions.found, {}, "example.org"))


def pod_security(service: Service) -> PodSecurity:
    """The level that the service's pods need. What apps/ runs is not known, so it gets the usual one."""
    if service.definition.host_network:
        return "privileged"
    return "baseline" if is_root(service) or service.definition.backend else "restricted"


def _taken_namespaces(services: Iterable[Service], taken: Collection[str]) -> Iterator[str]:
    for service in services:
        if service.namespace in taken:
            text = f"is {service.namespace}, which is the platform's own; choose a namespace of the household's"
            yield service.source.wrong(("namespace",), text)


def _taken_clients(services: Iterable[Service], taken: Collection[str]) -> Iterator[str]:
    owners = dict.fromkeys(taken, "the platform")
    for service in services:
        client = oidc_client(service)
        if client is None:
            continue
        if client.client_id in owners:
            text = (
                f"gives the client {client.client_id}, which belongs to {owners[client.client_id]}; "
                "choose another name, or with mode oidc another clientId"
            )
            yield service.source.wrong(("auth",), text)
        owners.setdefault(client.client_id, service.name)
