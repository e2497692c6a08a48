"""Every user interface that the platform shows, gathered from the components for the program and its checks."""

from __future__ import annotations

from components import cilium, longhorn, monitoring
from components.guards import Guard, Peer
from components.monitoring import ALERTMANAGER, GRAFANA, PROMETHEUS
from components.secrets import SecretUse
from components.user_interfaces import Proxied, SignsInItself, UserInterface, proxy_clients

_MONITORING = Peer(namespace=monitoring.NAMESPACE.name)
_PROMETHEUS_PODS = {"app.kubernetes.io/name": "prometheus"}

INTERFACES: tuple[UserInterface, ...] = (
    UserInterface(
        label="longhorn",
        title="Longhorn",
        namespace=longhorn.NAMESPACE.name,
        service=longhorn.UI_SERVICE,
        port=longhorn.UI_PORT,
        sign_in=Proxied(pods=longhorn.UI_PODS, port=longhorn.UI_POD_PORT),
    ),
    UserInterface(
        label="hubble",
        title="Hubble",
        namespace=cilium.NAMESPACE,
        service=cilium.HUBBLE_UI,
        port=cilium.HUBBLE_UI_PORT,
        sign_in=Proxied(pods=cilium.HUBBLE_UI_PODS, port=cilium.HUBBLE_UI_POD_PORT),
    ),
    UserInterface(
        label=PROMETHEUS.label,
        title="Prometheus",
        namespace=monitoring.NAMESPACE.name,
        service=PROMETHEUS.service,
        port=PROMETHEUS.port,
        sign_in=Proxied(pods=_PROMETHEUS_PODS, port=PROMETHEUS.port, neighbours=(_MONITORING,)),
    ),
    UserInterface(
        label=ALERTMANAGER.label,
        title="Alertmanager",
        namespace=monitoring.NAMESPACE.name,
        service=ALERTMANAGER.service,
        port=ALERTMANAGER.port,
        sign_in=Proxied(
            pods={"app.kubernetes.io/name": "alertmanager"}, port=ALERTMANAGER.port, neighbours=(_MONITORING,)
        ),
    ),
    UserInterface(
        label=GRAFANA.label,
        title="Grafana",
        namespace=monitoring.NAMESPACE.name,
        service=GRAFANA.service,
        port=GRAFANA.port,
        sign_in=SignsInItself(how="Grafana speaks OIDC, with a client of its own in the realm"),
    ),
)

GUARDS = (
    Guard(
        name="hubble-relay-behind-its-interface",
        namespace=cilium.NAMESPACE,
        pods=cilium.HUBBLE_RELAY_PODS,
        peers=(
            Peer(namespace=cilium.NAMESPACE, labels=cilium.HUBBLE_UI_PODS, port=cilium.HUBBLE_RELAY_POD_PORT),
            Peer(namespace=monitoring.NAMESPACE.name, port=cilium.HUBBLE_RELAY_METRICS_PORT),
        ),
    ),
    # Policies add up: the chart's own lets in Longhorn's parts and nobody else, not even those who read metrics.
    Guard(
        name="longhorn-manager-metrics",
        namespace=longhorn.NAMESPACE.name,
        pods=longhorn.MANAGER_PODS,
        peers=(Peer(namespace=monitoring.NAMESPACE.name, labels=_PROMETHEUS_PODS, port=longhorn.MANAGER_PORT),),
    ),
)
"""Pods that would give away without sign-in what the interfaces protect. Nodes still reach them, for port-forward."""

SECRETS: tuple[SecretUse, ...] = tuple(
    use for client in proxy_clients(INTERFACES, "", ()) for use in (client.secret, client.realm_secret)
)
"""The generated Secrets of all proxies; their names do not depend on the stack."""

CLIENT_IDS = tuple(each.label for each in INTERFACES)
"""Their clients in the realm. An interface that signs people in itself has one of its label's name too."""
