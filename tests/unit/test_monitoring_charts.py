"""Every value that monitoring's releases set is one that their pinned charts read."""

from __future__ import annotations

from typing import Any

import pytest

from components.contracts import merged
from components.upstream import UpstreamUnavailable, locked
from components.versions import ALLOY, KUBE_PROMETHEUS_STACK, LOKI, PROMETHEUS_OPERATOR_CRDS, Chart
from platformctl.render.recorder import Recording
from tests.chart_values import chart_file, schema_violations, unknown_paths
from tests.graph import resource

CHARTS = (PROMETHEUS_OPERATOR_CRDS, KUBE_PROMETHEUS_STACK, LOKI, ALLOY)
# Charts inside kube-prometheus-stack: what it says of them is laid over their own defaults.
PARTS = ("grafana", "kube-state-metrics", "prometheus-node-exporter")
# Maps that take any key, and keys that the chart's values.yaml has only as a comment.
FREE = {
    "prometheus-operator-crds": {"crds.annotations"},
    "kube-prometheus-stack": {
        "alertmanager.alertmanagerSpec.configSecret",
        "alertmanager.alertmanagerSpec.resources",
        "alertmanager.alertmanagerSpec.storage",
        "grafana.envValueFrom",
        "grafana.grafana.ini",
        "grafana.persistence.storageClassName",
        "grafana.resources",
        "kube-state-metrics.customResourceState.config",
        "kube-state-metrics.resources",
        "prometheus-node-exporter.resources",
        "prometheus.prometheusSpec.externalLabels",
        "prometheus.prometheusSpec.resources",
        "prometheus.prometheusSpec.storageSpec",
        "prometheusOperator.resources",
    },
    # Sections of Loki's own configuration.
    "loki": {"loki.analytics", "loki.compactor", "loki.limits_config", "loki.schemaConfig", "singleBinary.resources"},
    "alloy": {"alloy.resources"},
}


def published(name: str) -> dict[str, Any]:
    try:
        values = chart_file(f"{name}-values")
        if name == KUBE_PROMETHEUS_STACK.name:
            values |= {part: merged(chart_file(f"{part}-values"), values[part]) for part in PARTS}
    except UpstreamUnavailable as unavailable:
        pytest.skip(str(unavailable))
    return values


def set_values(recording: Recording, chart: Chart) -> dict[str, Any]:
    return resource(recording, "HelmRelease", chart.name).inputs["spec"]["values"]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_every_path_is_in_the_charts_values(stack: str, chart: Chart, recordings: dict[str, Recording]) -> None:
    values = set_values(recordings[stack], chart)
    assert list(unknown_paths(values, published(chart.name), FREE[chart.name])) == []


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_lokis_values_satisfy_its_schema(stack: str, recordings: dict[str, Recording]) -> None:
    try:
        schema = chart_file("loki-schema")
    except UpstreamUnavailable as unavailable:
        pytest.skip(str(unavailable))
    # Helm validates what comes out, defaults included.
    values = merged(published("loki"), set_values(recordings[stack], LOKI))
    assert schema_violations(values, schema) == []


def test_a_misspelt_path_of_a_part_is_found(recordings: dict[str, Recording]) -> None:
    values = merged(
        set_values(recordings["dev"], KUBE_PROMETHEUS_STACK), {"grafana": {"sidecar": {"dashboards": {"labels": "1"}}}}
    )
    found = list(unknown_paths(values, published(KUBE_PROMETHEUS_STACK.name), FREE[KUBE_PROMETHEUS_STACK.name]))
    assert found == ["grafana.sidecar.dashboards.labels"]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_the_locked_values_are_those_of_the_pinned_version(chart: Chart) -> None:
    assert locked()[f"{chart.name}-values"].version == chart.version
