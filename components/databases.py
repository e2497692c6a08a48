"""The operator for PostgreSQL: CloudNativePG. Whoever needs a database declares a `Cluster` of its own."""

from __future__ import annotations

from typing import Any

from components.helm import HelmApplication, install
from components.namespaces import Namespace
from components.platform import After, Component, Platform
from components.versions import CLOUDNATIVE_PG

NAMESPACE = Namespace(name="cnpg-system", pod_security="restricted")


class Databases(Component):
    """After it, `postgresql.cnpg.io` is served and clusters come up."""

    def __init__(self, platform: Platform, *, monitored: bool = False, after: After = ()) -> None:
        """monitored: the CRDs of prometheus-operator are there, so a PodMonitor may be declared."""
        super().__init__(platform, "databases", after=after)
        application = HelmApplication(
            chart=CLOUDNATIVE_PG,
            namespace=NAMESPACE.name,
            values=_values(monitored=monitored),
            # They are templates of the chart, which it keeps on uninstall.
            crds="Skip",
        )
        self.release = install(self, application)
        self.register_outputs({})


def _values(*, monitored: bool) -> dict[str, Any]:
    return {
        "crds": {"create": True},
        # Databases run on without it; a second one would only wait to be the leader.
        "replicaCount": 1,
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "monitoring": {"podMonitorEnabled": monitored},
    }
