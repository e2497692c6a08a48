"""Who reaches a service and what it reaches: everything else is dropped, between services of one namespace too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

from components import oauth2_proxy, realm
from components.objects import manifest
from components.services.service import Service
from components.services.target import pod_ports, pods, target

API = "cilium.io/v2"
KIND = "CiliumNetworkPolicy"
# Pods of any namespace are named by it in cilium's rules; without it a selector means the policy's own namespace.
NAMESPACE = "k8s:io.kubernetes.pod.namespace"
DNS = {NAMESPACE: "kube-system", "k8s-app": "kube-dns"}
PROMETHEUS = {"app.kubernetes.io/name": "prometheus"}
KEYCLOAK = {NAMESPACE: realm.NAMESPACE, "app.kubernetes.io/name": realm.SERVICE}
# Networks that are nobody's on the internet: homes, carriers, links, multicast.
PRIVATE = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "224.0.0.0/3",
)

Rule = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What fences refer to outside the services.

    proxies: the namespace of the sign-in proxies. monitoring: from where metrics are read.
    gateway: the address behind every host, the realm's included.
    """

    proxies: str
    monitoring: str
    gateway: IPv4Address


def fence(service: Service, services: Mapping[str, Service], around: Surroundings) -> list[dict[str, Any]]:
    """Its own policy, and beside each service that it may reach the one that lets it in.

    None for a pod on the host's network, which has the node's identity. A backend's egress is left to apps/.
    """
    definition = service.definition
    if definition.host_network:
        return []
    spec: dict[str, Any] = {
        "endpointSelector": {"matchLabels": pods(service)},
        # A list without any rule would be taken for none at all, and everybody would come in.
        "ingress": ingress(service, around) or [{}],
    }
    if definition.backend is None:
        spec["egress"] = egress(service, services, around)
    own = manifest(API, KIND, service.name, namespace=service.namespace, spec=spec)
    reached = [other for other in _reached(service, services) if not other.definition.host_network]
    return [own, *(_way_in(service, other) for other in reached)]


def _reached(service: Service, services: Mapping[str, Service]) -> Iterator[Service]:
    """Those that it names and that listen at all."""
    for name in service.definition.egress.services:
        if pod_ports(services[name]):
            yield services[name]


def ingress(service: Service, around: Surroundings) -> list[Rule]:
    """From the Gateway, or only from its proxy; from Prometheus; from the LAN to its load balancer's ports."""
    return [*_from_gateway(service, around), *_from_prometheus(service, around), *_from_outside(service)]


def _from_gateway(service: Service, around: Surroundings) -> Iterator[Rule]:
    http = target(service)
    if http is None or not service.hosts:
        return
    ports = _ports([(http.pod_port, "TCP")])
    if service.definition.auth.mode == "proxy":
        proxy = {NAMESPACE: around.proxies, **oauth2_proxy.pod_labels(service.name)}
        yield {"fromEndpoints": [{"matchLabels": proxy}], "toPorts": ports}
    else:
        # The Gateway's requests have an identity of their own, whatever namespace its proxy runs in.
        yield {"fromEntities": ["ingress"], "toPorts": ports}


def _from_prometheus(service: Service, around: Surroundings) -> Iterator[Rule]:
    http = target(service)
    if http and service.definition.metrics:
        prometheus = {NAMESPACE: around.monitoring, **PROMETHEUS}
        yield {"fromEndpoints": [{"matchLabels": prometheus}], "toPorts": _ports([(http.pod_port, "TCP")])}


def _from_outside(service: Service) -> Iterator[Rule]:
    ports = [(port.port, port.protocol) for port in service.definition.extra_ports if port.expose == "loadBalancer"]
    if ports:
        # A node that hands a connection on to another one puts its own address in front.
        yield {"fromEntities": ["world", "host", "remote-node"], "toPorts": _ports(ports)}


def egress(service: Service, services: Mapping[str, Service], around: Surroundings) -> list[Rule]:
    """DNS, and what the definition names."""
    wanted = service.definition.egress
    rules = [_to_dns(inspected=bool(wanted.hosts))]
    rules += map(_to_service, _reached(service, services))
    if wanted.hosts:
        rules.append({"toFQDNs": [{"matchName": host} for host in wanted.hosts]})
    if wanted.networks:
        rules.append({"toCIDR": [str(network) for network in wanted.networks]})
    if wanted.internet:
        rules.append({"toCIDRSet": [{"cidr": "0.0.0.0/0", "except": list(PRIVATE)}]})
    if service.definition.auth.mode == "oidc":
        rules += _to_realm(around)
    return rules


def _to_dns(*, inspected: bool) -> Rule:
    """cilium learns the addresses behind a name only from answers that it has seen."""
    ports: Rule = {"ports": [{"port": "53", "protocol": "UDP"}, {"port": "53", "protocol": "TCP"}]}
    if inspected:
        ports["rules"] = {"dns": [{"matchPattern": "*"}]}
    return {"toEndpoints": [{"matchLabels": DNS}], "toPorts": [ports]}


def _to_service(other: Service) -> Rule:
    if other.definition.host_network:
        return {"toEntities": ["host", "remote-node"], "toPorts": _ports(pod_ports(other))}
    return {"toEndpoints": [{"matchLabels": _anywhere(other)}], "toPorts": _ports(pod_ports(other))}


def _to_realm(around: Surroundings) -> list[Rule]:
    """Tokens and keys come from the issuer's public name, so through the Gateway, and from there to Keycloak.

    Without ports: cilium leads a connection to the Gateway to a port of its proxy that no rule can name.
    """
    return [
        {"toEntities": ["ingress"]},
        {"toCIDR": [f"{around.gateway}/32"]},
        {"toEndpoints": [{"matchLabels": KEYCLOAK}], "toPorts": _ports([(realm.PORT, "TCP")])},
    ]


def _way_in(service: Service, other: Service) -> dict[str, Any]:
    """Policies add up, so the other service's own one stays as it is."""
    rule = {"fromEndpoints": [{"matchLabels": _anywhere(service)}], "toPorts": _ports(pod_ports(other))}
    spec = {"endpointSelector": {"matchLabels": pods(other)}, "ingress": [rule]}
    return manifest(API, KIND, f"{service.name}-reaches-{other.name}", namespace=other.namespace, spec=spec)


def _anywhere(service: Service) -> dict[str, str]:
    return {NAMESPACE: service.namespace, **pods(service)}


def _ports(ports: Iterable[tuple[int, str]]) -> list[Rule]:
    return [{"ports": [{"port": str(port), "protocol": protocol} for port, protocol in ports]}]
