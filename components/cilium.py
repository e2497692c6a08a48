"""The network: Flux takes over the cilium release that Ansible installed at bootstrap."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from components.contracts import merged
from components.helm import HelmApplication, install
from components.platform import After, Component, Platform
from components.settings import Settings
from components.versions import CILIUM

# Ansible's release lives here; the namespace is Kubernetes' own and not declared.
NAMESPACE = "kube-system"


class Cilium(Component):
    """Adopts the release `cilium` in kube-system. On destroy it stays and goes back to Ansible."""

    def __init__(self, platform: Platform, *, bootstrap: Mapping[str, Any], after: After = ()) -> None:
        super().__init__(platform, "cilium", after=after)
        application = HelmApplication(
            chart=CILIUM,
            namespace=NAMESPACE,
            values=merged(bootstrap, platform_values(platform.settings)),
            # The operator registers cilium's CRDs itself; the chart has none.
            crds="Skip",
            timeout_minutes=15,
            retain=True,
        )
        install(self, application)
        self.register_outputs({})


def load_bootstrap(path: Path) -> dict[str, Any]:
    """The values that Ansible installs cilium with."""
    return yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader) or {}


def platform_values(settings: Settings) -> dict[str, Any]:
    """What the platform adds to the bootstrap's values; where both set a key they must agree."""
    api_server = settings.cluster.api_server
    return {
        "kubeProxyReplacement": True,
        "k8sServiceHost": str(api_server.host),
        "k8sServicePort": api_server.port,
        "devices": " ".join(settings.cilium.devices),
        "operator": {"replicas": settings.cilium.operator_replicas},
        "hubble": {"enabled": True, "relay": {"enabled": True}, "ui": {"enabled": True}, "tls": _HUBBLE_CERTIFICATES},
    }


# Helm would make new certificates at each render, and drift detection would roll the agents for ever.
_HUBBLE_CERTIFICATES = {"auto": {"enabled": True, "method": "cronJob"}}
