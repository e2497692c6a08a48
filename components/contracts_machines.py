"""What KubeVirt and policies must agree on with the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator

from components import kubevirt_support as kubevirt
from components.settings import Settings

# Everybody is in one of these, or nobody whom one could tell apart.
_CROWDS = frozenset({"system:authenticated", "system:unauthenticated", "system:serviceaccounts", "system:anonymous"})


def kubernetes_fits_kubevirt(settings: Settings) -> Iterator[str]:
    """KubeVirt is tested with three minor versions of Kubernetes, and refuses or misbehaves on others."""
    version = settings.cluster.kubernetes_version
    minor = _minor(version)
    oldest, newest = kubevirt.OLDEST_KUBERNETES, kubevirt.NEWEST_KUBERNETES
    if oldest <= minor <= newest:
        return
    if minor < oldest:
        steps = ", ".join(f"v{oldest[0]}.{step}" for step in range(minor[1] + 1, oldest[1] + 2))
        advice = f"upgrade k3s to v{oldest[0]}.{oldest[1] + 1}, one minor version at a time: {steps}"
    else:
        advice = f"stay on k3s v{newest[0]}.{newest[1]} until a KubeVirt that supports it is pinned"
    yield (
        f"home:cluster.kubernetesVersion is {version}, but KubeVirt {kubevirt.RELEASE} supports Kubernetes "
        f"{_dotted(oldest)} to {_dotted(newest)}; {advice}"
    )


def feature_gates_exist(settings: Settings) -> Iterator[str]:
    """A gate that KubeVirt does not know is ignored without a word."""
    machines = settings.kubevirt
    for gate in machines.feature_gates:
        if gate not in kubevirt.ALPHA | kubevirt.BETA:
            yield f"home:kubevirt.featureGates names {gate}, {_state(gate)}; leave it out"
    for gate in machines.disabled_feature_gates:
        if gate in kubevirt.ALPHA:
            yield f"home:kubevirt.disabledFeatureGates names {gate}, which is off by itself; leave it out"
        elif gate not in kubevirt.BETA:
            yield f"home:kubevirt.disabledFeatureGates names {gate}, {_state(gate)}; leave it out"


def feature_gates_disjoint(settings: Settings) -> Iterator[str]:
    """KubeVirt's webhook refuses a gate that is in both lists."""
    machines = settings.kubevirt
    for gate in sorted(set(machines.feature_gates) & set(machines.disabled_feature_gates)):
        yield f"{gate} is in home:kubevirt.featureGates and home:kubevirt.disabledFeatureGates; keep it in one of them"


def platform_is_not_everybodys(settings: Settings) -> Iterator[str]:
    """Who may change the platform must be somebody in particular."""
    group = settings.kyverno.break_glass_group
    if group in _CROWDS:
        yield f"home:kyverno.breakGlassGroup is {group}, which everybody is in; name a group of its own"
    for user in settings.kyverno.deploy_users:
        if user in _CROWDS:
            yield f"home:kyverno.deployUsers names {user}, which is nobody in particular; name the user of pulumi up"


MACHINE_RULES = (
    kubernetes_fits_kubevirt,
    feature_gates_exist,
    feature_gates_disjoint,
    platform_is_not_everybodys,
)


def _minor(version: str) -> tuple[int, int]:
    major, minor = re.findall(r"\d+", version)[:2]
    return int(major), int(minor)


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def _state(gate: str) -> str:
    if gate in kubevirt.GENERAL:
        return f"which is always on in KubeVirt {kubevirt.RELEASE}"
    if gate in kubevirt.WITHDRAWN:
        return f"which does nothing any more in KubeVirt {kubevirt.RELEASE}"
    return f"which KubeVirt {kubevirt.RELEASE} does not know"
