"""What the network's parts must agree on: the LAN, load balancers, egress, Gateway API and the hosts behind it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network, summarize_address_range
from typing import Any, cast

from components.settings import Settings
from components.settings_network import AddressRange
from components.upstream import UpstreamFile
from components.versions import Chart

POOL = "home:cilium.loadBalancer"
# The name of its definitions in upstream.lock.yaml, and of the component that declares them.
GATEWAY_API = "gateway-api"
BOOTSTRAP_CHART = "bootstrap/cilium-chart.yaml"
# By cilium's minor version: the Gateway API whose kinds its operator looks for, and without which it serves no Gateway.
GATEWAY_API_OF_CILIUM = {"1.20": "1.6"}
CHANNEL_FILE = "standard-install.yaml"


def nodes_are_in_the_lan(settings: Settings) -> Iterator[str]:
    """Load balancer addresses are announced by ARP, which reaches only the network that the nodes are in."""
    cluster = settings.cluster
    named = len(set(cluster.node_addresses))
    if named != cluster.nodes:
        yield (
            f"home:cluster.nodeAddresses lists {named}, but home:cluster.nodes is {cluster.nodes}; "
            "name the address of each node once"
        )
    for address in cluster.node_addresses:
        if address not in cluster.lan:
            yield (
                f"home:cluster.nodeAddresses has {address}, outside home:cluster.lan {cluster.lan}; "
                "name the network that the nodes are in"
            )


def lan_apart_from_cluster_networks(settings: Settings) -> Iterator[str]:
    """A pod could not reach a neighbour whose address belongs to pods or Services."""
    cluster = settings.cluster
    for key, network in (("podCidr", cluster.pod_cidr), ("serviceCidr", cluster.service_cidr)):
        if cluster.lan.overlaps(network):
            yield (
                f"home:cluster.lan {cluster.lan} overlaps home:cluster.{key} {network}; "
                "give pods and Services networks that the home does not use"
            )


def load_balancers_are_in_the_lan(settings: Settings) -> Iterator[str]:
    """A range of addresses that neighbours ask for by ARP."""
    cluster, pool = settings.cluster, settings.cilium.load_balancer
    if pool.start > pool.stop:
        yield f"{POOL}.start {pool.start} comes after {POOL}.stop {pool.stop}; exchange them"
    for key, address in (("start", pool.start), ("stop", pool.stop)):
        if address not in cluster.lan or address in _reserved(cluster.lan):
            yield (
                f"{POOL}.{key} is {address}, but home:cluster.lan {cluster.lan} has its hosts between "
                f"{' and '.join(map(str, _reserved(cluster.lan)))}; choose some outside the router's DHCP range"
            )


def load_balancers_have_free_addresses(settings: Settings) -> Iterator[str]:
    """Nobody else has an address of the range: no pod, no Service, no node and not the API server."""
    cluster, pool = settings.cluster, settings.cilium.load_balancer
    if pool.start > pool.stop:
        return
    for key, network in (("podCidr", cluster.pod_cidr), ("serviceCidr", cluster.service_cidr)):
        if any(block.overlaps(network) for block in summarize_address_range(pool.start, pool.stop)):
            yield f"{POOL} {_shown(pool)} overlaps home:cluster.{key} {network}; choose free addresses of the LAN"
    owners = dict.fromkeys(cluster.node_addresses, "a node") | {cluster.api_server.host: "the API server"}
    for address, owner in owners.items():
        if _holds(pool, address):
            yield f"{POOL} {_shown(pool)} holds {address}, the address of {owner}; choose a range without it"


def gateway_has_an_address_of_the_range(settings: Settings) -> Iterator[str]:
    """Cilium gives a Gateway only what its pools hold; otherwise it stays without an address."""
    address, pool = settings.gateway.address, settings.cilium.load_balancer
    if pool.start <= pool.stop and not _holds(pool, address):
        yield f"home:gateway.address is {address}, outside {POOL} {_shown(pool)}; choose one of those"


def egress_policies_have_names_of_their_own(settings: Settings) -> Iterator[str]:
    """Each becomes one object by its name."""
    for name, count in Counter(policy.name for policy in settings.cilium.egress).items():
        if count > 1:
            yield f"home:cilium.egress has {count} policies named {name}; give each a name of its own"


def egress_policies_choose_one_source(settings: Settings) -> Iterator[str]:
    """Address and interface exclude each other, and an address must be the node's own, so no load balancer's."""
    pool = settings.cilium.load_balancer
    for policy in settings.cilium.egress:
        given = [key for key, value in (("egressIp", policy.egress_ip), ("interface", policy.interface)) if value]
        if len(given) != 1:
            yield (
                f"home:cilium.egress {policy.name} has {' and '.join(given) or 'no source'}; "
                "give either egressIp or interface"
            )
        if policy.egress_ip and _holds(pool, policy.egress_ip):
            yield (
                f"home:cilium.egress {policy.name}: egressIp {policy.egress_ip} is in {POOL} {_shown(pool)}; "
                "it must be an address that the node itself has"
            )


NETWORK_RULES = (
    nodes_are_in_the_lan,
    lan_apart_from_cluster_networks,
    load_balancers_are_in_the_lan,
    load_balancers_have_free_addresses,
    gateway_has_an_address_of_the_range,
    egress_policies_have_names_of_their_own,
    egress_policies_choose_one_source,
)


def egress_gateway_lacks(values: Mapping[str, Any]) -> list[str]:
    """What the egress gateway needs and cilium's complete values do not give; the chart itself does not look."""
    if _at(values, "egressGateway.enabled") is not True:
        return []
    needed = {
        "kubeProxyReplacement": (True,),
        "bpf.masquerade": (True,),
        "enableIPv4Masquerade": (True, None),
        "ciliumEndpointSlice.enabled": (False, None),
    }
    return [
        f"cilium: egressGateway.enabled needs {path} {str(allowed[0]).lower()}, but it is {_at(values, path)}; "
        "set it in bootstrap/cilium-values.yaml, or cilium's agents do not start"
        for path, allowed in needed.items()
        if _at(values, path) not in allowed
    ]


def gateway_api_misfits(cilium: Chart, definitions: UpstreamFile) -> list[str]:
    """Why the pinned Gateway API definitions do not serve the pinned cilium."""
    minor = _minor(cilium.version)
    wanted = GATEWAY_API_OF_CILIUM.get(minor)
    if wanted is None:
        return [
            f"components/versions.py: cilium {cilium.version} has no row in GATEWAY_API_OF_CILIUM; "
            f"look up which Gateway API cilium {minor} is built with, and add it"
        ]
    found: list[str] = []
    if _minor(definitions.version) != wanted:
        found.append(
            f"upstream.lock.yaml: {definitions.name} is {definitions.version}, but cilium {cilium.version} "
            f"needs Gateway API v{wanted}; pin a release of that"
        )
    if not definitions.url.endswith(f"/{definitions.version}/{CHANNEL_FILE}"):
        found.append(
            f"upstream.lock.yaml: {definitions.name} is read from {definitions.url}; it must be the file "
            f"{CHANNEL_FILE} of {definitions.version}, since a cluster cannot change from one channel to another"
        )
    return found


def bootstrap_chart_differs(bootstrap: Mapping[str, Any], chart: Chart, namespace: str) -> list[str]:
    """Where Ansible would install another cilium than the one that Flux takes over."""
    wanted = {
        "release": chart.name,
        "namespace": namespace,
        "chart": f"{chart.repository}/{chart.name}",
        "version": chart.version,
    }
    return [
        f"{BOOTSTRAP_CHART}: {key} is {bootstrap.get(key)}, but the platform takes over {value}; make them equal"
        for key, value in wanted.items()
        if bootstrap.get(key) != value
    ]


def host_covered(host: str, domain: str) -> bool:
    """Whether the wildcard certificate of the domain names the host: the domain itself, or one label below it."""
    label, _, rest = host.partition(".")
    return host == domain or (bool(label) and label != "*" and rest == domain)


def uncovered_hosts(hosts: Mapping[str, str], domain: str) -> list[str]:
    """The hosts, by what asks for them, that the wildcard certificate and the Gateway's listeners leave out."""
    return [
        f"{owner}: the host {host} is not covered by the certificate for {domain} and *.{domain}; "
        f"use one name below the domain, such as {host.split('.')[0]}.{domain}"
        for owner, host in hosts.items()
        if not host_covered(host, domain)
    ]


def _holds(pool: AddressRange, address: IPv4Address) -> bool:
    return pool.start <= address <= pool.stop


def _reserved(network: IPv4Network) -> tuple[IPv4Address, IPv4Address]:
    return network.network_address, network.broadcast_address


def _shown(pool: AddressRange) -> str:
    return f"{pool.start}-{pool.stop}"


def _minor(version: str) -> str:
    match = re.match(r"v?(\d+\.\d+)\.\d+", version)
    return match[1] if match else version


def _at(values: Mapping[str, Any], path: str) -> Any:
    found: Any = values
    for part in path.split("."):
        found = cast("Mapping[str, Any]", found).get(part) if isinstance(found, Mapping) else None
    return found
