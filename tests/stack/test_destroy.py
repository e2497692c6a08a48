"""`destroy`: what goes, what stays on purpose, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from platformctl.local.api import ApiError
from tests.stack.conftest import Deployed
from tests.stack.engine_run import UP

pytestmark = pytest.mark.cluster

# With its preview, which refuses before anything is touched.
DESTROY = ("destroy", "--yes")


def test_destroy_takes_everything_but_cilium(bring_up: Callable[[str, str], Deployed]) -> None:
    dev = bring_up("dev", "stack-destroy")
    outcome = dev.operate(*DESTROY)
    assert outcome.returncode == 0, outcome.output
    with dev.target.cluster.api() as api:
        namespaces = {item["metadata"]["name"] for item in api.list("v1", "Namespace")}
        assert not namespaces & {"flux-system", "kyverno", "cert-manager"}
        # Longhorn is not uninstalled without its confirmation: its namespace and every volume stay.
        assert "longhorn-system" in namespaces
        assert api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "volumes.longhorn.io")
        assert api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "volumesnapshots.snapshot.storage.k8s.io")
        # cert-manager's chart keeps its CRDs, so that no certificate is lost; kyverno's does not.
        assert api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "certificates.cert-manager.io")
        with pytest.raises(ApiError):
            api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "policies.kyverno.io")
    again = dev.operate(*UP)
    assert again.returncode == 0, again.output


def test_destroy_of_prod_is_refused_and_changes_nothing(bring_up: Callable[[str, str], Deployed]) -> None:
    prod = bring_up("prod", "stack-prod")
    outcome = prod.operate(*DESTROY)
    assert outcome.returncode != 0
    assert "protected" in outcome.output
    unchanged = prod.operate(*UP)
    assert set(unchanged.counts) == {"same"}, unchanged.counts
