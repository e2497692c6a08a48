"""The policy engine and our policies: present before anything that they judge."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from components.helm import HelmApplication, install
from components.namespaces import Namespace
from components.objects import MANAGED_BY
from components.platform import After, Component, Platform
from components.versions import KYVERNO

NAMESPACE = Namespace(name="kyverno", pod_security="restricted")
# Admission of these must never wait for kyverno: the network, the nodes' own pods and whatever installs kyverno.
ALWAYS_EXEMPT = ("kube-system", "flux-system", "kyverno")


class Kyverno(Component):
    """The engine. `exempt` namespaces are not sent to it at all."""

    def __init__(self, platform: Platform, *, exempt: Iterable[str], after: After = ()) -> None:
        super().__init__(platform, "kyverno", after=after)
        application = HelmApplication(
            chart=KYVERNO,
            namespace=NAMESPACE.name,
            values=_values(platform, _exempt_names(exempt)),
            # The chart's post-upgrade migration Job makes upgrades slow.
            timeout_minutes=15,
        )
        install(self, application)
        self.register_outputs({})


class Policies(Component):
    """The files in policies/, applied with the exempt namespaces written into each of them."""

    def __init__(self, platform: Platform, directory: Path, *, exempt: Iterable[str], after: After = ()) -> None:
        super().__init__(platform, "policies", after=after)
        names = _exempt_names(exempt)
        for policy in load_policies(directory):
            self.declare(_with_exemptions(policy, names))
        self.register_outputs({})


def load_policies(directory: Path) -> list[dict[str, Any]]:
    """The policies in file order, one document a file."""
    return [yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader) for path in sorted(directory.glob("*.yaml"))]


def _exempt_names(exempt: Iterable[str]) -> list[str]:
    return sorted({*ALWAYS_EXEMPT, *exempt})


def _namespace_selector(names: list[str]) -> dict[str, Any]:
    expression = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": names}
    return {"matchExpressions": [expression]}


def _with_exemptions(policy: dict[str, Any], names: list[str]) -> dict[str, Any]:
    metadata = policy["metadata"]
    constraints = {**policy["spec"]["matchConstraints"], "namespaceSelector": _namespace_selector(names)}
    return {
        **policy,
        "metadata": {**metadata, "labels": {**MANAGED_BY, **metadata.get("labels", {})}},
        "spec": {**policy["spec"], "matchConstraints": constraints},
    }


def _values(platform: Platform, exempt: list[str]) -> dict[str, Any]:
    settings = platform.settings.kyverno
    return {
        "crds": {"install": True},
        "features": {
            "policyExceptions": {"enabled": False},
            "forceFailurePolicyIgnore": {"enabled": settings.failure_policy == "Ignore"},
        },
        # A map that replaces the chart's default, which names kube-system alone.
        "config": {"webhooks": {"namespaceSelector": _namespace_selector(exempt)}},
        "admissionController": {"replicas": settings.replicas},
        "backgroundController": {"replicas": 1},
        "cleanupController": {"replicas": 1},
        "reportsController": {"replicas": 1},
    }
