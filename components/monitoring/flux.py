"""How Flux is watched: the state of its objects through kube-state-metrics, its controllers by a PodMonitor."""

from __future__ import annotations

from typing import Any

from components.monitoring.names import NAMESPACE
from components.objects import manifest
from components.platform import FLUX_NAMESPACE

# Group, version, kind and plural of everything of Flux that has a condition Ready.
KINDS = (
    ("fluxcd.controlplane.io", "v1", "FluxInstance", "fluxinstances"),
    ("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases"),
    ("image.toolkit.fluxcd.io", "v1", "ImagePolicy", "imagepolicies"),
    ("image.toolkit.fluxcd.io", "v1", "ImageRepository", "imagerepositories"),
    ("image.toolkit.fluxcd.io", "v1", "ImageUpdateAutomation", "imageupdateautomations"),
    ("kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomizations"),
    ("notification.toolkit.fluxcd.io", "v1", "Receiver", "receivers"),
    ("source.toolkit.fluxcd.io", "v1", "GitRepository", "gitrepositories"),
    ("source.toolkit.fluxcd.io", "v1", "HelmChart", "helmcharts"),
    ("source.toolkit.fluxcd.io", "v1", "HelmRepository", "helmrepositories"),
    ("source.toolkit.fluxcd.io", "v1", "OCIRepository", "ocirepositories"),
)
# The metric's name is the one that Flux's own examples and other people's dashboards use.
METRIC = "gotk_resource_info"


def state_metrics() -> dict[str, Any]:
    """Values of kube-state-metrics: one series of `gotk_resource_info` for each object, with its readiness."""
    groups = sorted({group for group, *_ in KINDS})
    rules = [
        {"apiGroups": [group], "resources": [kind[3] for kind in KINDS if kind[0] == group], "verbs": ["list", "watch"]}
        for group in groups
    ]
    resources = [_resource(group, version, kind) for group, version, kind, _ in KINDS]
    config = {"kind": "CustomResourceStateMetrics", "spec": {"resources": resources}}
    return {"rbac": {"extraRules": rules}, "customResourceState": {"enabled": True, "config": config}}


def _resource(group: str, version: str, kind: str) -> dict[str, Any]:
    prefix, _, name = METRIC.partition("_")
    metric = {
        "name": name,
        "help": "The current state of an object of Flux.",
        "each": {"type": "Info", "info": {"labelsFromPath": {"name": ["metadata", "name"]}}},
        "labelsFromPath": {
            "exported_namespace": ["metadata", "namespace"],
            "ready": ["status", "conditions", "[type=Ready]", "status"],
            "suspended": ["spec", "suspend"],
        },
    }
    return {
        "groupVersionKind": {"group": group, "version": version, "kind": kind},
        "metricNamePrefix": prefix,
        "metrics": [metric],
    }


def controllers_monitor() -> dict[str, Any]:
    """A PodMonitor of Flux's controllers, which bring none of their own."""
    spec = {
        "namespaceSelector": {"matchNames": [FLUX_NAMESPACE]},
        "selector": {"matchLabels": {"app.kubernetes.io/part-of": "flux"}},
        "podMetricsEndpoints": [{"port": "http-prom"}],
    }
    return manifest("monitoring.coreos.com/v1", "PodMonitor", "flux-controllers", namespace=NAMESPACE.name, spec=spec)
