"""What components must agree on: each contract as a function, one test for each way to break it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from components import contracts
from components.cilium import load_bootstrap, platform_values
from components.contracts import bootstrap_disagreements, merged
from components.settings import Settings
from platformctl.paths import CHECKOUT
from platformctl.stackfile import load_settings, stacks

VALID = Path(__file__).parent.parent / "config" / "valid"
STACKS = ("dev", "prod")


def settings(changes: Mapping[str, Any]) -> Settings:
    """The minimal stack with some values changed, by camelCase key."""
    minimal = load_settings("test", VALID / "minimal.yaml").model_dump(by_alias=True)
    return Settings.model_validate(merged(minimal, changes))


def cluster(**changes: Any) -> Settings:
    return settings({"cluster": changes})


def test_the_minimal_stack_keeps_every_contract() -> None:
    assert contracts.broken("test", settings({})) == []


@pytest.mark.parametrize(("host", "key"), [("10.43.0.1", "serviceCidr"), ("10.42.255.255", "podCidr")])
def test_the_api_server_is_outside_the_clusters_networks(host: str, key: str) -> None:
    (sentence,) = contracts.api_server_outside_cluster_networks(cluster(apiServer={"host": host}))
    assert f"home:cluster.apiServer.host is {host}, inside home:cluster.{key}" in sentence


@pytest.mark.parametrize("host", ["10.41.255.255", "10.44.0.0", "192.168.20.10"])
def test_an_address_next_to_the_clusters_networks_is_fine(host: str) -> None:
    assert not list(contracts.api_server_outside_cluster_networks(cluster(apiServer={"host": host})))


@pytest.mark.parametrize(
    ("pods", "services"),
    [("10.42.0.0/16", "10.42.0.0/16"), ("10.0.0.0/8", "10.43.0.0/16"), ("10.42.128.0/17", "10.42.0.0/16")],
)
def test_pods_and_services_do_not_share_addresses(pods: str, services: str) -> None:
    (sentence,) = contracts.cluster_networks_apart(cluster(podCidr=pods, serviceCidr=services))
    assert f"home:cluster.podCidr {pods} overlaps home:cluster.serviceCidr {services}" in sentence


@pytest.mark.parametrize("domain", ["example.com", "notexample.org", "example.org.evil.net"])
def test_a_domain_outside_the_zone_is_refused(domain: str) -> None:
    (sentence,) = contracts.domain_inside_zone(settings({"domain": domain}))
    assert f"home:domain {domain} is not in it" in sentence


@pytest.mark.parametrize("domain", ["example.org", "home.example.org", "a.b.example.org"])
def test_the_zone_itself_and_everything_below_is_inside(domain: str) -> None:
    assert not list(contracts.domain_inside_zone(settings({"domain": domain})))


@pytest.mark.parametrize(
    ("component", "field"),
    [("cilium", "operatorReplicas"), ("kyverno", "replicas"), ("certManager", "replicas"), ("snapshots", "replicas")],
)
def test_replicas_beyond_the_nodes_are_refused(component: str, field: str) -> None:
    fitting = settings({"cluster": {"nodes": 2}, component: {field: 2}})
    assert not list(contracts.replicas_fit_nodes(fitting))
    (sentence,) = contracts.replicas_fit_nodes(settings({"cluster": {"nodes": 2}, component: {field: 3}}))
    assert f"home:{component}.{field} is 3, but home:cluster.nodes is 2" in sentence


@pytest.mark.parametrize(("policy", "replicas", "mistakes"), [("Fail", 2, 1), ("Fail", 3, 0), ("Ignore", 1, 0)])
def test_failing_closed_needs_three_replicas(policy: str, replicas: int, mistakes: int) -> None:
    changed = settings({"kyverno": {"failurePolicy": policy, "replicas": replicas}})
    assert len(list(contracts.fail_closed_needs_replicas(changed))) == mistakes


def test_broken_contracts_name_the_stack_file_and_come_all_at_once() -> None:
    both = settings({"domain": "example.com", "kyverno": {"failurePolicy": "Fail"}})
    found = contracts.broken("dev", both)
    assert len(found) == 2
    assert all(sentence.startswith("Pulumi.dev.yaml: home:") for sentence in found)


@pytest.mark.parametrize(
    ("bootstrap", "platform", "path", "left", "right"),
    [
        ({"a": 1}, {"a": 2}, "a", "1", "2"),
        ({"a": "true"}, {"a": True}, "a", '"true"', "true"),
        ({"a": 1}, {"a": True}, "a", "1", "true"),
        ({"a": None}, {"a": False}, "a", "null", "false"),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, "a.b.c", "1", "2"),
        ({"a": [1, 2]}, {"a": [2, 1]}, "a", "[1, 2]", "[2, 1]"),
        ({"a": [1]}, {"a": [True]}, "a", "[1]", "[true]"),
        ({"a": [{"b": 1}]}, {"a": [{"b": "1"}]}, "a", '[{"b": 1}]', '[{"b": "1"}]'),
        ({"a": {"b": 1}}, {"a": 1}, "a", '{"b": 1}', "1"),
        ({"a": "eno1"}, {"a": ["eno1"]}, "a", '"eno1"', '["eno1"]'),
    ],
)
def test_a_value_that_both_set_must_be_equal(
    bootstrap: dict[str, Any], platform: dict[str, Any], path: str, left: str, right: str
) -> None:
    (sentence,) = bootstrap_disagreements(bootstrap, platform)
    assert sentence.startswith(f"bootstrap/cilium-values.yaml: {path} is {left}, but the platform sets {right};")


@pytest.mark.parametrize(
    ("bootstrap", "platform"),
    [
        ({}, {"a": 1}),
        ({"a": 1}, {}),
        ({"a": {"b": 1}}, {"a": {"c": 2}}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2, "b": 1}}),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"c": 2, "b": 1}]}),
    ],
)
def test_what_only_one_sets_or_both_set_alike_is_no_disagreement(
    bootstrap: dict[str, Any], platform: dict[str, Any]
) -> None:
    assert bootstrap_disagreements(bootstrap, platform) == []


def test_every_disagreement_is_found() -> None:
    found = bootstrap_disagreements({"a": 1, "b": {"c": 1}, "d": 1}, {"a": 2, "b": {"c": 2}, "d": 1})
    assert [sentence.split()[1] for sentence in found] == ["a", "b.c"]


@pytest.mark.parametrize(
    ("base", "extra", "result"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {"a": 2}, {"a": 2}),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        ({"a": {"b": {"c": 1, "d": 1}}}, {"a": {"b": {"d": 2}}}, {"a": {"b": {"c": 1, "d": 2}}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"b": 1}}, {"a": 1}, {"a": 1}),
        ({"a": 1}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ],
)
def test_merged_is_deep_and_the_second_wins(
    base: dict[str, Any], extra: dict[str, Any], result: dict[str, Any]
) -> None:
    assert merged(base, extra) == result


def test_merged_leaves_its_arguments_alone() -> None:
    base, extra = {"a": {"b": 1}}, {"a": {"c": 2}}
    merged(base, extra)
    assert (base, extra) == ({"a": {"b": 1}}, {"a": {"c": 2}})


@pytest.mark.parametrize("stack", STACKS)
def test_the_stacks_keep_every_contract(stack: str) -> None:
    own = load_settings(stack)
    bootstrap = load_bootstrap(CHECKOUT / contracts.BOOTSTRAP_FILE)
    assert contracts.broken(stack, own) == []
    assert bootstrap_disagreements(bootstrap, platform_values(own)) == []
    # Without a value in common the line above could not fail.
    assert bootstrap.keys() & platform_values(own).keys() >= {"kubeProxyReplacement"}


def test_the_contract_with_ansible_can_fail() -> None:
    bootstrap = {**load_bootstrap(CHECKOUT / contracts.BOOTSTRAP_FILE), "kubeProxyReplacement": "true"}
    (sentence,) = bootstrap_disagreements(bootstrap, platform_values(load_settings("dev")))
    assert 'kubeProxyReplacement is "true", but the platform sets true' in sentence


def keys(value: Any, at: str = "") -> set[str]:
    if not isinstance(value, dict):
        return {at}
    return {at} | {found for key, inner in value.items() for found in keys(inner, f"{at}.{key}")}


def test_dev_and_prod_have_the_same_keys_and_different_values() -> None:
    dev, prod = (yaml.safe_load((CHECKOUT / f"Pulumi.{stack}.yaml").read_text())["config"] for stack in STACKS)
    secrets = {".home:deployKey", ".home:deployKey.secure", ".home:ageKey", ".home:ageKey.secure"}
    assert keys(dev) - secrets == keys(prod) - secrets
    for key in ("home:domain", "home:cluster", "home:kyverno", "home:certManager"):
        assert dev[key] != prod[key], f"{key} is the same in both stacks"


def test_dev_and_prod_are_the_stacks() -> None:
    assert stacks() == list(STACKS)
