"""What others must know of monitoring: its namespace, its Secrets, and the Services behind its user interfaces."""

from __future__ import annotations

from dataclasses import dataclass

from components.namespaces import Namespace
from components.secrets import Provider, SecretUse
from components.versions import KUBE_PROMETHEUS_STACK

# node-exporter reads the node's /proc, /sys and root file system through host paths.
NAMESPACE = Namespace(name="monitoring", pod_security="privileged", routes=True)

ALERTMANAGER_CONFIG = SecretUse(
    namespace=NAMESPACE.name,
    name="alertmanager-config",
    keys=("alertmanager.yaml",),
    provider=Provider.SOPS,
    needed_by="Alertmanager",
)
GRAFANA_ADMIN = SecretUse(
    namespace=NAMESPACE.name,
    name="grafana-admin",
    keys=("admin-user", "admin-password"),
    provider=Provider.GENERATED,
    needed_by="Grafana",
)
SECRETS = (ALERTMANAGER_CONFIG, GRAFANA_ADMIN)


@dataclass(frozen=True, kw_only=True)
class WebInterface:
    """A Service that people look at: its name and port, and the label of its host below the stack's domain."""

    label: str
    service: str
    port: int

    def host(self, domain: str) -> str:
        """One label below the domain, as the wildcard certificate wants it: `grafana.home.example.org`."""
        return f"{self.label}.{domain}"

    def url(self, domain: str) -> str:
        """Where a browser finds it."""
        return f"https://{self.host(domain)}"


# The chart derives the Services' names from the release's.
GRAFANA = WebInterface(label="grafana", service=f"{KUBE_PROMETHEUS_STACK.name}-grafana", port=80)
PROMETHEUS = WebInterface(label="prometheus", service=f"{KUBE_PROMETHEUS_STACK.name}-prometheus", port=9090)
ALERTMANAGER = WebInterface(label="alertmanager", service=f"{KUBE_PROMETHEUS_STACK.name}-alertmanager", port=9093)
