"""Keycloak's PostgreSQL: a CloudNativePG Cluster that only Keycloak, its own instances and the operator reach."""

from __future__ import annotations

from typing import Any

from components.objects import manifest
from components.realm import NAMESPACE
from components.secrets import SecretUse
from components.settings import Settings
from components.versions import POSTGRESQL

CLUSTER = "keycloak-db"
# The database and its owner.
DATABASE = "keycloak"
USERNAME_KEY = "username"
PASSWORD_KEY = "password"  # noqa: S105 - the key in a Secret
POSTGRESQL_PORT = 5432
STATUS_PORT = 8000
METRICS_PORT = 9187
_INSTANCES = {"cnpg.io/cluster": CLUSTER}


def database_manifests(
    settings: Settings, credentials: SecretUse, operator_namespace: str, monitoring_namespace: str
) -> list[dict[str, Any]]:
    """The NetworkPolicy first, then the Cluster, then what watches it."""
    policy = _network_policy(operator_namespace, monitoring_namespace)
    return [policy, _cluster(settings, credentials), _monitor()]


def _cluster(settings: Settings, credentials: SecretUse) -> dict[str, Any]:
    database = settings.keycloak.database
    spec = {
        "instances": database.instances,
        "imageName": f"ghcr.io/cloudnative-pg/postgresql:{POSTGRESQL}",
        # With one instance the budget would keep its node from ever being drained.
        "enablePDB": database.instances > 1,
        "storage": {"size": database.size, "storageClass": database.storage_class},
        "bootstrap": {"initdb": {"database": DATABASE, "owner": DATABASE, "secret": {"name": credentials.name}}},
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
    }
    return manifest("postgresql.cnpg.io/v1", "Cluster", CLUSTER, namespace=NAMESPACE, spec=spec)


def _network_policy(operator_namespace: str, monitoring_namespace: str) -> dict[str, Any]:
    def _from(*peers: dict[str, Any], ports: tuple[int, ...]) -> dict[str, Any]:
        return {"from": list(peers), "ports": [{"protocol": "TCP", "port": port} for port in ports]}

    keycloak = {"podSelector": {"matchLabels": {"app.kubernetes.io/name": "keycloak"}}}
    instances = {"podSelector": {"matchLabels": _INSTANCES}}
    operator, monitoring = (
        {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}
        for name in (operator_namespace, monitoring_namespace)
    )
    spec = {
        "podSelector": {"matchLabels": _INSTANCES},
        "policyTypes": ["Ingress"],
        "ingress": [
            _from(keycloak, ports=(POSTGRESQL_PORT,)),
            _from(instances, operator, ports=(POSTGRESQL_PORT, STATUS_PORT)),
            _from(monitoring, ports=(METRICS_PORT,)),
        ],
    }
    return manifest("networking.k8s.io/v1", "NetworkPolicy", CLUSTER, namespace=NAMESPACE, spec=spec)


def _monitor() -> dict[str, Any]:
    spec = {"selector": {"matchLabels": _INSTANCES}, "podMetricsEndpoints": [{"port": "metrics"}]}
    return manifest("monitoring.coreos.com/v1", "PodMonitor", CLUSTER, namespace=NAMESPACE, spec=spec)
