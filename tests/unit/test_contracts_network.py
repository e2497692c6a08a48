"""What the network's parts must agree on: one test for each way to break it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from components import cilium, contracts_network, upstream
from components.contracts import BOOTSTRAP_FILE, merged
from components.settings import Settings
from components.versions import CILIUM
from platformctl.paths import CHECKOUT
from platformctl.stackfile import load_settings
from tests.unit.test_contracts import settings

DEFINITIONS = upstream.locked()[contracts_network.GATEWAY_API]
EGRESS = {"name": "a", "namespace": "a", "destinations": ["192.0.2.0/24"], "nodeLabels": {"egress": "a"}}


def pool(start: str, stop: str, **cluster: Any) -> Settings:
    return settings({"cilium": {"loadBalancer": {"start": start, "stop": stop}}, "cluster": cluster})


@pytest.mark.parametrize(
    ("nodes", "addresses", "count"),
    [
        (1, ["192.168.20.11"], 0),
        (2, ["192.168.20.11"], 1),
        (2, ["192.168.20.11", "192.168.20.11"], 1),
        (1, ["192.168.20.11", "192.168.20.12"], 1),
        (2, ["192.168.20.11", "192.168.21.12"], 1),
    ],
)
def test_each_node_has_an_address_of_the_lan(nodes: int, addresses: list[str], count: int) -> None:
    found = settings({"cluster": {"nodes": nodes, "nodeAddresses": addresses}})
    assert len(list(contracts_network.nodes_are_in_the_lan(found))) == count


@pytest.mark.parametrize("key", ["podCidr", "serviceCidr"])
def test_the_lan_is_not_a_network_of_the_cluster(key: str) -> None:
    (sentence,) = contracts_network.lan_apart_from_cluster_networks(settings({"cluster": {key: "192.168.0.0/16"}}))
    assert f"home:cluster.lan 192.168.20.0/24 overlaps home:cluster.{key} 192.168.0.0/16" in sentence


@pytest.mark.parametrize(
    ("start", "stop", "words"),
    [
        ("192.168.20.210", "192.168.20.200", ["comes after"]),
        ("192.168.19.1", "192.168.20.200", ["start is 192.168.19.1"]),
        ("192.168.20.200", "192.168.20.255", ["stop is 192.168.20.255"]),
        ("192.168.20.0", "192.168.20.5", ["start is 192.168.20.0"]),
        ("192.168.20.1", "192.168.20.1", []),
    ],
)
def test_load_balancers_are_hosts_of_the_lan(start: str, stop: str, words: list[str]) -> None:
    found = list(contracts_network.load_balancers_are_in_the_lan(pool(start, stop)))
    assert len(found) == len(words)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))


@pytest.mark.parametrize(
    ("start", "stop", "holder"),
    [
        ("192.168.20.5", "192.168.20.10", "192.168.20.10, the address of the API server"),
        ("192.168.20.11", "192.168.20.11", "192.168.20.11, the address of a node"),
        ("10.41.255.255", "10.42.0.0", "home:cluster.podCidr 10.42.0.0/16"),
        ("10.43.255.255", "10.44.0.0", "home:cluster.serviceCidr 10.43.0.0/16"),
    ],
)
def test_load_balancers_take_no_address_of_somebody_else(start: str, stop: str, holder: str) -> None:
    (sentence,) = contracts_network.load_balancers_have_free_addresses(pool(start, stop))
    assert holder in sentence


@pytest.mark.parametrize(("start", "stop"), [("192.168.20.12", "192.168.20.254"), ("192.168.20.1", "192.168.20.9")])
def test_a_range_beside_the_nodes_is_free(start: str, stop: str) -> None:
    assert not list(contracts_network.load_balancers_have_free_addresses(pool(start, stop)))


@pytest.mark.parametrize(
    ("address", "fits"),
    [("192.168.20.199", False), ("192.168.20.200", True), ("192.168.20.219", True), ("192.168.20.220", False)],
)
def test_the_gateway_has_an_address_of_the_range(address: str, fits: bool) -> None:
    found = list(contracts_network.gateway_has_an_address_of_the_range(settings({"gateway": {"address": address}})))
    assert bool(found) is not fits


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"interface": "eth1"}, []),
        ({"egressIp": "192.168.20.21"}, []),
        ({}, ["no source"]),
        ({"interface": "eth1", "egressIp": "192.168.20.21"}, ["egressIp and interface"]),
        ({"egressIp": "192.168.20.210"}, ["must be an address that the node itself has"]),
    ],
)
def test_an_egress_policy_has_one_source_of_the_node(source: Mapping[str, str], words: list[str]) -> None:
    found = settings({"cilium": {"egress": [{**EGRESS, **source}]}})
    said = list(contracts_network.egress_policies_choose_one_source(found))
    assert len(said) == len(words)
    assert all(word in sentence for word, sentence in zip(words, said, strict=True))


def test_egress_policies_have_names_of_their_own() -> None:
    one = {**EGRESS, "interface": "eth1"}
    found = settings({"cilium": {"egress": [one, one, {**one, "name": "b"}]}})
    (sentence,) = contracts_network.egress_policies_have_names_of_their_own(found)
    assert "2 policies named a" in sentence


def complete_values() -> dict[str, Any]:
    bootstrap = cilium.load_bootstrap(CHECKOUT / BOOTSTRAP_FILE)
    return cilium.complete_values(load_settings("prod"), bootstrap, DEFINITIONS.version)


def test_the_egress_gateway_has_what_it_needs() -> None:
    assert contracts_network.egress_gateway_lacks(complete_values()) == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"bpf": {"masquerade": False}}, "bpf.masquerade"),
        ({"bpf": {"masquerade": None}}, "bpf.masquerade"),
        ({"bpf": {"masquerade": "true"}}, "bpf.masquerade"),
        ({"kubeProxyReplacement": False}, "kubeProxyReplacement"),
        ({"enableIPv4Masquerade": False}, "enableIPv4Masquerade"),
        ({"ciliumEndpointSlice": {"enabled": True}}, "ciliumEndpointSlice.enabled"),
    ],
)
def test_an_egress_gateway_whose_agents_would_not_start_is_refused(change: dict[str, Any], path: str) -> None:
    (sentence,) = contracts_network.egress_gateway_lacks(merged(complete_values(), change))
    assert f"egressGateway.enabled needs {path} " in sentence
    off = merged(complete_values(), {**change, "egressGateway": {"enabled": False}})
    assert contracts_network.egress_gateway_lacks(off) == []


def test_the_pinned_gateway_api_fits_the_pinned_cilium() -> None:
    assert contracts_network.gateway_api_misfits(CILIUM, DEFINITIONS) == []


@pytest.mark.parametrize(
    ("cilium_version", "definitions", "words"),
    [
        ("1.21.0", DEFINITIONS, "cilium 1.21.0 has no row"),
        ("1.20.9", replace(DEFINITIONS, version="v1.5.0", url=DEFINITIONS.url.replace("1.6.1", "1.5.0")), "needs"),
        (
            "1.20.9",
            replace(DEFINITIONS, url=DEFINITIONS.url.replace("standard", "experimental")),
            "must be the file standard-install.yaml of v1.6.1",
        ),
        ("1.20.9", replace(DEFINITIONS, version="v1.6.2"), "must be the file standard-install.yaml of v1.6.2"),
    ],
)
def test_definitions_that_cilium_does_not_serve_are_refused(
    cilium_version: str, definitions: upstream.UpstreamFile, words: str
) -> None:
    (sentence,) = contracts_network.gateway_api_misfits(replace(CILIUM, version=cilium_version), definitions)
    assert words in sentence


def bootstrap_chart() -> dict[str, Any]:
    return cilium.load_bootstrap(CHECKOUT / contracts_network.BOOTSTRAP_CHART)


def test_ansible_installs_the_cilium_that_flux_takes_over() -> None:
    assert contracts_network.bootstrap_chart_differs(bootstrap_chart(), CILIUM, cilium.NAMESPACE) == []


@pytest.mark.parametrize("key", ["release", "namespace", "chart", "version"])
def test_a_bootstrap_that_installs_another_cilium_is_refused(key: str) -> None:
    for other in ({**bootstrap_chart(), key: "other"}, {k: v for k, v in bootstrap_chart().items() if k != key}):
        (sentence,) = contracts_network.bootstrap_chart_differs(other, CILIUM, cilium.NAMESPACE)
        assert sentence.startswith(f"bootstrap/cilium-chart.yaml: {key} is ")


@pytest.mark.parametrize(
    ("host", "covered"),
    [
        ("chat.home.example.org", True),
        ("home.example.org", True),
        ("chat.dev.home.example.org", False),
        ("example.org", False),
        ("chathome.example.org", False),
        ("*.home.example.org", False),
        (".home.example.org", False),
        ("chat.home.example.org.evil.net", False),
        ("", False),
    ],
)
def test_the_wildcard_covers_one_label(host: str, covered: bool) -> None:
    assert contracts_network.host_covered(host, "home.example.org") is covered
    said = contracts_network.uncovered_hosts({"services/chat.yaml": host}, "home.example.org")
    assert len(said) == (0 if covered else 1)
    assert all(sentence.startswith(f"services/chat.yaml: the host {host} is not covered") for sentence in said)
