"""The entrance as it is declared: Gateway, certificate, redirect and public DNS refer to each other."""

from __future__ import annotations

from typing import Any

import pytest

from components.contracts_network import host_covered
from components.routing import GATEWAY_ACCESS, PUBLIC, GatewayRef, http_route
from platformctl.local import crds
from platformctl.render.recorder import Recording, Registration
from platformctl.render.schema import Schemas
from tests.altered import recorded
from tests.graph import resource

STACKS = ("dev", "prod")
PREFIX = "external-dns.alpha.kubernetes.io/"


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


def gateway(recording: Recording) -> dict[str, Any]:
    return dict(resource(recording, "Gateway", "home").inputs)


def listeners(recording: Recording) -> dict[str, dict[str, Any]]:
    return {listener["name"]: listener for listener in gateway(recording)["spec"]["listeners"]}


def certificate(recording: Recording) -> dict[str, Any]:
    return dict(resource(recording, "Certificate", "wildcard").inputs)


def values(recording: Recording, release: str) -> dict[str, Any]:
    return resource(recording, "HelmRelease", release).inputs["spec"]["values"]


def routes(recording: Recording) -> list[Registration]:
    return [found for found in recording.manifests if found.inputs["kind"] == "HTTPRoute"]


def waited_for(recording: Recording, kind: str, name: str) -> str:
    return resource(recording, kind, name).inputs["metadata"]["annotations"]["pulumi.com/waitFor"]


def test_every_listener_for_https_has_the_one_certificate_of_its_own_namespace(recording: Recording) -> None:
    tls = [found for found in listeners(recording).values() if found["protocol"] == "HTTPS"]
    assert len(tls) == 2
    for listener in tls:
        (reference,) = listener["tls"]["certificateRefs"]
        assert reference == {"kind": "Secret", "name": certificate(recording)["spec"]["secretName"]}
    assert certificate(recording)["metadata"]["namespace"] == gateway(recording)["metadata"]["namespace"]


def test_listeners_certificate_and_zone_speak_of_the_same_domain(recording: Recording) -> None:
    domain = recording.exports["domain"]
    names = {listener["hostname"] for listener in listeners(recording).values() if "hostname" in listener}
    assert names == set(certificate(recording)["spec"]["dnsNames"]) == {domain, f"*.{domain}"}
    (zone,) = values(recording, "external-dns")["domainFilters"]
    assert domain.endswith(f".{zone}")
    (issuer,) = (found for found in recording.manifests if found.name == recording.exports["clusterIssuer"])
    (solver,) = issuer.inputs["spec"]["acme"]["solvers"]
    assert solver["selector"]["dnsZones"] == [zone]


def test_the_certificate_is_of_the_stacks_issuer_and_waited_for(recording: Recording) -> None:
    spec = certificate(recording)["spec"]
    assert spec["issuerRef"]["name"] == recording.exports["clusterIssuer"]
    assert spec["issuerRef"]["kind"] == "ClusterIssuer"
    # cert-manager refuses days, which its definition lets pass; Let's Encrypt decides anyway.
    assert not {"duration", "renewBefore"} & spec.keys()
    assert waited_for(recording, "Certificate", "wildcard") == "condition=Ready"


def test_the_gateway_has_an_address_that_cilium_gives_out(recording: Recording) -> None:
    (address,) = gateway(recording)["spec"]["addresses"]
    (block,) = resource(recording, "CiliumLoadBalancerIPPool", "lan").inputs["spec"]["blocks"]
    assert address == {"type": "IPAddress", "value": block["start"]}


def test_class_and_gateway_are_awaited_by_their_own_conditions(recording: Recording) -> None:
    assert waited_for(recording, "GatewayClass", "cilium") == "condition=Accepted"
    assert waited_for(recording, "Gateway", "home") == "condition=Programmed"
    assert gateway(recording)["spec"]["gatewayClassName"] == "cilium"


def test_only_labelled_namespaces_attach_and_none_in_clear_text(recording: Recording) -> None:
    found = listeners(recording)
    for name in ("https", "https-apex"):
        assert found[name]["allowedRoutes"]["namespaces"] == {
            "from": "Selector",
            "selector": {"matchLabels": {"gateway-access": "true"}},
        }
    assert found["http"]["allowedRoutes"]["namespaces"] == {"from": "Same"}
    there = [route.name for route in routes(recording) if route.inputs["metadata"]["namespace"] == "gateway"]
    assert there == ["gateway/redirect-to-https"]


def test_every_route_attaches_by_name_from_a_namespace_that_may(recording: Recording) -> None:
    own = gateway(recording)["metadata"]
    for route in routes(recording):
        (parent,) = route.inputs["spec"]["parentRefs"]
        assert (parent["name"], parent["namespace"]) == (own["name"], own["namespace"])
        listener = listeners(recording)[parent["sectionName"]]
        if listener["protocol"] == "HTTPS":
            namespace = resource(recording, "Namespace", route.inputs["metadata"]["namespace"])
            assert namespace.inputs["metadata"]["labels"].items() >= GATEWAY_ACCESS.items(), route.name


def test_every_host_is_covered_by_the_certificate(recording: Recording) -> None:
    hosts = [host for route in routes(recording) for host in route.inputs["spec"].get("hostnames", [])]
    assert [host for host in hosts if not host_covered(host, recording.exports["domain"])] == []


def test_http_is_redirected_and_external_dns_looks_away(recording: Recording) -> None:
    route = resource(recording, "HTTPRoute", "redirect-to-https").inputs
    (rule,) = route["spec"]["rules"]
    assert rule == {"filters": [{"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}]}
    (parent,) = route["spec"]["parentRefs"]
    assert listeners(recording)[parent["sectionName"]]["protocol"] == "HTTP"
    settings = values(recording, "external-dns")
    # Twice: by a controller that is not external-dns, and by the label that it lacks.
    assert route["metadata"]["annotations"][f"{settings['annotationPrefix']}controller"] != "dns-controller"
    assert settings["labelFilter"] == "home.platform/public=true"
    assert "home.platform/public" not in route["metadata"]["labels"]


def test_records_point_to_the_gateway_unless_another_target_is_set(recording: Recording) -> None:
    assert f"{PREFIX}target" not in gateway(recording)["metadata"]["annotations"]
    other = recorded(recording.stack, {"externalDns": {"target": "wan.example.org"}})
    assert gateway(other)["metadata"]["annotations"][f"{PREFIX}target"] == "wan.example.org"


class TestRoutes:
    """The helper that every component with a user interface uses."""

    REF = GatewayRef(name="home", namespace="gateway", section_name="https")

    def route(self, **options: Any) -> dict[str, Any]:
        return http_route("chat", "media", "chat.home.example.org", self.REF, ("chat", 8080), **options)

    def test_it_attaches_to_one_listener_with_one_host_and_one_backend(self) -> None:
        assert self.route()["spec"] == {
            "parentRefs": [{"name": "home", "namespace": "gateway", "sectionName": "https"}],
            "hostnames": ["chat.home.example.org"],
            "rules": [{"backendRefs": [{"name": "chat", "port": 8080}]}],
        }

    def test_it_fits_the_definition(self) -> None:
        schemas = Schemas(crds.bundle("gateway-api-standard").objects)
        annotations = {"external-dns.alpha.kubernetes.io/ttl": "300"}
        route = self.route(public=True, annotations=annotations)
        assert route in schemas
        assert schemas.violations(route) == []
        assert route["metadata"]["annotations"] == annotations

    def test_only_a_public_route_is_seen_by_external_dns(self) -> None:
        assert self.route(public=True)["metadata"]["labels"].items() >= PUBLIC.items()
        assert not self.route()["metadata"]["labels"].keys() & PUBLIC.keys()
