"""What monitoring must do, seen on the manifests that the program declares."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest

from components import monitoring, velero
from components.contracts_monitoring import logs_fit_their_volume, metrics_fit_their_volume
from components.monitoring.grafana import role_expression
from components.settings import Settings
from platformctl.local import crds
from platformctl.paths import CHECKOUT
from platformctl.render.recorder import Recording
from platformctl.stackfile import load_settings
from tests.graph import resource

STACKS = ("dev", "prod")
MEBIBYTE = 2**20


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


def values(recording: Recording, release: str) -> dict[str, Any]:
    return resource(recording, "HelmRelease", release).inputs["spec"]["values"]


def settings(recording: Recording) -> Settings:
    return load_settings(recording.stack)


class TestCrds:
    def test_they_outlive_an_uninstall(self, recording: Recording) -> None:
        crds_values = values(recording, "prometheus-operator-crds")["crds"]
        assert crds_values == {"annotations": {"helm.sh/resource-policy": "keep"}}

    def test_no_second_release_owns_them(self, recording: Recording) -> None:
        assert values(recording, "kube-prometheus-stack")["crds"] == {"enabled": False}
        assert values(recording, "alloy")["crds"] == {"create": False}

    def test_they_are_those_of_the_operator(self) -> None:
        names = {
            kind for found in crds.bundle("prometheus-operator").objects for kind in [found["spec"]["names"]["kind"]]
        }
        assert {"PrometheusRule", "PodMonitor", "ServiceMonitor"} <= names


class TestStack:
    def test_what_k3s_does_not_run_is_neither_scraped_nor_alerted_on(self, recording: Recording) -> None:
        stack = values(recording, "kube-prometheus-stack")
        for absent in ("kubeControllerManager", "kubeScheduler", "kubeEtcd", "kubeProxy"):
            assert stack[absent] == {"enabled": False}
        off = {name for name, on in stack["defaultRules"]["rules"].items() if not on}
        assert off >= {"etcd", "kubeControllerManager", "kubeProxy", "kubeSchedulerAlerting", "kubeSchedulerRecording"}

    def test_the_charts_watchdog_and_its_alerts_on_pods_and_volumes_stay(self, recording: Recording) -> None:
        rules = values(recording, "kube-prometheus-stack")["defaultRules"]
        assert not {"general", "kubernetesApps", "kubernetesStorage", "node"} & rules["rules"].keys()
        assert "disabled" not in rules

    def test_the_monitors_and_rules_of_every_component_are_read(self, recording: Recording) -> None:
        prometheus = values(recording, "kube-prometheus-stack")["prometheus"]["prometheusSpec"]
        for kind in ("serviceMonitor", "podMonitor", "probe", "rule", "scrapeConfig"):
            assert prometheus[f"{kind}SelectorNilUsesHelmValues"] is False

    def test_retention_is_by_age_and_by_a_size_that_the_crd_accepts(self, recording: Recording) -> None:
        wanted = settings(recording).monitoring.prometheus
        prometheus = values(recording, "kube-prometheus-stack")["prometheus"]["prometheusSpec"]
        assert prometheus["retention"] == wanted.retention
        assert prometheus["retentionSize"] == f"{wanted.retention_size}B"
        assert re.fullmatch(_prometheus_pattern("retentionSize"), prometheus["retentionSize"])

    def test_alertmanager_reads_its_configuration_from_the_sops_secret(self, recording: Recording) -> None:
        alertmanager = values(recording, "kube-prometheus-stack")["alertmanager"]["alertmanagerSpec"]
        assert alertmanager["useExistingSecret"] is True
        assert alertmanager["configSecret"] == "alertmanager-config"
        file = CHECKOUT / f"platform/secrets/{recording.stack}/monitoring/alertmanager-config.sops.yaml"
        assert "alertmanager.yaml" in file.read_text()

    def test_every_volume_names_its_class_and_has_the_size_of_the_stack(self, recording: Recording) -> None:
        wanted = settings(recording).monitoring
        stack = values(recording, "kube-prometheus-stack")
        for claim, volume in (
            (stack["prometheus"]["prometheusSpec"]["storageSpec"], wanted.prometheus.volume),
            (stack["alertmanager"]["alertmanagerSpec"]["storage"], wanted.alertmanager.volume),
        ):
            spec = claim["volumeClaimTemplate"]["spec"]
            assert spec["storageClassName"] == volume.storage_class
            assert spec["resources"]["requests"]["storage"] == volume.size
        assert stack["grafana"]["persistence"]["storageClassName"] == wanted.grafana.volume.storage_class
        assert stack["grafana"]["persistence"]["size"] == wanted.grafana.volume.size
        loki = values(recording, "loki")["singleBinary"]["persistence"]
        assert (loki["storageClass"], loki["size"]) == (wanted.loki.volume.storage_class, wanted.loki.volume.size)

    def test_a_slow_first_installation_is_given_half_an_hour(self, recording: Recording) -> None:
        assert resource(recording, "HelmRelease", "kube-prometheus-stack").inputs["spec"]["timeout"] == "30m"


def _prometheus_pattern(field: str) -> str:
    definition = next(
        found for found in crds.bundle("prometheus-operator").objects if found["spec"]["names"]["kind"] == "Prometheus"
    )
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema["properties"]["spec"]["properties"][field]["pattern"]


class TestGrafana:
    def test_its_secrets_come_by_name(self, recording: Recording) -> None:
        grafana = values(recording, "kube-prometheus-stack")["grafana"]
        assert grafana["admin"]["existingSecret"] == "grafana-admin"
        client = grafana["envValueFrom"]["GF_AUTH_GENERIC_OAUTH_CLIENT_SECRET"]["secretKeyRef"]
        assert client == {"name": "grafana-oidc", "key": "client-secret"}
        assert "client_secret" not in grafana["grafana.ini"]["auth.generic_oauth"]

    def test_two_pods_never_share_its_volume(self, recording: Recording) -> None:
        assert values(recording, "kube-prometheus-stack")["grafana"]["deploymentStrategy"] == {"type": "Recreate"}

    def test_its_host_is_one_label_below_the_domain(self, recording: Recording) -> None:
        domain = settings(recording).domain
        server = values(recording, "kube-prometheus-stack")["grafana"]["grafana.ini"]["server"]
        assert server == {"domain": f"grafana.{domain}", "root_url": f"https://grafana.{domain}/"}
        for interface in (monitoring.GRAFANA, monitoring.PROMETHEUS, monitoring.ALERTMANAGER):
            label, _, rest = interface.host(domain).partition(".")
            assert label
            assert rest == domain

    def test_people_sign_in_at_the_realm_and_come_back_to_grafana(self, recording: Recording) -> None:
        domain = settings(recording).domain
        oauth = values(recording, "kube-prometheus-stack")["grafana"]["grafana.ini"]["auth.generic_oauth"]
        realm = f"https://sso.{domain}/realms/home"
        assert oauth["auth_url"] == f"{realm}/protocol/openid-connect/auth"
        assert oauth["scopes"].split() == ["openid", "email", "profile", "groups"]
        client = monitoring.oidc_client(domain, {"admins": "Admin"})
        assert client.client_id == oauth["client_id"]
        assert client.redirect_uris == (f"https://grafana.{domain}/login/generic_oauth",)

    def test_only_members_of_a_group_with_a_role_come_in(self, recording: Recording) -> None:
        oauth = values(recording, "kube-prometheus-stack")["grafana"]["grafana.ini"]["auth.generic_oauth"]
        groups = oauth["allowed_groups"].split()
        assert groups
        assert oauth["role_attribute_strict"] is True
        assert all(f"'{group}'" in oauth["role_attribute_path"] for group in groups)

    def test_the_first_group_decides_the_role(self) -> None:
        expression = role_expression({"admins": "Admin", "family": "Viewer"})
        assert expression == "contains(groups[*], 'admins') && 'Admin' || contains(groups[*], 'family') && 'Viewer'"

    def test_logs_are_a_data_source_at_lokis_service(self, recording: Recording) -> None:
        (source,) = values(recording, "kube-prometheus-stack")["grafana"]["additionalDataSources"]
        assert (source["type"], source["uid"]) == ("loki", "loki")
        assert source["url"] == "http://loki.monitoring.svc.cluster.local:3100"


class TestLoki:
    def test_it_is_one_process_without_caches_and_gateway(self, recording: Recording) -> None:
        loki = values(recording, "loki")
        assert loki["deploymentMode"] == "Monolithic"
        assert loki["singleBinary"]["replicas"] == 1
        assert [loki[target]["replicas"] for target in ("read", "write", "backend")] == [0, 0, 0]
        for part in ("chunksCache", "resultsCache", "gateway", "lokiCanary", "test"):
            assert loki[part] == {"enabled": False}
        assert loki["loki"]["commonConfig"]["replication_factor"] == 1

    def test_old_logs_are_really_deleted(self, recording: Recording) -> None:
        loki = values(recording, "loki")["loki"]
        days = int(settings(recording).monitoring.loki.retention.removesuffix("d"))
        assert loki["limits_config"]["retention_period"] == f"{days * 24}h"
        assert loki["compactor"]["retention_enabled"] is True
        assert loki["compactor"]["delete_request_store"] == loki["storage"]["type"] == "filesystem"

    def test_the_schema_is_the_one_that_was_started_with(self, recording: Recording) -> None:
        (schema,) = values(recording, "loki")["loki"]["schemaConfig"]["configs"]
        assert schema == {
            "from": "2024-04-01",
            "store": "tsdb",
            "object_store": "filesystem",
            "schema": "v13",
            "index": {"prefix": "loki_index_", "period": "24h"},
        }


class TestAlloy:
    def test_each_collector_reads_the_pods_of_its_own_node(self, recording: Recording) -> None:
        alloy = values(recording, "alloy")
        assert alloy["controller"]["type"] == "daemonset"
        content = alloy["alloy"]["configMap"]["content"]
        pods = re.search(r'discovery\.kubernetes "pods" \{(.*?)\n\}', content, re.S)
        assert pods
        assert '"spec.nodeName=" + coalesce(sys.env("HOSTNAME"), constants.hostname)' in pods[1]

    def test_nothing_in_it_is_taken_for_a_variable_of_flux(self, recording: Recording) -> None:
        assert "${" not in values(recording, "alloy")["alloy"]["configMap"]["content"]

    def test_every_name_that_it_reads_from_its_environment_is_set(self, recording: Recording) -> None:
        alloy = values(recording, "alloy")["alloy"]
        read = set(re.findall(r'sys\.env\("(\w+)"\)', alloy["configMap"]["content"]))
        given = {entry["name"]: entry["value"] for entry in alloy["extraEnv"]}
        # The chart sets HOSTNAME to the node's name.
        assert read == {*given, "HOSTNAME"}
        assert given["LOKI_URL"] == "http://loki.monitoring.svc.cluster.local:3100"
        assert given["CLUSTER"] == recording.stack

    def test_every_component_that_it_refers_to_exists(self, recording: Recording) -> None:
        content = values(recording, "alloy")["alloy"]["configMap"]["content"]
        declared = {f"{kind}.{label}" for kind, label in re.findall(r'^([a-z.]+) "(\w+)" \{', content, re.M)}
        used = re.findall(r"\b((?:discovery|loki)\.[a-z]+(?:\.[a-z]+)?)\.(?:targets|output|receiver)\b", content)
        assert used
        assert set(used) <= declared
        assert content.count("{") == content.count("}")

    def test_it_may_not_read_secrets(self, recording: Recording) -> None:
        rbac = values(recording, "alloy")["rbac"]
        granted = {name for rule in (*rbac["rules"], *rbac["clusterRules"]) for name in rule["resources"]}
        assert granted == {"pods", "pods/log", "namespaces", "nodes"}


def alerts(recording: Recording) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for rule in recording.manifests:
        if rule.inputs["kind"] == "PrometheusRule":
            for entry in (entry for group in rule.inputs["spec"]["groups"] for entry in group["rules"]):
                found.setdefault(entry["alert"], []).append(entry)
    return found


class TestAlerts:
    def test_the_expressions_are_promql(self, recording: Recording) -> None:
        for entry in (entry for entries in alerts(recording).values() for entry in entries):
            promql_parser.parse(entry["expr"])

    def test_a_broken_expression_would_be_found(self) -> None:
        with pytest.raises(ValueError, match="braces"):
            promql_parser.parse('up{job="x"')

    @pytest.mark.parametrize(
        ("name", "metric"),
        [
            ("FluxObjectNotReady", "gotk_resource_info"),
            ("CertificateNearExpiry", "certmanager_certificate_expiration_timestamp_seconds"),
            ("VolumeDegraded", "longhorn_volume_robustness"),
            ("BackupMissing", "velero_backup_last_successful_timestamp"),
        ],
    )
    def test_what_the_platform_must_not_miss_is_watched(self, name: str, metric: str, recording: Recording) -> None:
        assert alerts(recording)[name]
        assert all(metric in entry["expr"] for entry in alerts(recording)[name])

    @pytest.mark.parametrize(
        "metric",
        [
            "gotk_resource_info",
            "certmanager_certificate_expiration_timestamp_seconds",
            "longhorn_volume_robustness",
        ],
    )
    def test_a_metric_that_is_gone_is_an_alert_too(self, metric: str, recording: Recording) -> None:
        expressions = [entry["expr"] for entries in alerts(recording).values() for entry in entries]
        assert f"absent({metric})" in expressions

    def test_every_schedule_of_velero_is_watched_with_its_own_gap(self, recording: Recording) -> None:
        schedules = {f"velero-{name}" for name in values(recording, "velero")["schedules"]}
        assert velero.expected_backups(settings(recording).velero).keys() == schedules
        for name in ("BackupMissing", "BackupNeverSucceeded"):
            watched = {match[1] for entry in alerts(recording)[name] if (match := _schedule(entry["expr"]))}
            assert watched == schedules

    def test_every_alert_says_how_bad_it_is_and_where_to_read_on(self, recording: Recording) -> None:
        for name, entries in alerts(recording).items():
            for entry in entries:
                assert entry["labels"]["severity"] in ("info", "warning", "critical"), name
                assert entry["annotations"]["summary"], name
                assert (CHECKOUT / entry["annotations"]["runbook"]).exists(), name

    def test_templates_name_labels_that_the_expression_keeps(self, recording: Recording) -> None:
        for entry in (entry for entries in alerts(recording).values() for entry in entries):
            kept = re.findall(r"by \(([^)]*)\)", entry["expr"])
            used = set(re.findall(r"\$labels\.(\w+)", json.dumps(entry["annotations"])))
            assert used <= {label.strip() for labels in kept for label in labels.split(",")}, entry["alert"]


def _schedule(expression: str) -> re.Match[str] | None:
    return re.search(r'schedule="([^"]+)"', expression)


class TestFlux:
    def test_every_kind_with_a_condition_ready_is_reported(self, recording: Recording) -> None:
        reported = {
            (kind["group"], kind["version"], kind["kind"])
            for kind in (entry["groupVersionKind"] for entry in _state_resources(recording))
        }
        used = {
            (*found.inputs["apiVersion"].split("/"), found.inputs["kind"])
            for found in recording.manifests
            if found.inputs["apiVersion"].split("/")[0].endswith(("toolkit.fluxcd.io", "controlplane.io"))
        }
        silent = {("notification.toolkit.fluxcd.io", "v1beta3", kind) for kind in ("Alert", "Provider")}
        assert used - silent <= reported

    def test_kinds_and_plurals_are_those_of_the_crds(self, recording: Recording) -> None:
        served = {
            (found["spec"]["group"], version["name"], found["spec"]["names"]["kind"]): found["spec"]["names"]["plural"]
            for name in ("flux", "flux-operator")
            for found in crds.bundle(name).objects
            for version in found["spec"]["versions"]
            if version["served"]
        }
        rules = values(recording, "kube-prometheus-stack")["kube-state-metrics"]["rbac"]["extraRules"]
        readable = {(group, plural) for rule in rules for group in rule["apiGroups"] for plural in rule["resources"]}
        for entry in _state_resources(recording):
            kind = entry["groupVersionKind"]
            plural = served[kind["group"], kind["version"], kind["kind"]]
            assert (kind["group"], plural) in readable

    def test_the_metric_has_the_labels_that_alerts_and_dashboards_use(self, recording: Recording) -> None:
        for entry in _state_resources(recording):
            (metric,) = entry["metrics"]
            assert f"{entry['metricNamePrefix']}_{metric['name']}" == "gotk_resource_info"
            labels = {*metric["labelsFromPath"], *metric["each"]["info"]["labelsFromPath"]}
            assert labels == {"name", "exported_namespace", "ready", "suspended"}

    def test_its_controllers_are_scraped(self, recording: Recording) -> None:
        spec = resource(recording, "PodMonitor", "flux-controllers").inputs["spec"]
        assert spec["namespaceSelector"] == {"matchNames": ["flux-system"]}
        assert spec["podMetricsEndpoints"] == [{"port": "http-prom"}]


def _state_resources(recording: Recording) -> list[dict[str, Any]]:
    state = values(recording, "kube-prometheus-stack")["kube-state-metrics"]["customResourceState"]
    assert state["enabled"] is True
    return state["config"]["spec"]["resources"]


class TestDashboards:
    def test_every_file_is_a_configmap_that_the_sidecar_finds(self, recording: Recording) -> None:
        found = {name: text for config in _dashboards(recording) for name, text in config["data"].items()}
        assert found == {path.name: path.read_text() for path in Path(CHECKOUT / "dashboards").glob("*.json")}
        sidecar = values(recording, "kube-prometheus-stack")["grafana"]["sidecar"]["dashboards"]
        for config in _dashboards(recording):
            metadata = config["metadata"]
            assert metadata["labels"][sidecar["label"]] == sidecar["labelValue"] == "1"
            assert metadata["annotations"]["kustomize.toolkit.fluxcd.io/substitute"] == "disabled"
            assert metadata["annotations"][sidecar["folderAnnotation"]]
            assert sum(len(text.encode()) for text in config["data"].values()) < MEBIBYTE

    def test_nothing_in_them_is_taken_for_a_variable_of_flux(self, recording: Recording) -> None:
        assert "${" not in json.dumps(_dashboards(recording))

    def test_every_panel_asks_a_data_source_that_exists(self, recording: Recording) -> None:
        grafana = values(recording, "kube-prometheus-stack")["grafana"]
        known = {source["uid"] for source in grafana["additionalDataSources"]}
        known.add(grafana["sidecar"]["datasources"]["uid"])
        assert {target["datasource"]["uid"] for target in _targets(recording)} == known

    def test_every_panels_expression_is_promql(self, recording: Recording) -> None:
        expressions = [each["expr"] for each in _targets(recording) if each["datasource"]["type"] == "prometheus"]
        assert len(expressions) > 20
        for expression in expressions:
            promql_parser.parse(expression.replace("$__rate_interval", "5m"))

    def test_dashboards_and_panels_have_names_of_their_own(self, recording: Recording) -> None:
        texts = [json.loads(text) for config in _dashboards(recording) for text in config["data"].values()]
        assert len({dashboard["uid"] for dashboard in texts}) == len(texts)
        for dashboard in texts:
            numbers = [panel["id"] for panel in dashboard["panels"]]
            assert len(set(numbers)) == len(numbers)


def _dashboards(recording: Recording) -> list[dict[str, Any]]:
    found = [
        dict(each.inputs)
        for each in recording.manifests
        if each.inputs["kind"] == "ConfigMap" and each.inputs["metadata"]["name"].startswith("dashboard-")
    ]
    assert found
    return found


def _targets(recording: Recording) -> Iterator[dict[str, Any]]:
    for config in _dashboards(recording):
        for text in config["data"].values():
            for panel in json.loads(text)["panels"]:
                yield from panel["targets"]


class TestRetentionAgainstSize:
    @pytest.mark.parametrize(
        ("size", "limit", "nodes", "retention", "complaints"),
        [
            ("10Gi", "8Gi", 1, "20d", 0),
            ("10Gi", "9Gi", 1, "20d", 1),
            ("10Gi", "8Gi", 1, "21d", 1),
            ("10Gi", "8Gi", 3, "20d", 1),
            ("10Gi", "9Gi", 3, "20d", 2),
        ],
    )
    def test_metrics(self, size: str, limit: str, nodes: int, retention: str, complaints: int) -> None:
        changed = _minimal(nodes, prometheus={"retention": retention, "retentionSize": limit, "volume": {"size": size}})
        assert len(list(metrics_fit_their_volume(changed))) == complaints

    @pytest.mark.parametrize(("nodes", "retention", "complaints"), [(1, "33d", 0), (1, "34d", 1), (2, "33d", 1)])
    def test_logs(self, nodes: int, retention: str, complaints: int) -> None:
        changed = _minimal(nodes, loki={"retention": retention, "volume": {"size": "5Gi"}})
        assert len(list(logs_fit_their_volume(changed))) == complaints


def _minimal(nodes: int, **changes: Any) -> Settings:
    from tests.unit.test_contracts import settings as changed

    return changed({"cluster": {"nodes": nodes}, "monitoring": changes})
