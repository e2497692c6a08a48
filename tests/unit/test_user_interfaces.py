"""Every user interface is reached at one host, behind sign-in or with a reason, and no other way."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from components import interfaces
from components.contracts_network import host_covered
from components.guards import Guard, network_policy
from components.interfaces import INTERFACES
from components.registry import SECRETS
from components.user_interfaces import NAMESPACE, Proxied, SignsInItself, host_mistakes
from platformctl.render.recorder import Recording, Registration
from tests.altered import recorded
from tests.graph import members, resource

# Routes that no component of ours declares an interface for.
OTHER_ROUTES = {"sso": "people sign in there"}


@pytest.fixture(params=["dev", "prod"])
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


def routes(recording: Recording) -> list[Registration]:
    found = [each for each in recording.manifests if each.inputs["kind"] == "HTTPRoute"]
    return [each for each in found if "hostnames" in each.inputs["spec"]]


def hosts(recording: Recording) -> list[str]:
    return [host for route in routes(recording) for host in route.inputs["spec"]["hostnames"]]


def backends(route: Registration) -> list[str]:
    return [backend["name"] for rule in route.inputs["spec"]["rules"] for backend in rule["backendRefs"]]


def test_each_host_belongs_to_one_route_and_the_wildcard_covers_it(recording: Recording) -> None:
    found, domain = hosts(recording), recording.exports["domain"]
    assert len(found) >= len(INTERFACES)
    assert [host for host, count in Counter(found).items() if count > 1] == []
    certificate = resource(recording, "Certificate", "wildcard").inputs["spec"]["dnsNames"]
    assert {domain, f"*.{domain}"} <= set(certificate)
    assert [host for host in found if not host_covered(host, domain)] == []


def test_every_route_is_signed_in_or_says_why_not(recording: Recording) -> None:
    domain = recording.exports["domain"]
    reasons = {
        **{each.label: each.sign_in.how for each in INTERFACES if isinstance(each.sign_in, SignsInItself)},
        **OTHER_ROUTES,
    }
    for route in routes(recording):
        (host,) = route.inputs["spec"]["hostnames"]
        label = host.removesuffix(f".{domain}")
        if backends(route) == [f"oauth2-proxy-{label}"]:
            assert resource(recording, "HelmRelease", f"oauth2-proxy-{label}")
        else:
            assert reasons[label], f"{host} leads to {backends(route)}, without sign-in and without a reason"


def test_every_interface_has_its_route(recording: Recording) -> None:
    domain = recording.exports["domain"]
    assert {each.host(domain) for each in INTERFACES} <= set(hosts(recording))


@pytest.mark.parametrize("service", ["longhorn-frontend", "hubble-ui"])
def test_what_has_no_sign_in_of_its_own_is_never_routed_to(service: str, recording: Recording) -> None:
    assert any(each.service == service and isinstance(each.sign_in, Proxied) for each in INTERFACES)
    assert [route.name for route in routes(recording) if service in backends(route)] == []


def test_no_route_relies_on_a_filter_for_sign_in(recording: Recording) -> None:
    """See docs/decisions/0029: the Gateway's ExternalAuth let requests through where its backend was missing."""
    assert [route.name for route in routes(recording) if any("filters" in rule for rule in _rules(route))] == []


def test_routes_attach_to_the_https_listener_from_namespaces_that_may(recording: Recording) -> None:
    for route in routes(recording):
        (parent,) = route.inputs["spec"]["parentRefs"]
        assert parent["sectionName"].startswith("https")
        namespace = resource(recording, "Namespace", route.inputs["metadata"]["namespace"]).inputs
        assert namespace["metadata"]["labels"]["gateway-access"] == "true"


def test_interfaces_are_for_the_household_alone(recording: Recording) -> None:
    for each in INTERFACES:
        assert "home.platform/public" not in resource(recording, "HTTPRoute", each.label).inputs["metadata"]["labels"]


@pytest.mark.parametrize("label", ["longhorn", "hubble"])
def test_only_the_proxy_reaches_the_pods_behind_it(label: str, recording: Recording) -> None:
    spec = resource(recording, "NetworkPolicy", f"{label}-behind-sign-in").inputs["spec"]
    port = {"longhorn": 8000, "hubble": 8081}[label]
    assert spec["policyTypes"] == ["Ingress"]
    assert spec["podSelector"]["matchLabels"]
    assert spec["ingress"] == [
        {
            "from": [
                {
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "sign-in"}},
                    "podSelector": {
                        "matchLabels": {
                            "app.kubernetes.io/instance": f"oauth2-proxy-{label}",
                            "app.kubernetes.io/name": "oauth2-proxy",
                        }
                    },
                }
            ],
            "ports": [{"protocol": "TCP", "port": port}],
        }
    ]


@pytest.mark.parametrize("label", ["prometheus", "alertmanager"])
def test_monitoring_reaches_its_own_pods(label: str, recording: Recording) -> None:
    spec = resource(recording, "NetworkPolicy", f"{label}-behind-sign-in").inputs["spec"]
    proxy, neighbours = spec["ingress"]
    assert proxy["ports"]
    assert neighbours == {
        "from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]
    }


def test_the_relay_gives_flows_to_its_interface_alone(recording: Recording) -> None:
    spec = resource(recording, "NetworkPolicy", "hubble-relay-behind-its-interface").inputs["spec"]
    flows, metrics = spec["ingress"]
    assert flows["from"][0]["podSelector"]["matchLabels"] == {"k8s-app": "hubble-ui"}
    assert flows["ports"] == [{"protocol": "TCP", "port": 4245}]
    assert metrics["ports"] == [{"protocol": "TCP", "port": 9966}]


def test_prometheus_reaches_longhorns_manager_beside_what_the_chart_lets_in(recording: Recording) -> None:
    values = resource(recording, "HelmRelease", "longhorn").inputs["spec"]["values"]
    # Without the chart's policies ours would keep Longhorn's own parts out.
    assert values["networkPolicies"] == {"restrictInternalTraffic": True}
    spec = resource(recording, "NetworkPolicy", "longhorn-manager-metrics").inputs["spec"]
    (rule,) = spec["ingress"]
    assert rule["from"][0]["podSelector"]["matchLabels"] == {"app.kubernetes.io/name": "prometheus"}
    assert rule["ports"] == [{"protocol": "TCP", "port": 9500}]


def test_the_proxies_answer_the_gateway_and_prometheus(recording: Recording) -> None:
    spec = resource(recording, "CiliumNetworkPolicy", "entrance").inputs["spec"]
    assert spec["endpointSelector"] == {}
    entrance, metrics = spec["ingress"]
    assert entrance["fromEntities"] == ["ingress"]
    assert entrance["toPorts"] == [{"ports": [{"port": "4180", "protocol": "TCP"}]}]
    assert metrics["toPorts"] == [{"ports": [{"port": "44180", "protocol": "TCP"}]}]


def test_the_realm_has_a_client_for_each_proxy(recording: Recording) -> None:
    names = {found.name for found in recording.manifests if found.inputs["kind"] == "Secret"}
    for each in INTERFACES:
        if isinstance(each.sign_in, Proxied):
            assert {f"{NAMESPACE.name}/oauth2-proxy-{each.label}", f"keycloak/oidc-{each.label}"} <= names


def test_every_secret_of_a_proxy_is_in_the_registry() -> None:
    assert interfaces.SECRETS
    assert set(interfaces.SECRETS) <= set(SECRETS)


def test_nothing_comes_after_the_interfaces(recording: Recording) -> None:
    own = members(recording, "user-interfaces")
    urns = {found.urn for found in own}
    others = [found for found in recording.manifests if found.urn not in urns]
    assert [found.name for found in others if found.dependencies & urns] == []


def test_a_group_from_the_stack_decides_who_comes_in() -> None:
    changed = recorded("dev", {"userInterfaces": {"allowedGroups": ["family"]}})
    values = resource(changed, "HelmRelease", "oauth2-proxy-longhorn").inputs["spec"]["values"]
    assert 'allowed_groups = ["family"]' in values["config"]["configFile"]


def test_prod_has_a_second_proxy_and_dev_has_one(recordings: dict[str, Recording]) -> None:
    replicas = {
        stack: resource(found, "HelmRelease", "oauth2-proxy-longhorn").inputs["spec"]["values"]["replicaCount"]
        for stack, found in recordings.items()
    }
    assert replicas == {"dev": 1, "prod": 2}


class TestHostMistakes:
    def test_two_interfaces_at_one_host(self) -> None:
        first = INTERFACES[0]
        (sentence,) = host_mistakes([first, replace(first, title="Other")], "home.example.org")
        assert sentence == "2 user interfaces share the host longhorn.home.example.org; give each a label of its own"

    def test_a_label_of_two_names(self) -> None:
        (sentence,) = host_mistakes([replace(INTERFACES[0], label="ui.longhorn")], "home.example.org")
        assert "ui.longhorn.home.example.org is not covered" in sentence

    def test_what_is_declared_has_none(self) -> None:
        assert list(host_mistakes(INTERFACES, "home.example.org")) == []


def test_a_guard_without_labels_would_close_the_namespace() -> None:
    with pytest.raises(ValueError, match="names no pods"):
        network_policy(Guard(name="all", namespace="kube-system", pods={}, peers=()))


def _rules(route: Registration) -> list[dict[str, Any]]:
    return route.inputs["spec"]["rules"]
