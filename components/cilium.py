"""The network: Flux takes over the cilium release that Ansible installed at bootstrap."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from components.contracts import merged
from components.helm import HelmApplication, install
from components.objects import manifest
from components.platform import After, Component, Platform
from components.settings import Settings
from components.settings_network import AddressRange, EgressPolicy
from components.versions import CILIUM

# Ansible's release lives here; the namespace is Kubernetes' own and not declared.
NAMESPACE = "kube-system"
HUBBLE_UI = "hubble-ui"
HUBBLE_UI_PORT = 80
HUBBLE_UI_PODS = {"k8s-app": HUBBLE_UI}
HUBBLE_UI_POD_PORT = 8081
# It hands out every flow of the cluster, to whoever asks.
HUBBLE_RELAY_PODS = {"k8s-app": "hubble-relay"}
HUBBLE_RELAY_POD_PORT = 4245
HUBBLE_RELAY_METRICS_PORT = 9966
ADDRESSES = "lan"


class Cilium(Component):
    """Adopts the release `cilium` in kube-system. On destroy it stays and goes back to Ansible.

    gateway_api: the version of the Gateway API definitions, which its operator looks for only at its start.
    """

    def __init__(
        self, platform: Platform, *, bootstrap: Mapping[str, Any], gateway_api: str, after: After = ()
    ) -> None:
        super().__init__(platform, "cilium", after=after)
        application = HelmApplication(
            chart=CILIUM,
            namespace=NAMESPACE,
            values=complete_values(platform.settings, bootstrap, gateway_api),
            # The operator registers cilium's CRDs itself; the chart has none.
            crds="Skip",
            timeout_minutes=15,
            retain=True,
        )
        release = install(self, application)
        for resource in _custom_resources(platform.settings):
            self.declare(resource, after=[release])
        self.register_outputs({})


def load_bootstrap(path: Path) -> dict[str, Any]:
    """The values that Ansible installs cilium with."""
    return yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader) or {}


def complete_values(settings: Settings, bootstrap: Mapping[str, Any], gateway_api: str) -> dict[str, Any]:
    """What the chart is installed with: the bootstrap's values, and over them the platform's."""
    rolled = {"operator": {"podAnnotations": {"home.platform/gateway-api": gateway_api}}}
    return merged(merged(bootstrap, platform_values(settings)), rolled)


def platform_values(settings: Settings) -> dict[str, Any]:
    """What the platform adds to the bootstrap's values; where both set a key they must agree."""
    api_server, cilium = settings.cluster.api_server, settings.cilium
    values = {
        "kubeProxyReplacement": True,
        "k8sServiceHost": str(api_server.host),
        "k8sServicePort": api_server.port,
        # A list, which the chart writes as the agent reads it.
        "devices": list(cilium.devices),
        "operator": {"replicas": cilium.operator_replicas},
        "hubble": _HUBBLE,
        # The class is the component gateway's, which waits until the operator accepts it.
        "gatewayAPI": {"enabled": True, "gatewayClass": {"create": "false"}},
        "egressGateway": {"enabled": True},
        "l2announcements": {"enabled": True},
        # One lease for each announced Service, renewed every 5 seconds by its node: enough for 100 Services.
        "k8sClientRateLimit": {"qps": 20, "burst": 40},
        **({"MTU": cilium.mtu} if cilium.mtu else {}),
    }
    return merged(values, _MONITORS) if cilium.monitors else values


_HUBBLE = {
    "enabled": True,
    "relay": {"enabled": True},
    "ui": {"enabled": True},
    "metrics": {"enabled": ["dns:query;ignoreAAAA", "drop", "tcp", "flow", "port-distribution", "icmp"]},
    # Helm would make new certificates at each render, and drift detection would roll the agents for ever.
    "tls": {"auto": {"enabled": True, "method": "cronJob"}},
}

_MONITOR = {"serviceMonitor": {"enabled": True}}
_MONITORS = {
    # The chart cannot see at render time that the definitions came just before it.
    "prometheus": {"enabled": True, "serviceMonitor": {"enabled": True, "trustCRDsExist": True}},
    "dashboards": {"enabled": True},
    "operator": {"prometheus": {"enabled": True, **_MONITOR}, "dashboards": {"enabled": True}},
    "envoy": {"prometheus": _MONITOR},
    "hubble": {
        "metrics": {**_MONITOR, "dashboards": {"enabled": True}},
        "relay": {"prometheus": {"enabled": True, **_MONITOR}},
    },
}


def _custom_resources(settings: Settings) -> Iterator[dict[str, Any]]:
    yield _pool(settings.cilium.load_balancer)
    yield _announcement(settings.cilium.devices)
    yield from map(_egress, settings.cilium.egress)


def _pool(addresses: AddressRange) -> dict[str, Any]:
    spec = {"blocks": [{"start": str(addresses.start), "stop": str(addresses.stop)}]}
    return manifest("cilium.io/v2", "CiliumLoadBalancerIPPool", ADDRESSES, spec=spec)


def _announcement(devices: list[str]) -> dict[str, Any]:
    spec = {"loadBalancerIPs": True, "interfaces": [interface_pattern(device) for device in devices]}
    return manifest("cilium.io/v2alpha1", "CiliumL2AnnouncementPolicy", ADDRESSES, spec=spec)


def interface_pattern(device: str) -> str:
    """The regular expression for a device as `devices` writes it, where a plus at the end stands for any ending."""
    name = re.escape(device.removesuffix("+"))
    return f"^{name}.*$" if device.endswith("+") else f"^{name}$"


def _egress(policy: EgressPolicy) -> dict[str, Any]:
    source = {"egressIP": str(policy.egress_ip)} if policy.egress_ip else {"interface": policy.interface}
    pods = {"podSelector": {"matchLabels": dict(policy.pod_labels)}} if policy.pod_labels else {}
    namespace = {"matchLabels": {"kubernetes.io/metadata.name": policy.namespace}}
    spec = {
        "selectors": [{"namespaceSelector": namespace, **pods}],
        "destinationCIDRs": [str(network) for network in policy.destinations],
        **({"excludedCIDRs": [str(network) for network in policy.except_for]} if policy.except_for else {}),
        "egressGateway": {"nodeSelector": {"matchLabels": dict(policy.node_labels)}, **source},
    }
    return manifest("cilium.io/v2", "CiliumEgressGatewayPolicy", policy.name, spec=spec)
