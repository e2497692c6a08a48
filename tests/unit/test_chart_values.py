"""Values against charts: every release of both stacks, and that a wrong value is found."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from components import upstream
from components.contracts import merged
from platformctl.cli import app
from platformctl.local import gomodules
from platformctl.render.chart_values import ALLOWANCES, ChartValues, Release, releases, unknown_paths
from platformctl.render.recorder import Recording

STACKS = ("dev", "prod")


@pytest.fixture(scope="module")
def charts() -> ChartValues:
    return ChartValues()


@pytest.mark.parametrize("stack", STACKS)
def test_every_value_of_every_release_is_one_of_its_chart(
    stack: str, charts: ChartValues, recordings: dict[str, Recording]
) -> None:
    findings = [charts.check(release) for release in releases(recordings[stack])]
    assert [problem for finding in findings for problem in finding.problems] == []
    assert [note for finding in findings if not finding.unreachable for note in finding.notes] == []
    if unseen := [note for finding in findings if finding.unreachable for note in finding.notes]:
        assert not os.environ.get("CI"), unseen
        pytest.skip(f"{len(unseen)} of {len(findings)} releases could not be looked at: {unseen[0]}")


def test_every_release_has_a_chart_and_an_exact_version(recordings: dict[str, Recording]) -> None:
    found = releases(recordings["dev"])
    assert len(found) == sum(manifest.inputs["kind"] == "HelmRelease" for manifest in recordings["dev"].manifests)
    assert all(release.chart and release.version for release in found)


@pytest.mark.parametrize(
    ("name", "extra", "path"),
    [
        ("cilium", {"cgroup": {"automount": {"enabled": False}}}, "cgroup.automount"),
        ("kyverno", {"admissionControler": {"replicas": 3}}, "admissionControler"),
        ("kube-prometheus-stack", {"grafana": {"sidecar": {"dashbords": True}}}, "grafana.sidecar.dashbords"),
        ("kube-prometheus-stack", {"kube-state-metrics": {"replica": 2}}, "kube-state-metrics.replica"),
    ],
)
def test_a_key_that_the_chart_would_ignore_is_found(
    name: str, extra: dict[str, Any], path: str, charts: ChartValues, recordings: dict[str, Recording]
) -> None:
    release = next(found for found in releases(recordings["dev"]) if found.name == name)
    finding = charts.check(replace(release, values=merged(release.values, extra)))
    if finding.unreachable:
        pytest.skip(finding.notes[0])
    assert [problem.partition(" ")[0] for problem in finding.problems if "is not in" in problem] == [path]


def test_a_value_that_the_charts_schema_refuses_is_found(charts: ChartValues, recordings: dict[str, Recording]) -> None:
    release = next(found for found in releases(recordings["dev"]) if found.name == "cilium")
    finding = charts.check(replace(release, values=merged(release.values, {"k8sServicePort": True})))
    if finding.unreachable:
        pytest.skip(finding.notes[0])
    assert any(problem.startswith("k8sServicePort: ") for problem in finding.problems), finding.problems


def test_values_of_another_version_are_said_to_be_that(charts: ChartValues, recordings: dict[str, Recording]) -> None:
    release = next(found for found in releases(recordings["dev"]) if found.name == "longhorn")
    finding = charts.check(replace(release, version="99.0.0"))
    if finding.unreachable:
        pytest.skip(finding.notes[0])
    assert finding.notes == ["the newest values of longhorn that can be had are of 1.12.1, not 99.0.0"]


def test_every_allowance_has_a_reason_and_a_chart_that_is_used(recordings: dict[str, Recording]) -> None:
    table = yaml.safe_load(ALLOWANCES.read_text())
    assert set(table["charts"]) <= {release.chart for release in releases(recordings["dev"])}
    reasons = [*table["everywhere"].values()]
    reasons += [reason for entry in table["charts"].values() for reason in (entry.get("free") or {}).values()]
    assert all(isinstance(reason, str) and len(reason) > 10 for reason in reasons)


def test_every_allowance_of_a_chart_is_needed(charts: ChartValues, recordings: dict[str, Recording]) -> None:
    table = yaml.safe_load(ALLOWANCES.read_text())["charts"]
    both = [release for recording in recordings.values() for release in releases(recording)]
    for chart, entry in table.items():
        for path in entry.get("free") or {}:
            assert any(sets(release, path) for release in both if release.chart == chart), (chart, path)


def sets(release: Release, path: str) -> bool:
    """Whether the release sets something there; a key may hold dots itself."""
    flat = {".".join(keys) for keys in walked(release.values)}
    return path in flat


def walked(values: Any, keys: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(values, dict):
        return [keys]
    return [keys, *(found for key, value in values.items() for found in walked(value, (*keys, key)))]


def test_a_map_over_a_scalar_is_unknown(charts: ChartValues) -> None:
    plain = charts.allowance("any")
    assert list(unknown_paths({"a": {"b": 1}}, {"a": "text"}, plain)) == ["a.b"]
    assert list(unknown_paths({"a": {"resources": {"limits": {}}}}, {"a": {}}, plain)) == []


@pytest.mark.parametrize(("environment", "code"), [({}, 0), ({"CI": "true"}, 1)])
def test_what_is_out_of_reach_is_named_and_fails_in_ci(
    environment: dict[str, str], code: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CI", raising=False)
    for key, value in {**environment, "XDG_CACHE_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(key, value)

    def unreachable(name: str, **_: Any) -> bytes:
        raise upstream.UpstreamUnavailable(f"{name} is out of reach")

    def gone(module: gomodules.Module) -> Path:
        raise gomodules.ModuleUnavailable(f"{module.path} is out of reach")

    monkeypatch.setattr(upstream, "read", unreachable)
    monkeypatch.setattr(gomodules, "directory", gone)
    result = CliRunner().invoke(app, ["chart-values"])
    assert result.exit_code == code
    assert result.stderr.startswith("not looked at: ")
    assert "longhorn" in result.stderr
    assert "values is out of reach" in result.stderr
    assert "0 of" in result.stdout
