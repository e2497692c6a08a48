"""Metrics, alerts and dashboards: kube-prometheus-stack, and what the platform itself watches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi

from components.helm import HelmApplication, install
from components.monitoring import flux, grafana, rules
from components.monitoring.grafana import GrafanaSignIn
from components.monitoring.names import ALERTMANAGER, ALERTMANAGER_CONFIG, GRAFANA_ADMIN, NAMESPACE, PROMETHEUS
from components.monitoring.volumes import claim_template
from components.objects import secret
from components.platform import After, Component, Platform
from components.settings_monitoring import Alertmanager as AlertmanagerSettings
from components.settings_monitoring import Prometheus as PrometheusSettings
from components.versions import KUBE_PROMETHEUS_STACK

# k3s runs them in one process with the API server, and cilium replaces kube-proxy.
ABSENT = ("kubeControllerManager", "kubeScheduler", "kubeEtcd", "kubeProxy")
ABSENT_RULES = ("etcd", "kubeControllerManager", "kubeProxy", "kubeSchedulerAlerting", "kubeSchedulerRecording")
# The same process shows its metrics at the kubelet's port too, once for every server node.
NOT_THE_KUBELETS = (
    "(aggregator|apiextensions|apiserver|authentication|authorization|etcd|garbagecollector|scheduler|workqueue)_.+"
)
SELECTORS = ("serviceMonitor", "podMonitor", "probe", "rule", "scrapeConfig")


class Monitoring(Component):
    """Prometheus, Alertmanager and Grafana, with the dashboards in a directory and the platform's alerts."""

    def __init__(
        self,
        platform: Platform,
        *,
        sign_in: GrafanaSignIn,
        loki_url: str,
        dashboards: Path,
        backups: Mapping[str, int],
        after: After = (),
    ) -> None:
        """backups: the longest time in days between two backups of each of Velero's schedules, by its name."""
        super().__init__(platform, "monitoring", after=after)
        domain = platform.settings.domain
        admin = self.declare(_grafana_admin(self.generated_password(GRAFANA_ADMIN.name)))
        panels = grafana.values(platform.settings.monitoring.grafana.volume, sign_in, domain=domain, loki_url=loki_url)
        application = HelmApplication(
            chart=KUBE_PROMETHEUS_STACK,
            namespace=NAMESPACE.name,
            values={**_values(platform), "grafana": panels},
            crds="Skip",
            timeout_minutes=30,
        )
        release = install(self, application, after=[admin])
        watched = [flux.controllers_monitor(), *rules.manifests(backups), *load_dashboards(dashboards)]
        for manifest in watched:
            self.declare(manifest, after=[release])
        self.register_outputs({})


def load_dashboards(directory: Path) -> list[dict[str, Any]]:
    """A ConfigMap for each JSON file, in the order of their names."""
    return [
        grafana.dashboard(path.stem, path.read_text(encoding="utf-8"), folder="Platform")
        for path in sorted(directory.glob("*.json"))
    ]


def _grafana_admin(password: pulumi.Output[str]) -> dict[str, Any]:
    user_key, password_key = GRAFANA_ADMIN.keys
    data = {user_key: pulumi.Output.secret("admin"), password_key: password}
    return secret(GRAFANA_ADMIN.name, GRAFANA_ADMIN.namespace, data)


def _values(platform: Platform) -> dict[str, Any]:
    settings, domain = platform.settings.monitoring, platform.settings.domain
    off = {"enabled": False}
    return {
        # A release of their own has them, ahead of everything that brings a monitor.
        "crds": off,
        **dict.fromkeys(ABSENT, off),
        "defaultRules": {"rules": dict.fromkeys((*ABSENT_RULES, "windows"), False)},
        "nodeExporter": {"operatingSystems": {"aix": off, "darwin": off}},
        "kubelet": {"serviceMonitor": {"metricRelabelings": _kubelet_relabelings()}},
        "prometheusOperator": {
            # cert-manager renews the webhook's certificate; the chart's Jobs would run at every upgrade.
            "admissionWebhooks": {"certManager": {"enabled": True}},
            "resources": _requests(cpu="50m", memory="128Mi"),
        },
        "prometheus": {"prometheusSpec": _prometheus(settings.prometheus, platform.stack, domain)},
        "alertmanager": {"alertmanagerSpec": _alertmanager(settings.alertmanager, domain)},
        "kube-state-metrics": {**flux.state_metrics(), "resources": _requests(cpu="20m", memory="128Mi")},
        "prometheus-node-exporter": {"resources": _requests(cpu="20m", memory="32Mi")},
    }


def _prometheus(settings: PrometheusSettings, stack: str, domain: str) -> dict[str, Any]:
    return {
        **{f"{kind}SelectorNilUsesHelmValues": False for kind in SELECTORS},
        "retention": settings.retention,
        # Prometheus' unit has a B at its end, a volume's has not.
        "retentionSize": f"{settings.retention_size}B",
        "storageSpec": claim_template(settings.volume),
        "externalLabels": {"cluster": stack},
        "externalUrl": PROMETHEUS.url(domain),
        "resources": _requests(cpu="200m", memory="1Gi"),
    }


def _alertmanager(settings: AlertmanagerSettings, domain: str) -> dict[str, Any]:
    return {
        "useExistingSecret": True,
        "configSecret": ALERTMANAGER_CONFIG.name,
        "storage": claim_template(settings.volume),
        "externalUrl": ALERTMANAGER.url(domain),
        "resources": _requests(cpu="10m", memory="64Mi"),
    }


def _kubelet_relabelings() -> list[dict[str, Any]]:
    """The chart's own entry, which a list in the values replaces, and ours."""
    buckets = r"(csi_operations|storage_operation_duration)_seconds_bucket;(0.25|2.5|15|25|120|600)(\.0)?"
    return [
        {"action": "drop", "sourceLabels": ["__name__", "le"], "regex": buckets},
        {"action": "drop", "sourceLabels": ["__name__"], "regex": NOT_THE_KUBELETS},
    ]


def _requests(*, cpu: str, memory: str) -> dict[str, Any]:
    return {"requests": {"cpu": cpu, "memory": memory}}
