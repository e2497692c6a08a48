"""The log collector: Alloy on every node, each with the pods of its own node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.helm import HelmApplication, install
from components.monitoring.names import NAMESPACE
from components.platform import After, Component, Platform
from components.versions import ALLOY

CONFIGURATION = Path(__file__).with_name("collect.alloy")


class Alloy(Component):
    """A DaemonSet that sends logs to `loki_url`."""

    def __init__(self, platform: Platform, *, loki_url: str, after: After = ()) -> None:
        super().__init__(platform, "alloy", after=after)
        environment = {"LOKI_URL": loki_url, "CLUSTER": platform.stack}
        application = HelmApplication(
            chart=ALLOY,
            namespace=NAMESPACE.name,
            values=_values(CONFIGURATION.read_text(encoding="utf-8"), environment),
            crds="Skip",
        )
        install(self, application)
        self.register_outputs({})


def _values(configuration: str, environment: dict[str, str]) -> dict[str, Any]:
    return {
        "crds": {"create": False},
        "alloy": {
            "configMap": {"content": configuration},
            "extraEnv": [{"name": name, "value": value} for name, value in environment.items()],
            "enableReporting": False,
            "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}},
        },
        # Nodes with taints have logs too.
        "controller": {"type": "daemonset", "tolerations": [{"operator": "Exists"}]},
        # The chart's default may read every Secret of the cluster.
        "rbac": {"rules": [_reads("pods", "pods/log", "namespaces")], "clusterRules": [_reads("nodes")]},
        "serviceMonitor": {"enabled": True},
    }


def _reads(*resources: str) -> dict[str, Any]:
    return {"apiGroups": [""], "resources": list(resources), "verbs": ["get", "list", "watch"]}
