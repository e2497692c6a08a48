"""Grafana: data sources, dashboards out of ConfigMaps, and sign-in through Keycloak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from components.monitoring.names import GRAFANA, GRAFANA_ADMIN, NAMESPACE
from components.objects import manifest
from components.realm import CLIENT_SECRET_KEY, GROUPS, OidcClient, client_secret
from components.settings_monitoring import Volume

Role = Literal["Admin", "Editor", "Viewer"]
# Dashboards name their data source by uid, so that they need no variable for it.
PROMETHEUS_UID = "prometheus"
LOKI_UID = "loki"
FOLDER = "grafana_folder"


@dataclass(frozen=True, kw_only=True)
class GrafanaSignIn:
    """How people come in.

    issuer: the realm's URL as browsers know it.
    backchannel: the same realm as Grafana itself reaches it, inside the cluster.
    roles: the role of each group of the realm; who is in several gets the role that comes first.
    """

    client: OidcClient
    issuer: str
    backchannel: str
    roles: Mapping[str, Role]


def values(volume: Volume, sign_in: GrafanaSignIn, *, domain: str, loki_url: str) -> dict[str, Any]:
    """The part of kube-prometheus-stack's values that goes to its chart grafana."""
    user_key, password_key = GRAFANA_ADMIN.keys
    secret = {"name": sign_in.client.secret.name, "key": CLIENT_SECRET_KEY}
    return {
        "admin": {"existingSecret": GRAFANA_ADMIN.name, "userKey": user_key, "passwordKey": password_key},
        # Two pods cannot share the volume, and SQLite on it would lock.
        "deploymentStrategy": {"type": "Recreate"},
        "persistence": {
            "enabled": True,
            "type": "pvc",
            "size": volume.size,
            "storageClassName": volume.storage_class,
        },
        # fsGroup gives Grafana its files; the chart's container would run as root for it.
        "initChownData": {"enabled": False},
        "resources": {"requests": {"cpu": "50m", "memory": "256Mi"}},
        "envValueFrom": {"GF_AUTH_GENERIC_OAUTH_CLIENT_SECRET": {"secretKeyRef": secret}},
        "grafana.ini": {**_server(domain), "auth.generic_oauth": _oauth(sign_in)},
        "sidecar": _sidecar(),
        "additionalDataSources": [_loki(loki_url)],
        "defaultDashboardsTimezone": "browser",
    }


def dashboard(name: str, text: str, *, folder: str) -> dict[str, Any]:
    """A ConfigMap that the sidecar hands to Grafana; `text` is the dashboard's JSON."""
    annotations = {
        FOLDER: folder,
        # Flux would take a dashboard's ${variable} for one of its own, were it ever applied from git.
        "kustomize.toolkit.fluxcd.io/substitute": "disabled",
    }
    return manifest(
        "v1",
        "ConfigMap",
        f"dashboard-{name}",
        namespace=NAMESPACE.name,
        labels={"grafana_dashboard": "1"},
        annotations=annotations,
        data={f"{name}.json": text},
    )


def _server(domain: str) -> dict[str, Any]:
    return {
        "server": {"domain": GRAFANA.host(domain), "root_url": f"{GRAFANA.url(domain)}/"},
        "security": {"cookie_secure": True},
        "analytics": {"reporting_enabled": False, "check_for_updates": False, "check_for_plugin_updates": False},
        "users": {"allow_sign_up": False},
    }


def _oauth(sign_in: GrafanaSignIn) -> dict[str, Any]:
    client, protocol = sign_in.client, "protocol/openid-connect"
    return {
        "enabled": True,
        "name": "Keycloak",
        "client_id": client.client_id,
        "scopes": f"openid email profile {GROUPS}",
        "auth_url": f"{sign_in.issuer}/{protocol}/auth",
        "token_url": f"{sign_in.backchannel}/{protocol}/token",
        "api_url": f"{sign_in.backchannel}/{protocol}/userinfo",
        # Signing out of Grafana alone would sign in again by itself.
        "signout_redirect_url": f"{sign_in.issuer}/{protocol}/logout?client_id={client.client_id}",
        "use_pkce": client.pkce,
        "allow_sign_up": True,
        "login_attribute_path": "preferred_username",
        "groups_attribute_path": GROUPS,
        "allowed_groups": " ".join(client.allowed_groups),
        "role_attribute_path": role_expression(sign_in.roles),
        # Nobody comes in without a role; Grafana would make a Viewer of everybody else.
        "role_attribute_strict": True,
    }


def role_expression(roles: Mapping[str, Role]) -> str:
    """JMESPath that gives the role of the first group that a person is in."""
    return " || ".join(f"contains({GROUPS}[*], '{group}') && '{role}'" for group, role in roles.items())


def _sidecar() -> dict[str, Any]:
    return {
        "dashboards": {
            "enabled": True,
            "label": "grafana_dashboard",
            "labelValue": "1",
            "searchNamespace": "ALL",
            "folderAnnotation": FOLDER,
            "provider": {"foldersFromFilesStructure": True, "allowUiUpdates": False},
        },
        "datasources": {"enabled": True, "uid": PROMETHEUS_UID},
    }


def _loki(url: str) -> dict[str, Any]:
    return {"name": "Loki", "type": "loki", "uid": LOKI_UID, "access": "proxy", "url": url, "editable": False}


def oidc_client(domain: str, roles: Mapping[str, Role]) -> OidcClient:
    """Grafana's client in the realm; only members of a group with a role may come in."""
    return OidcClient(
        client_id="grafana",
        name="Grafana",
        redirect_uris=(f"{GRAFANA.url(domain)}/login/generic_oauth",),
        web_origins=(GRAFANA.url(domain),),
        secret=client_secret(NAMESPACE.name, "grafana-oidc", needed_by="Grafana's sign-in"),
        allowed_groups=tuple(roles),
    )
