"""The user interfaces of the platform: one route each, and sign-in in front of those that have none of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from components import oauth2_proxy
from components.contracts_network import uncovered_hosts
from components.errors import PlatformError
from components.guards import Guard, Peer, network_policy
from components.namespaces import Namespace
from components.oauth2_proxy import (
    METRICS_PORT,
    POD_PORT,
    RealmAddress,
    SignInProxy,
    pod_labels,
    proxy_client,
    sign_in_proxy,
)
from components.objects import manifest
from components.platform import After, Component, Platform
from components.realm import OidcClient
from components.routing import GatewayRef, http_route

# Of its own: some interfaces live in kube-system, to which no route may attach, and none of the others' namespaces
# are as restricted as the pods that face the network can be.
NAMESPACE = Namespace(name=oauth2_proxy.NAMESPACE, pod_security="restricted", routes=True)


@dataclass(frozen=True, kw_only=True)
class Proxied:
    """It signs nobody in, so a proxy stands in front.

    pods, port: the labels and the port of the pods behind its Service. Besides the proxy only `neighbours` reach them.
    """

    pods: Mapping[str, str]
    port: int
    neighbours: tuple[Peer, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SignsInItself:
    """No proxy is needed; `how` says why."""

    how: str


@dataclass(frozen=True, kw_only=True)
class UserInterface:
    """A Service that people open in a browser, at `<label>.<domain>`."""

    label: str
    title: str
    namespace: str
    service: str
    port: int
    sign_in: Proxied | SignsInItself

    @property
    def url(self) -> str:
        """Where the proxy reaches it."""
        return f"http://{self.service}.{self.namespace}.svc:{self.port}"

    def host(self, domain: str) -> str:
        """One label below the domain, as the wildcard certificate wants it."""
        return f"{self.label}.{domain}"


@dataclass(frozen=True, kw_only=True)
class ProxyDefaults:
    """What all proxies share.

    fingerprints: by client id, an Output that changes with the client's secret.
    monitoring_namespace: from where their metrics are read.
    """

    realm: RealmAddress
    fingerprints: Mapping[str, pulumi.Output[str]]
    monitoring_namespace: str


def proxy_clients(interfaces: Iterable[UserInterface], domain: str, groups: Iterable[str]) -> tuple[OidcClient, ...]:
    """The realm's client of each proxied interface; only members of `groups` may come in."""
    allowed = tuple(groups)
    return tuple(
        proxy_client(each.label, NAMESPACE.name, each.host(domain), title=each.title, allowed_groups=allowed)
        for each in interfaces
        if isinstance(each.sign_in, Proxied)
    )


def host_mistakes(interfaces: Iterable[UserInterface], domain: str) -> Iterator[str]:
    """Hosts that two interfaces share, or that the wildcard certificate does not cover."""
    hosts = [(each.title, each.host(domain)) for each in interfaces]
    for host, count in Counter(host for _, host in hosts).items():
        if count > 1:
            yield f"{count} user interfaces share the host {host}; give each a label of its own"
    yield from uncovered_hosts(dict(hosts), domain)


class UserInterfaces(Component):
    """Comes last: it needs everything that it shows, and nothing needs it."""

    def __init__(
        self,
        platform: Platform,
        interfaces: Iterable[UserInterface],
        *,
        gateway: GatewayRef,
        proxies: ProxyDefaults,
        guards: Iterable[Guard] = (),
        after: After = (),
    ) -> None:
        """guards: of other pods that would give away what the interfaces protect."""
        super().__init__(platform, "user-interfaces", after=after)
        wanted = list(interfaces)
        if mistakes := list(host_mistakes(wanted, self.settings.domain)):
            raise PlatformError(*mistakes)
        self._gateway = gateway
        self._proxies = proxies
        clients = proxy_clients(wanted, self.settings.domain, self.settings.user_interfaces.allowed_groups)
        self._clients = {client.client_id: client for client in clients}
        self.declare(_entrance(proxies.monitoring_namespace))
        for guard in guards:
            self.declare(network_policy(guard))
        for interface in wanted:
            self._declare_interface(interface)
        self.register_outputs({})

    def _declare_interface(self, interface: UserInterface) -> None:
        host = interface.host(self.settings.domain)
        if isinstance(interface.sign_in, SignsInItself):
            backend = (interface.service, interface.port)
            self.declare(http_route(interface.label, interface.namespace, host, self._gateway, backend))
            return
        proxy = self._proxy(interface)
        guard = self.declare(network_policy(_guard(interface, interface.sign_in)))
        release = sign_in_proxy(self, proxy, after=[guard])
        route = http_route(interface.label, proxy.namespace, host, self._gateway, proxy.backend)
        self.declare(route, after=[release])

    def _proxy(self, interface: UserInterface) -> SignInProxy:
        client = self._clients[interface.label]
        return SignInProxy(
            name=interface.label,
            namespace=NAMESPACE.name,
            host=interface.host(self.settings.domain),
            upstream=interface.url,
            client=client,
            realm=self._proxies.realm,
            fingerprint=self._proxies.fingerprints[client.client_id],
            trusted_networks=oauth2_proxy.gateway_networks(self.settings.cluster),
            replicas=self.settings.user_interfaces.proxy_replicas,
        )


def _guard(interface: UserInterface, sign_in: Proxied) -> Guard:
    proxy = Peer(namespace=NAMESPACE.name, labels=pod_labels(interface.label), port=sign_in.port)
    return Guard(
        name=f"{interface.label}-behind-sign-in",
        namespace=interface.namespace,
        pods=sign_in.pods,
        peers=(proxy, *sign_in.neighbours),
    )


def _entrance(monitoring_namespace: str) -> dict[str, Any]:
    """The proxies answer only the Gateway, whose requests have an identity of their own, and those who read metrics."""
    metrics = {"matchLabels": {"k8s:io.kubernetes.pod.namespace": monitoring_namespace}}
    spec: dict[str, Any] = {
        "endpointSelector": {},
        "ingress": [
            {"fromEntities": ["ingress"], "toPorts": _ports(POD_PORT)},
            {"fromEndpoints": [metrics], "toPorts": _ports(METRICS_PORT)},
        ],
    }
    return manifest("cilium.io/v2", "CiliumNetworkPolicy", "entrance", namespace=NAMESPACE.name, spec=spec)


def _ports(port: int) -> list[dict[str, Any]]:
    return [{"ports": [{"port": str(port), "protocol": "TCP"}]}]
