"""Sign-in: Keycloak from its own image, and its PostgreSQL on replicated storage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

from components import realm
from components.keycloak.database import CLUSTER, DATABASE, PASSWORD_KEY, USERNAME_KEY, database_manifests
from components.namespaces import Namespace
from components.objects import manifest, secret
from components.platform import After, Component, Platform
from components.routing import GatewayRef, http_route
from components.secrets import Provider, SecretUse
from components.settings import Settings
from components.versions import KEYCLOAK

NAMESPACE = Namespace(name=realm.NAMESPACE, pod_security="restricted", routes=True)
IMAGE = f"quay.io/keycloak/keycloak:{KEYCLOAK}"
NAME = realm.SERVICE
PORT = realm.PORT
MANAGEMENT_PORT = 9000
URL = f"http://{NAME}.{NAMESPACE.name}.svc:{PORT}"
ADMIN_USER = "admin"
# The Job signs in with a client of its own, so that people may replace the first administrator.
ADMIN_CLIENT = "home-platform"

DATABASE_SECRET = SecretUse(
    namespace=NAMESPACE.name,
    name="keycloak-database",
    keys=(USERNAME_KEY, PASSWORD_KEY),
    provider=Provider.GENERATED,
    needed_by="Keycloak and its PostgreSQL",
)
ADMIN_SECRET = SecretUse(
    namespace=NAMESPACE.name,
    name="keycloak-admin",
    keys=(USERNAME_KEY, PASSWORD_KEY, realm.CLIENT_ID_KEY, realm.CLIENT_SECRET_KEY),
    provider=Provider.GENERATED,
    needed_by="Keycloak's first start and the realm's reconciliation",
)
SECRETS = (DATABASE_SECRET, ADMIN_SECRET)
_LABELS = {"app.kubernetes.io/name": NAME}
# The image's user: a Pod of the level restricted must not run as root.
POD_SECURITY = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
CONTAINER_SECURITY = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


class Keycloak(Component):
    """The server is up when the component is: its Deployment is awaited."""

    def __init__(
        self, platform: Platform, *, operator_namespace: str, monitoring_namespace: str, after: After = ()
    ) -> None:
        """Who may reach the database besides Keycloak: PostgreSQL's operator, and whoever reads metrics."""
        super().__init__(platform, "keycloak", after=after)
        database_secret = self.declare(self._database_secret(), protect=True)
        admin_secret = self.declare(self._admin_secret(), protect=True)
        database = [
            self.declare(found, after=[database_secret], ready=found["kind"] == "Cluster", protect=True)
            for found in database_manifests(
                platform.settings, DATABASE_SECRET, operator_namespace, monitoring_namespace
            )
        ]
        server = self.declare(_deployment(platform.settings), after=[*database, admin_secret])
        self.declare(_service(), after=[server])
        self.declare(_monitor())
        self.register_outputs({})

    def _database_secret(self) -> dict[str, Any]:
        values = {
            USERNAME_KEY: pulumi.Output.secret(DATABASE),
            PASSWORD_KEY: self.generated_password("keycloak-database"),
        }
        # CloudNativePG takes the owner's password from this type only.
        return secret(DATABASE_SECRET.name, DATABASE_SECRET.namespace, values, kind="kubernetes.io/basic-auth")

    def _admin_secret(self) -> dict[str, Any]:
        values = {
            USERNAME_KEY: pulumi.Output.secret(ADMIN_USER),
            PASSWORD_KEY: self.generated_password("keycloak-admin"),
            realm.CLIENT_ID_KEY: pulumi.Output.secret(ADMIN_CLIENT),
            realm.CLIENT_SECRET_KEY: self.generated_password("keycloak-admin-client"),
        }
        return secret(ADMIN_SECRET.name, ADMIN_SECRET.namespace, values)


class KeycloakRoute(Component):
    """The way in, for people and for every client: `https://sso.<domain>`."""

    def __init__(self, platform: Platform, gateway: GatewayRef, *, after: After = ()) -> None:
        super().__init__(platform, "keycloak-route", after=after)
        self.host = realm.sso_host(platform.settings.domain)
        self.declare(http_route(NAME, NAMESPACE.name, self.host, gateway, (NAME, PORT)))
        self.register_outputs({})


def from_secret(use: SecretUse, key: str) -> dict[str, Any]:
    """The value of an environment variable that a Secret holds."""
    return {"valueFrom": {"secretKeyRef": {"name": use.name, "key": key}}}


def server_options(domain: str) -> dict[str, str]:
    """Keycloak's own options: hostname v2 behind a gateway that ends TLS, health and metrics on the management port."""
    return {
        "KC_HOSTNAME": f"https://{realm.sso_host(domain)}",
        "KC_PROXY_HEADERS": "xforwarded",
        "KC_HTTP_ENABLED": "true",
        "KC_HEALTH_ENABLED": "true",
        "KC_METRICS_ENABLED": "true",
    }


def _environment(domain: str) -> list[dict[str, Any]]:
    plain = {
        **server_options(domain),
        "KC_DB": "postgres",
        "KC_DB_URL_HOST": f"{CLUSTER}-rw",
        "KC_DB_URL_DATABASE": DATABASE,
        # PostgreSQL takes 100 connections, and so would each instance of Keycloak.
        "KC_DB_POOL_MAX_SIZE": "20",
    }
    secrets = {
        "KC_DB_USERNAME": from_secret(DATABASE_SECRET, USERNAME_KEY),
        "KC_DB_PASSWORD": from_secret(DATABASE_SECRET, PASSWORD_KEY),
        "KC_BOOTSTRAP_ADMIN_USERNAME": from_secret(ADMIN_SECRET, USERNAME_KEY),
        "KC_BOOTSTRAP_ADMIN_PASSWORD": from_secret(ADMIN_SECRET, PASSWORD_KEY),
        "KC_BOOTSTRAP_ADMIN_CLIENT_ID": from_secret(ADMIN_SECRET, realm.CLIENT_ID_KEY),
        "KC_BOOTSTRAP_ADMIN_CLIENT_SECRET": from_secret(ADMIN_SECRET, realm.CLIENT_SECRET_KEY),
    }
    return [
        *({"name": name, "value": value} for name, value in plain.items()),
        *({"name": name, **source} for name, source in secrets.items()),
    ]


def _probe(path: str, **timing: int) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": "management"}, **timing}


def _container(domain: str) -> dict[str, Any]:
    return {
        "name": NAME,
        "image": IMAGE,
        "args": ["start"],
        "env": _environment(domain),
        "ports": [
            {"name": "http", "containerPort": PORT},
            {"name": "management", "containerPort": MANAGEMENT_PORT},
        ],
        # The first start builds the server for PostgreSQL and makes the schema: minutes on a small node.
        "startupProbe": _probe("/health/started", periodSeconds=5, failureThreshold=120),
        "readinessProbe": _probe("/health/ready", periodSeconds=10, failureThreshold=3),
        "livenessProbe": _probe("/health/live", periodSeconds=10, failureThreshold=6),
        # The heap takes 70 % of the limit.
        "resources": {"requests": {"cpu": "250m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
        "securityContext": CONTAINER_SECURITY,
    }


def _deployment(settings: Settings) -> dict[str, Any]:
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": _LABELS},
    }
    pod: Mapping[str, Any] = {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": POD_SECURITY,
        "topologySpreadConstraints": [spread],
        "containers": [_container(settings.domain)],
    }
    spec = {
        "replicas": settings.keycloak.instances,
        # Two versions must never share the database and the cache.
        "strategy": {"type": "Recreate"},
        "selector": {"matchLabels": _LABELS},
        "template": {"metadata": {"labels": _LABELS}, "spec": pod},
    }
    return manifest("apps/v1", "Deployment", NAME, namespace=NAMESPACE.name, labels=_LABELS, spec=spec)


def _service() -> dict[str, Any]:
    ports = [
        {"name": "http", "port": PORT, "targetPort": "http"},
        {"name": "management", "port": MANAGEMENT_PORT, "targetPort": "management"},
    ]
    spec = {"selector": _LABELS, "ports": ports}
    return manifest("v1", "Service", NAME, namespace=NAMESPACE.name, labels=_LABELS, spec=spec)


def _monitor() -> dict[str, Any]:
    spec = {"selector": {"matchLabels": _LABELS}, "endpoints": [{"port": "management"}]}
    return manifest("monitoring.coreos.com/v1", "ServiceMonitor", NAME, namespace=NAMESPACE.name, spec=spec)
