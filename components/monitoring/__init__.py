"""Metrics, logs, alerts and dashboards: kube-prometheus-stack, Loki and Alloy in one namespace."""

from __future__ import annotations

from components.monitoring.alloy import Alloy
from components.monitoring.crds import PrometheusOperatorCrds
from components.monitoring.grafana import Role, oidc_client
from components.monitoring.loki import Loki
from components.monitoring.names import ALERTMANAGER, GRAFANA, NAMESPACE, PROMETHEUS, SECRETS
from components.monitoring.stack import GrafanaSignIn, Monitoring

__all__ = [
    "ALERTMANAGER",
    "GRAFANA",
    "NAMESPACE",
    "PROMETHEUS",
    "SECRETS",
    "Alloy",
    "GrafanaSignIn",
    "Loki",
    "Monitoring",
    "PrometheusOperatorCrds",
    "Role",
    "oidc_client",
]
