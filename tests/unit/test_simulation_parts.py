"""The parts of the simulation that need no cluster: what charts do with CRDs, the Stages, the delays."""

from __future__ import annotations

from typing import Any

import pytest

from components import storage_classes
from platformctl.local import crds
from platformctl.local.simulation import kwok_config, stage_files
from platformctl.local.simulation.charts import CHARTS
from platformctl.local.simulation.delays import Delays
from platformctl.local.simulation.stages import stages

KEEP = {"helm.sh/resource-policy": "keep"}


@pytest.mark.parametrize(
    ("chart", "values", "brings", "keeps"),
    [
        ("cert-manager", {}, False, True),
        ("cert-manager", {"crds": {"enabled": True}}, True, True),
        ("cert-manager", {"crds": {"enabled": True, "keep": False}}, True, False),
        ("kyverno", {}, True, False),
        ("kyverno", {"crds": {"install": False}}, False, False),
        ("kyverno", {"crds": {"annotations": KEEP}}, True, True),
        ("cilium", {}, True, True),
        ("prometheus-operator-crds", {}, True, False),
        ("prometheus-operator-crds", {"crds": {"annotations": KEEP}}, True, True),
        ("kube-prometheus-stack", {"crds": {"enabled": False}}, False, True),
        ("snapshot-controller", {"installCRDs": False}, False, False),
        ("longhorn", {}, True, False),
        ("velero", {}, True, True),
    ],
)
def test_charts_bring_and_keep_crds_as_the_real_ones(
    chart: str, values: dict[str, Any], *, brings: bool, keeps: bool
) -> None:
    assert (CHARTS[chart].brings(values), CHARTS[chart].keeps(values)) == (brings, keeps)


@pytest.mark.parametrize(
    ("values", "default", "replicas"),
    [
        ({}, "true", "3"),
        ({"persistence": {"defaultClassReplicaCount": 1}}, "true", "1"),
        ({"persistence": {"defaultClass": False}}, "false", "3"),
    ],
)
def test_longhorn_makes_its_default_class(values: dict[str, Any], default: str, replicas: str) -> None:
    (found,) = CHARTS["longhorn"].objects(values)
    assert found["metadata"]["name"] == storage_classes.DEFAULT
    assert found["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == default
    assert found["parameters"]["numberOfReplicas"] == replicas


def test_longhorn_makes_no_class_when_it_is_told_so() -> None:
    assert CHARTS["longhorn"].objects({"persistence": {"createStorageClass": False}}) == []


@pytest.mark.parametrize(("flag", "refused"), [(None, True), ("false", True), ("true", False), (True, False)])
def test_longhorn_refuses_its_uninstall_until_it_is_confirmed(*, flag: object, refused: bool) -> None:
    assert bool(CHARTS["longhorn"].refuses({"defaultSettings": {"deletingConfirmationFlag": flag}})) is refused


def test_every_chart_names_a_bundle() -> None:
    assert {chart.bundle for chart in CHARTS.values()} <= set(crds.NAMES)


def test_every_stage_is_complete_and_says_that_it_is_simulated() -> None:
    found = stages(7, 0.3, 1.5)
    assert len({stage["metadata"]["name"] for stage in found}) == len(found) > 15
    for stage in found:
        assert stage["spec"]["selector"]["matchExpressions"]
        for step in stage["spec"]["steps"]:
            template = step.get("patch", {}).get("template", "")
            if "conditions:" in template:
                assert "simulated" in template, stage["metadata"]["name"]


def test_no_stage_of_a_custom_resource_asks_for_readiness_instead_of_the_generation() -> None:
    """A Stage that selects on Ready would leave every update waiting for ever."""
    custom = [stage for stage in stages(7, 0.3, 1.5) if stage["spec"]["resourceRef"]["apiGroup"] != "v1"]
    assert {stage["spec"]["resourceRef"]["kind"] for stage in custom} >= {"GitRepository", "ClusterIssuer", "Gateway"}
    for stage in custom:
        (expression,) = stage["spec"]["selector"]["matchExpressions"]
        assert "!= .metadata.generation" in expression["jq"]["key"]
        assert ".spec.suspend != true" in expression["jq"]["key"]


def test_releases_are_not_left_to_kwok() -> None:
    played = {stage["spec"]["resourceRef"]["kind"] for stage in stages(7, 0.3, 1.5)}
    assert not played & {"HelmRelease", "Kustomization", "FluxInstance"}


def test_kwok_gets_its_options_and_the_stages_come_from_the_cluster() -> None:
    assert kwok_config() not in stage_files()
    assert "enableCRDs: [Stage]" in kwok_config().read_text()


def test_another_seed_gives_other_stages() -> None:
    assert stages(1, 0.3, 1.5) != stages(2, 0.3, 1.5)


def test_a_delay_runs_from_the_first_question_and_stays_in_its_range() -> None:
    now = [100.0]
    delays = Delays(seed=1, shortest=2, longest=3, clock=lambda: now[0])
    assert 2 <= delays.seconds("a") <= 3
    assert not delays.is_due("a", "first")
    now[0] += 1.9
    assert not delays.is_due("a", "first")
    now[0] += 1.2
    assert delays.is_due("a", "first")
    assert not delays.is_due("a", "second")
