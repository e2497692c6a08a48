"""The policy engine and our policies: present before anything that they judge."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from components import policy_files
from components.helm import HelmApplication, install
from components.namespaces import Namespace
from components.objects import MANAGED_BY
from components.platform import After, Component, Platform
from components.settings import Settings
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
            values=_values(platform.settings, platform_namespaces(exempt)),
            # The chart's post-upgrade migration Job makes upgrades slow.
            timeout_minutes=15,
        )
        install(self, application)
        self.register_outputs({})


class Policies(Component):
    """The files in policies/, with the stack's values and the platform's namespaces written into them."""

    def __init__(self, platform: Platform, directory: Path, *, exempt: Iterable[str], after: After = ()) -> None:
        super().__init__(platform, "policies", after=after)
        for policy in policy_files.load(directory, parameters(platform.settings, exempt)):
            self.declare(_managed(policy))
        self.register_outputs({})


def parameters(settings: Settings, exempt: Iterable[str]) -> policy_files.Parameters:
    """What `${name}` in a policy file may name."""
    return {
        "domain": settings.domain,
        "platformNamespaces": platform_namespaces(exempt),
        "deployUsers": list(settings.kyverno.deploy_users),
        "breakGlassGroup": settings.kyverno.break_glass_group,
    }


def platform_namespaces(exempt: Iterable[str]) -> list[str]:
    """The namespaces of the platform itself, where its own pods may do what others must not."""
    return sorted({*ALWAYS_EXEMPT, *exempt})


def _managed(policy: dict[str, Any]) -> dict[str, Any]:
    metadata = policy["metadata"]
    return {**policy, "metadata": {**metadata, "labels": {**MANAGED_BY, **metadata.get("labels", {})}}}


def _values(settings: Settings, exempt: list[str]) -> dict[str, Any]:
    kyverno = settings.kyverno
    not_ours = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": exempt}
    return {
        "crds": {"install": True},
        "features": {
            "policyExceptions": {"enabled": False},
            "forceFailurePolicyIgnore": {"enabled": kyverno.failure_policy == "Ignore"},
            # Two policies run inside the API server, where neither kyverno's absence nor its exemptions matter.
            "generateValidatingAdmissionPolicy": {"enabled": True},
            # After a power cut nodes register before kyverno runs.
            "excludeBootstrapResources": {"enabled": True},
        },
        "config": {
            "excludeKyvernoNamespace": True,
            # A list that replaces the chart's default, which names kube-system alone.
            "webhooks": {"namespaceSelector": {"matchExpressions": [not_ours]}},
        },
        "admissionController": {"replicas": kyverno.replicas},
        "backgroundController": {"replicas": 1},
        "cleanupController": {"replicas": 1},
        "reportsController": {"replicas": 1},
    }
