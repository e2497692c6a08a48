"""Sign-in: Keycloak, its database, and its realm as code."""

from __future__ import annotations

from components.keycloak.reconciliation import RealmReconciliation
from components.keycloak.server import NAMESPACE, SECRETS, URL, Keycloak, KeycloakRoute

__all__ = ["NAMESPACE", "SECRETS", "URL", "Keycloak", "KeycloakRoute", "RealmReconciliation"]
