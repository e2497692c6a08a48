"""Every rendered object passes the API server's own admission: real CRDs, strict fields, CEL rules, nothing stored."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from components.objects import Manifest
from platformctl.local import crds
from platformctl.local.api import ApiError, KubeApi
from platformctl.local.cluster import Cluster
from platformctl.local.simulation import definitions
from platformctl.render.recorder import Recording
from tests.integration.test_simulation import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

STACKS = ("dev", "prod")
# The program installs the standard channel; the other has the same names.
BUNDLES = [name for name in crds.NAMES if name != "gateway-api-experimental"]


@pytest.fixture(scope="module")
def api(session_cluster: Callable[..., Cluster], recordings: dict[str, Recording]) -> Iterator[KubeApi]:
    """A cluster with every CRD and every namespace, and nothing else of the platform."""
    cluster = session_cluster("dry-run")
    cluster.up()
    with cluster.api() as client:
        for bundle in crds.prepare(BUNDLES):
            if bundle.note:
                warnings.warn(f"not strict: {bundle.note}", stacklevel=1)
            eventually(lambda bundle=bundle: definitions.install(client, bundle.objects, manager="test"), seconds=120)
        for found in objects(recordings["dev"]):
            if found["kind"] == "Namespace":
                client.apply(dict(found))
        yield client


def objects(recording: Recording) -> list[Manifest]:
    return [found.inputs for found in recording.manifests]


def refusals(api: KubeApi, manifests: list[Manifest]) -> list[str]:
    """What the API server says against them, one text for each object that it refuses."""
    found: list[str] = []
    for manifest in manifests:
        try:
            api.apply(dict(manifest), dry_run=True)
        except ApiError as error:
            found.append(f"{manifest['kind']}/{manifest['metadata']['name']}: {error}")
    return found


@pytest.mark.parametrize("stack", STACKS)
def test_every_rendered_object_is_accepted(stack: str, api: KubeApi, recordings: dict[str, Recording]) -> None:
    manifests = objects(recordings[stack])
    assert len(manifests) > 50
    assert refusals(api, manifests) == []


def test_nothing_was_stored(api: KubeApi) -> None:
    assert api.list("helm.toolkit.fluxcd.io/v2", "HelmRelease") == []


def altered(recordings: dict[str, Recording], kind: str, **spec: Any) -> Manifest:
    """The first rendered object of a kind with some fields of its spec replaced."""
    manifest = next(found for found in objects(recordings["dev"]) if found["kind"] == kind)
    return {**manifest, "spec": {**manifest["spec"], **spec}}


class TestItCanFail:
    """One object for each reason to refuse it; otherwise the test above would prove nothing."""

    def test_an_unknown_field_is_refused(self, api: KubeApi, recordings: dict[str, Recording]) -> None:
        (sentence,) = refusals(api, [altered(recordings, "HelmRelease", chart_ref={})])
        assert "chart_ref" in sentence

    def test_an_unknown_field_of_a_built_in_kind_is_refused(self, api: KubeApi) -> None:
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "typo", "namespace": "default"},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClass": "longhorn"},
        }
        (sentence,) = refusals(api, [claim])
        assert "storageClass" in sentence

    def test_a_value_outside_its_enum_is_refused(self, api: KubeApi, recordings: dict[str, Recording]) -> None:
        (sentence,) = refusals(api, [altered(recordings, "ValidatingPolicy", failurePolicy="Maybe")])
        assert "Unsupported value" in sentence

    def test_a_cel_rule_is_evaluated(self, api: KubeApi, recordings: dict[str, Recording]) -> None:
        both = {"kind": "HelmRepository", "name": "kyverno"}
        chart = {"spec": {"chart": "kyverno", "sourceRef": both}}
        (sentence,) = refusals(
            api, [altered(recordings, "HelmRelease", chart=chart, chartRef={"kind": "OCIRepository", "name": "x"})]
        )
        assert "either chart or chartRef must be set" in sentence
