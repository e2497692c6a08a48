"""The network as it is declared: what cilium is told, which addresses it gives out, and how traffic leaves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from components import cilium, contracts_network, upstream
from components.versions import CILIUM
from platformctl.local import gomodules
from platformctl.render.recorder import Recording
from tests.altered import recorded
from tests.graph import resource

STACKS = ("dev", "prod")
GATEWAY_API = upstream.locked()[contracts_network.GATEWAY_API].version


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


def values(recording: Recording) -> dict[str, Any]:
    return resource(recording, "HelmRelease", "cilium").inputs["spec"]["values"]


def spec(recording: Recording, kind: str, name: str = "lan") -> dict[str, Any]:
    return dict(resource(recording, kind, name).inputs["spec"])


def test_the_api_server_is_reached_without_a_service(recording: Recording) -> None:
    found = values(recording)
    assert found["kubeProxyReplacement"] is True
    assert found["k8sServiceHost"] == {"dev": "192.168.20.10", "prod": "192.168.10.10"}[recording.stack]
    assert found["k8sServicePort"] == 6443


def test_devices_are_named_and_not_guessed(recording: Recording) -> None:
    assert values(recording)["devices"] == {"dev": ["eth0"], "prod": ["eno1"]}[recording.stack]


def test_guests_of_kubevirt_keep_their_own_sockets(recording: Recording) -> None:
    assert values(recording)["socketLB"] == {"hostNamespaceOnly": True}


def test_the_operator_is_rolled_when_the_gateway_api_changes(recording: Recording) -> None:
    operator = values(recording)["operator"]
    assert operator["rollOutPods"] is True
    assert operator["podAnnotations"] == {"home.platform/gateway-api": GATEWAY_API}


def test_the_gateway_class_has_one_owner(recording: Recording) -> None:
    gateway = values(recording)["gatewayAPI"]
    assert gateway["enabled"] is True
    # With "auto" the chart would look at the cluster and make one as well.
    assert gateway["gatewayClass"] == {"create": "false"}
    assert resource(recording, "GatewayClass", "cilium")


def test_certificates_of_hubble_do_not_change_with_each_render(recording: Recording) -> None:
    hubble = values(recording)["hubble"]
    assert hubble["tls"]["auto"] == {"enabled": True, "method": "cronJob"}
    assert hubble["enabled"] and hubble["relay"]["enabled"] and hubble["ui"]["enabled"]


def test_monitors_are_trusted_to_find_their_definitions(recording: Recording) -> None:
    assert values(recording)["prometheus"]["serviceMonitor"] == {"enabled": True, "trustCRDsExist": True}


def test_without_monitors_none_is_asked_for() -> None:
    assert "onitor" not in str(values(recorded("dev", {"cilium": {"monitors": False}})))


def test_the_packet_size_is_left_to_cilium_unless_it_is_set() -> None:
    assert "MTU" not in values(recorded("dev", {}))
    assert values(recorded("dev", {"cilium": {"mtu": 1420}}))["MTU"] == 1420


def test_load_balancers_get_the_range_and_the_lan_hears_of_it(recording: Recording) -> None:
    (block,) = spec(recording, "CiliumLoadBalancerIPPool")["blocks"]
    assert (
        block
        == {
            "dev": {"start": "192.168.20.200", "stop": "192.168.20.219"},
            "prod": {"start": "192.168.10.200", "stop": "192.168.10.239"},
        }[recording.stack]
    )
    announced = spec(recording, "CiliumL2AnnouncementPolicy")
    assert announced["loadBalancerIPs"] is True
    assert values(recording)["l2announcements"] == {"enabled": True}
    assert announced["interfaces"] == [f"^{device}$" for device in values(recording)["devices"]]


@pytest.mark.parametrize(
    ("device", "matched", "left_out"),
    [
        ("eno1", ["eno1"], ["eno10", "xeno1"]),
        ("enp+", ["enp", "enp3s0"], ["xenp3s0", "eno1"]),
        ("eth0.20", ["eth0.20"], ["eth0x20", "eth0.200"]),
    ],
)
def test_interfaces_are_announced_on_exactly(device: str, matched: list[str], left_out: list[str]) -> None:
    pattern = re.compile(cilium.interface_pattern(device))
    assert all(pattern.search(name) for name in matched)
    assert not any(pattern.search(name) for name in left_out)


def test_the_release_stays_and_what_the_platform_adds_goes(recording: Recording) -> None:
    assert resource(recording, "HelmRelease", "cilium").retain_on_delete
    for kind in ("CiliumLoadBalancerIPPool", "CiliumL2AnnouncementPolicy"):
        assert not resource(recording, kind, "lan").retain_on_delete


@pytest.fixture(scope="module")
def leaving() -> Recording:
    """dev with two egress policies."""
    policies = [
        {
            "name": "printers",
            "namespace": "office",
            "podLabels": {"app.kubernetes.io/name": "print-server"},
            "destinations": ["192.168.30.0/24"],
            "exceptFor": ["192.168.30.1/32"],
            "nodeLabels": {"egress": "printers"},
            "egressIp": "192.168.20.21",
        },
        {
            "name": "everything",
            "namespace": "downloads",
            "destinations": ["0.0.0.0/0"],
            "nodeLabels": {"egress": "vpn"},
            "interface": "wg0",
        },
    ]
    return recorded("dev", {"cilium": {"egress": policies}})


class TestEgress:
    """Policies from the settings."""

    def test_an_address_of_the_node(self, leaving: Recording) -> None:
        assert spec(leaving, "CiliumEgressGatewayPolicy", "printers") == {
            "selectors": [
                {
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "office"}},
                    "podSelector": {"matchLabels": {"app.kubernetes.io/name": "print-server"}},
                }
            ],
            "destinationCIDRs": ["192.168.30.0/24"],
            "excludedCIDRs": ["192.168.30.1/32"],
            "egressGateway": {
                "nodeSelector": {"matchLabels": {"egress": "printers"}},
                "egressIP": "192.168.20.21",
            },
        }

    def test_an_interface_of_the_node_and_every_pod_of_a_namespace(self, leaving: Recording) -> None:
        found = spec(leaving, "CiliumEgressGatewayPolicy", "everything")
        assert found["egressGateway"] == {"nodeSelector": {"matchLabels": {"egress": "vpn"}}, "interface": "wg0"}
        (selector,) = found["selectors"]
        assert selector == {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "downloads"}}}

    def test_they_come_after_the_release(self, leaving: Recording) -> None:
        policy = resource(leaving, "CiliumEgressGatewayPolicy", "printers")
        assert resource(leaving, "HelmRelease", "cilium").urn in policy.dependencies


def chart_directory() -> Path:
    """The chart in cilium's Go module. Skips the test where the module is out of reach."""
    try:
        return gomodules.directory(gomodules.pinned("github.com/cilium/cilium")) / "install/kubernetes/cilium"
    except gomodules.ModuleUnavailable as unavailable:
        pytest.skip(str(unavailable))


def test_what_the_chart_only_comments_is_read_by_its_templates() -> None:
    template = (chart_directory() / "templates/cilium-configmap.yaml").read_text()
    assert "$socketLB.hostNamespaceOnly" in template


def test_the_chart_in_the_go_module_is_of_the_pinned_version() -> None:
    chart = yaml.load((chart_directory() / "Chart.yaml").read_bytes(), Loader=yaml.CSafeLoader)
    assert chart["version"] == CILIUM.version
