"""Every value that the network's releases set is one that their pinned charts read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.upstream import UpstreamUnavailable, locked
from components.versions import CERT_MANAGER, CILIUM, EXTERNAL_DNS, Chart
from platformctl.local import gomodules
from platformctl.render.recorder import Recording
from tests.chart_values import chart_file, schema_violations, unknown_paths
from tests.graph import resource

CHARTS = (CILIUM, CERT_MANAGER, EXTERNAL_DNS)
# Maps that take any key, and keys that the chart's values.yaml has only as a comment.
FREE = {
    "cilium": {"operator.podAnnotations", "socketLB.hostNamespaceOnly"},
    "cert-manager": set(),
    "external-dns": {"resources", "extraArgs"},
}


def published(chart: Chart, part: str) -> dict[str, Any]:
    """The chart's own file; cilium's is in its Go module as well."""
    try:
        return chart_file(f"{chart.name}-{part}")
    except UpstreamUnavailable as unavailable:
        if chart is not CILIUM:
            pytest.skip(str(unavailable))
    file = {"values": "values.yaml", "schema": "values.schema.json"}[part]
    return yaml.load((cilium_chart() / file).read_bytes(), Loader=yaml.CSafeLoader)


def cilium_chart() -> Path:
    """The chart's directory in the Go module. Skips the test where the module is out of reach."""
    try:
        return gomodules.directory(gomodules.pinned("github.com/cilium/cilium")) / "install/kubernetes/cilium"
    except gomodules.ModuleUnavailable as unavailable:
        pytest.skip(str(unavailable))


def set_values(recording: Recording, chart: Chart) -> dict[str, Any]:
    return resource(recording, "HelmRelease", chart.name).inputs["spec"]["values"]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_every_path_is_in_the_charts_values(stack: str, chart: Chart, recordings: dict[str, Recording]) -> None:
    values = set_values(recordings[stack], chart)
    assert list(unknown_paths(values, published(chart, "values"), FREE[chart.name])) == []


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_the_values_satisfy_the_charts_schema(stack: str, chart: Chart, recordings: dict[str, Recording]) -> None:
    assert schema_violations(set_values(recordings[stack], chart), published(chart, "schema")) == []


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.name)
def test_values_and_schema_are_of_the_pinned_version(chart: Chart) -> None:
    files = [file for name, file in locked().items() if name in (f"{chart.name}-values", f"{chart.name}-schema")]
    assert [file.version for file in files] == [chart.version] * 2


def test_a_misspelt_path_is_found() -> None:
    defaults = {"a": {"b": 1, "free": {}}, "c": None}
    values = {"a": {"B": 1, "b": 2, "free": {"x": 1}}, "c": {"d": 1}, "e": 1}
    assert list(unknown_paths(values, defaults, {"a.free"})) == ["a.B", "c.d", "e"]


def test_what_the_chart_only_comments_is_read_by_its_templates() -> None:
    template = (cilium_chart() / "templates/cilium-configmap.yaml").read_text()
    assert "$socketLB.hostNamespaceOnly" in template


def test_cilium_is_installed_from_values_of_its_own_version() -> None:
    chart = yaml.load((cilium_chart() / "Chart.yaml").read_bytes(), Loader=yaml.CSafeLoader)
    assert chart["version"] == CILIUM.version
