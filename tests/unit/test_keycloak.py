"""Keycloak, its database, its clients' secrets and its realm as they are declared."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from components import databases, keycloak
from components.contracts_network import host_covered
from components.realm import NAMESPACE, issuer_url, sso_host
from components.versions import KEYCLOAK, POSTGRESQL
from platformctl.render.recorder import Recording, Registration
from tests.altered import recorded
from tests.graph import resource

STACKS = ("dev", "prod")


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


@pytest.fixture(scope="module")
def regrouped() -> Recording:
    """dev, with one group more."""
    return recorded("dev", {"keycloak": {"groups": ["platform-admins", "family", "guests"]}})


def of_kind(recording: Recording, kind: str, namespace: str = NAMESPACE) -> list[Registration]:
    return [
        found
        for found in recording.manifests
        if found.inputs["kind"] == kind and found.inputs["metadata"].get("namespace") == namespace
    ]


def job(recording: Recording) -> Registration:
    (found,) = of_kind(recording, "Job")
    return found


def realm_files(recording: Recording) -> dict[str, str]:
    (found,) = of_kind(recording, "ConfigMap")
    return found.inputs["data"]


def domain(recording: Recording) -> str:
    return recording.exports["domain"]


def container(owner: Registration) -> dict[str, Any]:
    (found,) = owner.inputs["spec"]["template"]["spec"]["containers"]
    return found


class TestOperator:
    def test_the_definitions_come_with_the_chart(self, recording: Recording) -> None:
        release = resource(recording, "HelmRelease", "cloudnative-pg").inputs["spec"]
        assert release["values"]["crds"] == {"create": True}
        assert release["targetNamespace"] == databases.NAMESPACE.name


class TestDatabase:
    def test_it_lies_on_a_named_class_with_the_size_of_the_stack(self, recordings: dict[str, Recording]) -> None:
        storage = {
            stack: resource(each, "Cluster", "keycloak-db").inputs["spec"]["storage"]
            for stack, each in recordings.items()
        }
        assert storage == {
            "dev": {"size": "2Gi", "storageClass": "longhorn"},
            "prod": {"size": "10Gi", "storageClass": "longhorn"},
        }

    def test_its_version_is_exact(self, recording: Recording) -> None:
        image = resource(recording, "Cluster", "keycloak-db").inputs["spec"]["imageName"]
        assert image == f"ghcr.io/cloudnative-pg/postgresql:{POSTGRESQL}"
        assert re.fullmatch(r"\d+\.\d+-system-[a-z]+", POSTGRESQL)

    def test_the_owner_has_the_generated_password(self, recording: Recording) -> None:
        initdb = resource(recording, "Cluster", "keycloak-db").inputs["spec"]["bootstrap"]["initdb"]
        credentials = resource(recording, "Secret", initdb["secret"]["name"]).inputs
        assert credentials["type"] == "kubernetes.io/basic-auth"
        assert credentials["stringData"]["password"] == "<secret generated keycloak-database>"

    def test_a_single_instance_does_not_keep_its_node_from_being_drained(self, recording: Recording) -> None:
        spec = resource(recording, "Cluster", "keycloak-db").inputs["spec"]
        assert (spec["instances"], spec["enablePDB"]) == (1, False)

    def test_several_instances_are_drained_one_at_a_time(self) -> None:
        several = recorded("prod", {"keycloak": {"database": {"instances": 3}}, "longhorn": {"replicas": 1}})
        assert resource(several, "Cluster", "keycloak-db").inputs["spec"]["enablePDB"] is True

    def test_only_keycloak_and_the_operator_reach_it(self, recording: Recording) -> None:
        policy = resource(recording, "NetworkPolicy", "keycloak-db").inputs["spec"]
        reached = {
            port["port"]: json.dumps(rule["from"], sort_keys=True)
            for rule in policy["ingress"]
            for port in rule["ports"]
            if len(rule["ports"]) == 1
        }
        assert policy["policyTypes"] == ["Ingress"]
        assert reached == {
            5432: '[{"podSelector": {"matchLabels": {"app.kubernetes.io/name": "keycloak"}}}]',
            9187: '[{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}]',
        }
        server = resource(recording, "Deployment", "keycloak").inputs["spec"]["template"]["metadata"]["labels"]
        assert server["app.kubernetes.io/name"] == "keycloak"

    def test_what_holds_accounts_is_protected_where_the_stack_protects(self, recording: Recording) -> None:
        stateful = [
            resource(recording, "Cluster", "keycloak-db"),
            resource(recording, "Secret", "keycloak-database"),
            resource(recording, "Secret", "keycloak-admin"),
            *(found for found in recording.registrations if found.name in ("keycloak-database", "keycloak-admin")),
        ]
        assert len(stateful) == 5
        assert {found.protect for found in stateful} == {recording.stack == "prod"}


class TestServer:
    def environment(self, recording: Recording) -> dict[str, Any]:
        entries = container(resource(recording, "Deployment", "keycloak"))["env"]
        return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in entries}

    def test_it_runs_its_own_image_at_an_exact_version(self, recording: Recording) -> None:
        image = container(resource(recording, "Deployment", "keycloak"))["image"]
        assert image == f"quay.io/keycloak/keycloak:{KEYCLOAK}"
        assert re.fullmatch(r"\d+\.\d+\.\d+", KEYCLOAK)

    def test_the_hostname_is_a_whole_address_behind_a_proxy(self, recording: Recording) -> None:
        environment = self.environment(recording)
        assert environment["KC_HOSTNAME"] == f"https://sso.{domain(recording)}"
        assert environment["KC_PROXY_HEADERS"] == "xforwarded"
        assert environment["KC_HTTP_ENABLED"] == "true"

    def test_no_option_of_the_old_hostname_provider_is_left(self, recording: Recording) -> None:
        old = {
            "KC_PROXY",
            "KC_HOSTNAME_URL",
            "KC_HOSTNAME_ADMIN_URL",
            "KC_HOSTNAME_STRICT_HTTPS",
            "KC_HOSTNAME_STRICT_BACKCHANNEL",
        }
        assert old.isdisjoint(self.environment(recording))
        assert {"KEYCLOAK_ADMIN", "KEYCLOAK_ADMIN_PASSWORD"}.isdisjoint(self.environment(recording))

    @pytest.mark.parametrize("probe", ["startupProbe", "readinessProbe", "livenessProbe"])
    def test_health_is_asked_on_the_management_port(self, probe: str, recording: Recording) -> None:
        server = container(resource(recording, "Deployment", "keycloak"))
        ports = {port["name"]: port["containerPort"] for port in server["ports"]}
        assert ports[server[probe]["httpGet"]["port"]] == 9000
        assert server[probe]["httpGet"]["path"].startswith("/health/")

    def test_it_finds_the_database_that_is_declared(self, recording: Recording) -> None:
        environment = self.environment(recording)
        cluster = resource(recording, "Cluster", "keycloak-db").inputs["spec"]["bootstrap"]["initdb"]
        assert environment["KC_DB_URL_HOST"] == "keycloak-db-rw"
        assert environment["KC_DB_URL_DATABASE"] == cluster["database"]
        assert environment["KC_DB_PASSWORD"]["secretKeyRef"] == {"name": cluster["secret"]["name"], "key": "password"}

    def test_every_password_comes_from_a_secret(self, recording: Recording) -> None:
        environment = self.environment(recording)
        secrets = {name for name, value in environment.items() if isinstance(value, dict)}
        assert {name for name in environment if re.search("PASSWORD|SECRET", name)} < secrets

    def test_two_versions_never_run_at_once(self, recording: Recording) -> None:
        assert resource(recording, "Deployment", "keycloak").inputs["spec"]["strategy"] == {"type": "Recreate"}

    def test_the_route_is_covered_by_the_wildcard(self, recording: Recording) -> None:
        (route,) = of_kind(recording, "HTTPRoute")
        assert route.inputs["spec"]["hostnames"] == [sso_host(domain(recording))]
        assert host_covered(sso_host(domain(recording)), domain(recording))
        assert keycloak.NAMESPACE.routes
        (backend,) = route.inputs["spec"]["rules"][0]["backendRefs"]
        ports = {
            port["port"]: port["name"] for port in resource(recording, "Service", "keycloak").inputs["spec"]["ports"]
        }
        assert (backend["name"], ports[backend["port"]]) == ("keycloak", "http")


class TestReconciliation:
    def test_the_job_is_named_by_its_content(self, recordings: dict[str, Recording], regrouped: Recording) -> None:
        name = job(recordings["dev"]).inputs["metadata"]["name"]
        assert re.fullmatch(r"realm-[0-9a-f]{10}", name)
        assert job(regrouped).inputs["metadata"]["name"] != name
        # The engine still sees the same resource, which is replaced: the old Job goes.
        assert job(regrouped).name == job(recordings["dev"]).name == "keycloak/realm"

    def test_the_job_reads_the_files_that_its_name_stands_for(self, recording: Recording) -> None:
        found = job(recording)
        volumes = {volume["name"]: volume for volume in found.inputs["spec"]["template"]["spec"]["volumes"]}
        assert volumes["files"]["configMap"]["name"] == found.inputs["metadata"]["name"]
        command = container(found)["command"]
        mounts = {mount["name"]: mount["mountPath"] for mount in container(found)["volumeMounts"]}
        assert command == ["/bin/bash", f"{mounts['files']}/realm-reconcile.sh"]
        assert realm_files(recording)["realm-reconcile.sh"].startswith("#!/bin/bash")

    def test_every_client_has_its_file_and_its_secret(self, recording: Recording) -> None:
        volumes = {volume["name"]: volume for volume in job(recording).inputs["spec"]["template"]["spec"]["volumes"]}
        mounted = {
            source["secret"]["items"][0]["path"]: source["secret"]["name"]
            for source in volumes["secrets"]["projected"]["sources"]
        }
        files = {name for name in realm_files(recording) if name.startswith("client.")}
        assert files == {f"client.{client_id}.json" for client_id in mounted}
        assert "grafana" in mounted
        for client_id, name in mounted.items():
            value = resource(recording, "Secret", name).inputs["stringData"]["client-secret"]
            assert value == f"<secret generated oidc-{client_id}>"

    def test_the_consumer_has_the_same_secret_as_the_realm(self, recording: Recording) -> None:
        theirs = {
            found.name: found.inputs["stringData"]["client-secret"]
            for found in recording.manifests
            if found.inputs["kind"] == "Secret" and "client-secret" in found.inputs.get("stringData", {})
        }
        grafana = {name for name, value in theirs.items() if value == "<secret generated oidc-grafana>"}
        assert grafana == {"monitoring/grafana-oidc", "keycloak/oidc-grafana"}

    def test_a_new_secret_runs_the_job_again_and_gives_nothing_away(self, recording: Recording) -> None:
        annotations = job(recording).inputs["spec"]["template"]["metadata"]["annotations"]
        assert re.fullmatch(r"[0-9a-f]{16}", annotations["home.platform/client-secrets"])

    def test_no_secret_is_in_the_files(self, recording: Recording) -> None:
        clients = [json.loads(text) for name, text in realm_files(recording).items() if name.startswith("client.")]
        assert clients
        assert [client["clientId"] for client in clients if "secret" in client] == []

    def test_everything_that_is_written_is_in_memory(self, recording: Recording) -> None:
        volumes = {volume["name"]: volume for volume in job(recording).inputs["spec"]["template"]["spec"]["volumes"]}
        assert volumes["tmp"]["emptyDir"]["medium"] == "Memory"
        assert container(job(recording))["securityContext"]["readOnlyRootFilesystem"] is True

    def test_drift_is_repaired_every_night_by_the_same_pod(self, recording: Recording) -> None:
        nightly = resource(recording, "CronJob", "realm-drift").inputs["spec"]
        assert nightly["jobTemplate"]["spec"]["template"] == job(recording).inputs["spec"]["template"]
        assert nightly["concurrencyPolicy"] == "Forbid"

    def test_a_job_that_failed_is_made_anew(self, recording: Recording) -> None:
        assert job(recording).inputs["metadata"]["annotations"]["pulumi.com/replaceUnready"] == "true"

    def test_grafana_comes_back_to_its_own_address_only(self, recording: Recording) -> None:
        client = json.loads(realm_files(recording)["client.grafana.json"])
        assert client["redirectUris"] == [f"https://grafana.{domain(recording)}/login/generic_oauth"]

    def test_the_groups_are_those_of_the_stack(self, regrouped: Recording) -> None:
        groups = {name for name in realm_files(regrouped) if name.startswith("group.")}
        assert groups == {"group.family.json", "group.guests.json", "group.platform-admins.json"}


def test_pods_fit_the_level_restricted(recording: Recording) -> None:
    assert keycloak.NAMESPACE.pod_security == databases.NAMESPACE.pod_security == "restricted"
    for owner in (resource(recording, "Deployment", "keycloak"), job(recording)):
        pod = owner.inputs["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container(owner)["securityContext"]["allowPrivilegeEscalation"] is False
        assert container(owner)["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container(owner)["resources"]["requests"].keys() == {"cpu", "memory"}


def test_the_issuer_is_what_the_server_calls_itself(recording: Recording) -> None:
    entries = container(resource(recording, "Deployment", "keycloak"))["env"]
    hostname = next(entry["value"] for entry in entries if entry["name"] == "KC_HOSTNAME")
    assert issuer_url(domain(recording)) == f"{hostname}/realms/home"
