"""What the program declares, as the engine would receive it."""

from __future__ import annotations

from collections import Counter

import pytest

from platformctl.render.recorder import Recording, Registration
from tests.graph import REQUIRED_ORDER, Order, is_missing, left_out, missing_order, resource, without_edge

STACKS = ("dev", "prod")


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


def test_dev_and_prod_declare_the_same_resources(recordings: dict[str, Recording]) -> None:
    dev, prod = ({(found.type, found.name) for found in recordings[stack].registrations} for stack in STACKS)
    assert dev == prod


def test_dev_and_prod_differ_only_in_values(recordings: dict[str, Recording]) -> None:
    assert recordings["dev"].exports["clusterIssuer"] == "letsencrypt-staging"
    assert recordings["prod"].exports["clusterIssuer"] == "letsencrypt-production"


def test_every_component_has_a_token_of_the_house(recording: Recording) -> None:
    components = [found for found in recording.registrations if not found.custom]
    assert components
    assert all(found.type.startswith("home:platform:") for found in components)


def test_every_object_belongs_to_a_component_and_names_its_provider(recording: Recording) -> None:
    for found in recording.registrations:
        if found.custom and not found.type.startswith("pulumi:providers:"):
            assert "home:platform:" in found.parent, found.name
            assert found.provider in ("cluster", "random"), found.name


def test_every_object_is_declared_once(recording: Recording) -> None:
    names = Counter((found.type, found.name) for found in recording.registrations)
    assert [name for name, count in names.items() if count > 1] == []


def test_the_provider_gets_a_context_and_never_a_kubeconfig(recording: Recording) -> None:
    provider = next(found for found in recording.registrations if found.type == "pulumi:providers:kubernetes")
    assert provider.inputs["context"] == provider.inputs["clusterIdentifier"] == f"home-{recording.stack}"
    assert "kubeconfig" not in provider.inputs


def test_fixed_names_are_deleted_before_they_are_replaced(recording: Recording) -> None:
    assert all(found.delete_before_replace for found in recording.manifests)


def test_namespaces_are_kept_from_prune_and_protected_where_the_stack_protects(recording: Recording) -> None:
    namespaces = [found for found in recording.manifests if found.inputs["kind"] == "Namespace"]
    assert {found.name for found in namespaces} >= {"flux-system", "kyverno", "cert-manager"}
    for found in namespaces:
        assert found.inputs["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/prune"] == "disabled"
        assert found.protect is (recording.stack == "prod")
        # Longhorn's goes with Longhorn alone: see test_longhorn.py.
        assert found.retain_on_delete is (found.protect or found.name == "longhorn-system")


def test_cilium_stays_on_destroy_in_every_stack(recording: Recording) -> None:
    assert resource(recording, "HelmRelease", "cilium").retain_on_delete


def test_the_required_order_is_declared(recording: Recording) -> None:
    assert missing_order(recording) == []


@pytest.mark.parametrize("edge", REQUIRED_ORDER, ids=lambda edge: f"{edge.before} before {edge.after}")
def test_a_required_edge_that_is_taken_away_is_missed(recording: Recording, edge: Order) -> None:
    if reason := left_out(recording, edge):
        pytest.skip(reason)
    assert is_missing(without_edge(recording, edge), edge)


def test_nothing_waits_for_apps(recording: Recording) -> None:
    apps = resource(recording, "Kustomization", "apps")
    assert "pulumi.com/waitFor" not in apps.inputs["metadata"].get("annotations", {})
    assert [found.name for found in recording.manifests if apps.urn in found.dependencies] == []


def test_what_others_depend_on_is_awaited(recording: Recording) -> None:
    by_urn = {found.urn: found for found in recording.manifests}
    reconciled = ("HelmRelease", "Kustomization", "GitRepository", "OCIRepository", "HelmRepository", "FluxInstance")
    for found in recording.manifests:
        for urn in found.dependencies & by_urn.keys():
            needed = by_urn[urn].inputs
            if needed["kind"] in reconciled:
                assert needed["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=Ready", needed["metadata"]


class TestHelmReleases:
    def test_names_are_written_out_and_equal_the_namespace(self, recording: Recording) -> None:
        for release in _releases(recording):
            metadata, spec = release.inputs["metadata"], release.inputs["spec"]
            assert spec["releaseName"] == metadata["name"]
            assert spec["targetNamespace"] == spec["storageNamespace"] == metadata["namespace"]

    def test_the_source_lives_beside_the_release(self, recording: Recording) -> None:
        sources = {found.name for found in recording.manifests if found.inputs["kind"].endswith("Repository")}
        assert all(release.name in sources for release in _releases(recording))

    def test_drift_is_corrected_and_nothing_is_ever_uninstalled_by_remediation(self, recording: Recording) -> None:
        for release in _releases(recording):
            spec = release.inputs["spec"]
            assert spec["driftDetection"]["mode"] == "enabled"
            for action in (spec["install"], spec["upgrade"]):
                assert action["strategy"] == {"name": "RetryOnFailure", "retryInterval": "2m"}
                assert "remediation" not in action

    def test_pulumi_waits_longer_than_flux_needs_for_a_retry(self, recording: Recording) -> None:
        for release in _releases(recording):
            flux_minutes = int(release.inputs["spec"]["timeout"].removesuffix("m"))
            pulumi_minutes = int(release.timeouts["create"].removesuffix("m"))
            assert pulumi_minutes > 2 * flux_minutes

    def test_versions_are_exact(self, recording: Recording) -> None:
        for found in recording.manifests:
            spec = found.inputs.get("spec", {})
            if found.inputs["kind"] == "OCIRepository":
                assert spec["ref"].keys() <= {"tag", "digest"}
                assert not set(spec["ref"].get("tag", "")) & set("*<>=~^ ")
            if found.inputs["kind"] == "HelmRelease" and "chart" in spec:
                assert not set(spec["chart"]["spec"]["version"]) & set("*<>=~^ ")


def test_cilium_adopts_the_release_that_ansible_installed(recording: Recording) -> None:
    spec = resource(recording, "HelmRelease", "cilium").inputs["spec"]
    assert spec["releaseName"] == "cilium"
    assert spec["targetNamespace"] == spec["storageNamespace"] == "kube-system"


def test_the_flux_instance_has_the_image_controllers_and_no_sync(recording: Recording) -> None:
    spec = resource(recording, "FluxInstance", "flux").inputs["spec"]
    assert {"image-reflector-controller", "image-automation-controller"} < set(spec["components"])
    assert "sync" not in spec


def test_only_the_path_of_the_sops_secrets_differs_in_git(recordings: dict[str, Recording]) -> None:
    for stack, recording in recordings.items():
        platform = resource(recording, "Kustomization", "platform").inputs["spec"]
        assert platform["path"] == f"./platform/secrets/{stack}"
        assert platform["decryption"] == {"provider": "sops", "secretRef": {"name": "sops-age"}}
        assert "postBuild" not in platform
        assert resource(recording, "Kustomization", "apps").inputs["spec"]["path"] == "./apps"


def test_both_issuers_exist_in_both_stacks(recording: Recording) -> None:
    issuers = {found.name for found in recording.manifests if found.inputs["kind"] == "ClusterIssuer"}
    assert issuers == {"letsencrypt-staging", "letsencrypt-production"}


def test_secrets_are_references_and_appear_nowhere_else(recording: Recording) -> None:
    secrets = {found.name: found.inputs["stringData"] for found in recording.manifests if _is_secret(found)}
    assert (
        secrets.items()
        >= {
            "flux-system/flux-system": {"identity": "<secret home:deployKey>", "known_hosts": "<secret>"},
            "flux-system/sops-age": {"age.agekey": "<secret home:ageKey>"},
            "flux-system/receiver-token": {"token": "<secret generated receiver-token>"},
            "monitoring/grafana-admin": {
                "admin-user": "<secret>",
                "admin-password": "<secret generated grafana-admin>",
            },
            "keycloak/keycloak-database": {
                "username": "<secret>",
                "password": "<secret generated keycloak-database>",
            },
        }.items()
    )
    values = [value for data in secrets.values() for value in data.values()]
    assert [value for value in values if not value.startswith("<secret")] == []
    others = [found for found in recording.registrations if not _is_secret(found)]
    assert [found.name for found in others if "<secret" in str(found.inputs)] == []


def test_no_output_was_put_into_text(recording: Recording) -> None:
    assert [found.name for found in recording.registrations if "Calling __str__" in str(found.inputs)] == []


def _releases(recording: Recording) -> list[Registration]:
    found = [manifest for manifest in recording.manifests if manifest.inputs["kind"] == "HelmRelease"]
    assert found
    return found


def _is_secret(found: Registration) -> bool:
    return found.inputs.get("kind") == "Secret"
