"""What two components must agree on, as pure functions: each returns one sentence for each way it is broken."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from components.contracts_identity import IDENTITY_RULES
from components.contracts_machines import MACHINE_RULES
from components.contracts_monitoring import MONITORING_RULES
from components.contracts_network import NETWORK_RULES
from components.contracts_storage import STORAGE_RULES
from components.settings import Settings

BOOTSTRAP_FILE = "bootstrap/cilium-values.yaml"
# What Flux pushes new image tags to; a pull request takes them from there.
IMAGE_UPDATES_BRANCH = "flux/image-updates"


def broken(stack: str, settings: Settings) -> list[str]:
    """Every broken contract of the stack's own values."""
    return [f"Pulumi.{stack}.yaml: {sentence}" for rule in STACK_RULES for sentence in rule(settings)]


def api_server_outside_cluster_networks(settings: Settings) -> Iterator[str]:
    """Without kube-proxy nobody answers on a ClusterIP before cilium runs, so cilium must not need one."""
    cluster = settings.cluster
    for key, network in (("serviceCidr", cluster.service_cidr), ("podCidr", cluster.pod_cidr)):
        if cluster.api_server.host in network:
            yield (
                f"home:cluster.apiServer.host is {cluster.api_server.host}, inside home:cluster.{key} {network}; "
                "it must be the address of a node or a virtual IP in front of the nodes"
            )


def cluster_networks_apart(settings: Settings) -> Iterator[str]:
    """Pods and Services must not share addresses."""
    cluster = settings.cluster
    if cluster.pod_cidr.overlaps(cluster.service_cidr):
        yield (
            f"home:cluster.podCidr {cluster.pod_cidr} overlaps home:cluster.serviceCidr {cluster.service_cidr}; "
            "give them networks of their own, such as 10.42.0.0/16 and 10.43.0.0/16"
        )


def domain_inside_zone(settings: Settings) -> Iterator[str]:
    """The DNS-01 challenge is solved in the zone, so it must contain the domain."""
    domain, zone = settings.domain, settings.cert_manager.dns_zone
    if domain != zone and not domain.endswith(f".{zone}"):
        yield (
            f"home:certManager.dnsZone is {zone}, but home:domain {domain} is not in it; "
            "name the Cloudflare zone that holds the domain"
        )


def replicas_fit_nodes(settings: Settings) -> Iterator[str]:
    """Replicas that spread over nodes cannot be more than the nodes."""
    nodes = settings.cluster.nodes
    wanted = {
        "cilium.operatorReplicas": settings.cilium.operator_replicas,
        "kyverno.replicas": settings.kyverno.replicas,
        "certManager.replicas": settings.cert_manager.replicas,
        "snapshots.replicas": settings.snapshots.replicas,
        "userInterfaces.proxyReplicas": settings.user_interfaces.proxy_replicas,
        "kubevirt.replicas": settings.kubevirt.replicas,
        "keycloak.instances": settings.keycloak.instances,
        "keycloak.database.instances": settings.keycloak.database.instances,
    }
    for key, replicas in wanted.items():
        if replicas > nodes:
            yield f"home:{key} is {replicas}, but home:cluster.nodes is {nodes}; at most one replica a node"


def fail_closed_needs_replicas(settings: Settings) -> Iterator[str]:
    """One admission controller that fails closed locks the cluster out at each restart of its node."""
    kyverno = settings.kyverno
    if kyverno.failure_policy == "Fail" and kyverno.replicas < 3:
        yield (
            f"home:kyverno.failurePolicy is Fail with home:kyverno.replicas {kyverno.replicas}; "
            "use 3 replicas, or Ignore on a small cluster"
        )


def image_updates_are_reviewed(settings: Settings) -> Iterator[str]:
    """Pushed to the branch that Flux reconciles, a new tag would be deployed before anybody saw it."""
    if settings.git.branch == IMAGE_UPDATES_BRANCH:
        yield (
            f"home:git.branch is {IMAGE_UPDATES_BRANCH}, the branch that Flux writes new image tags to; "
            "name the branch that pull requests are merged into, such as main"
        )


STACK_RULES = (
    api_server_outside_cluster_networks,
    cluster_networks_apart,
    domain_inside_zone,
    replicas_fit_nodes,
    fail_closed_needs_replicas,
    image_updates_are_reviewed,
    *STORAGE_RULES,
    *MONITORING_RULES,
    *NETWORK_RULES,
    *MACHINE_RULES,
    *IDENTITY_RULES,
)


def bootstrap_disagreements(bootstrap: Mapping[str, Any], platform: Mapping[str, Any]) -> list[str]:
    """Keys that both Ansible's cilium values and the platform set to different values."""
    return [
        f"{BOOTSTRAP_FILE}: {path} is {left}, but the platform sets {right}; "
        "the first reconciliation would change the running network, so make them equal"
        for path, left, right in _differences(bootstrap, platform)
    ]


def _differences(left: Mapping[str, Any], right: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, str, str]]:
    """Compared as text, so that "true" and true, or 1 and true inside a list, are not the same."""
    for key in sorted(left.keys() & right.keys()):
        path = f"{at}.{key}" if at else key
        ours, theirs = left[key], right[key]
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            yield from _differences(cast(Mapping[str, Any], ours), cast(Mapping[str, Any], theirs), path)
        elif (written := json.dumps(ours, sort_keys=True)) != (wanted := json.dumps(theirs, sort_keys=True)):
            yield path, written, wanted


def merged(base: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Deep union of chart values; where both set a scalar or a list, `extra` wins."""
    result = dict(base)
    for key, value in extra.items():
        known = result.get(key)
        if isinstance(known, Mapping) and isinstance(value, Mapping):
            result[key] = merged(cast(Mapping[str, Any], known), cast(Mapping[str, Any], value))
        else:
            result[key] = value
    return result
