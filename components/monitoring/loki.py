"""Logs: Loki as one process with a volume of its own, and retention by age."""

from __future__ import annotations

from typing import Any

from components.helm import HelmApplication, install
from components.monitoring.names import NAMESPACE
from components.platform import After, Component, Platform
from components.settings_monitoring import Loki as LokiSettings
from components.versions import LOKI

# With the gateway off, the release's own Service is Loki itself.
URL = f"http://{LOKI.name}.{NAMESPACE.name}.svc.cluster.local:3100"
_OFF = {"enabled": False}


class Loki(Component):
    """One replica; `url` is where logs are pushed to and queried, from inside the cluster."""

    url = URL

    def __init__(self, platform: Platform, *, after: After = ()) -> None:
        super().__init__(platform, "loki", after=after)
        application = HelmApplication(
            chart=LOKI,
            namespace=NAMESPACE.name,
            values=_values(platform.settings.monitoring.loki),
            # The chart's only CRDs belong to the rollout operator, which is off.
            crds="Skip",
            timeout_minutes=15,
        )
        install(self, application)
        self.register_outputs({})


def _values(settings: LokiSettings) -> dict[str, Any]:
    return {
        "deploymentMode": "Monolithic",
        "loki": _loki(settings),
        "singleBinary": {
            "replicas": 1,
            "persistence": {
                "enabled": True,
                "size": settings.volume.size,
                "storageClass": settings.volume.storage_class,
            },
            "resources": {"requests": {"cpu": "100m", "memory": "512Mi"}},
        },
        # The chart refuses replicas of other modes beside a single binary.
        **{target: {"replicas": 0} for target in ("read", "write", "backend")},
        # Two memcached that ask for 9.8 and 1.2 GiB by default.
        "chunksCache": _OFF,
        "resultsCache": _OFF,
        "gateway": _OFF,
        # The test needs the canary, so they go together.
        "lokiCanary": _OFF,
        "test": _OFF,
        # Alerts are PrometheusRules here; the sidecar would watch every Secret for rules on logs.
        "sidecar": {"rules": _OFF},
        "monitoring": {"serviceMonitor": {"enabled": True}},
    }


def _loki(settings: LokiSettings) -> dict[str, Any]:
    hours = int(settings.retention.removesuffix("d")) * 24
    return {
        "auth_enabled": False,
        "commonConfig": {"replication_factor": 1},
        "storage": {"type": "filesystem"},
        "schemaConfig": {"configs": [_SCHEMA]},
        "limits_config": {"retention_period": f"{hours}h"},
        # Without a delete_request_store Loki does not start with retention on.
        "compactor": {
            "retention_enabled": True,
            "delete_request_store": "filesystem",
            "working_directory": "/var/loki/compactor",
        },
        "analytics": {"reporting_enabled": False},
    }


# Never edited: another schema is a further entry with a later `from`, or older logs cannot be read any more.
_SCHEMA = {
    "from": "2024-04-01",
    "store": "tsdb",
    "object_store": "filesystem",
    "schema": "v13",
    "index": {"prefix": "loki_index_", "period": "24h"},
}
