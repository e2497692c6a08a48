"""A Helm chart as Flux installs it: one source and one HelmRelease, both in the component's own namespace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from components.objects import KubernetesObject, manifest
from components.platform import After, Component
from components.versions import Chart

CrdPolicy = Literal["Skip", "Create", "CreateReplace"]


@dataclass(frozen=True, kw_only=True)
class HelmApplication:
    """What differs between charts.

    name: of release and source; needed only where a namespace holds one chart more than once.
    crds: what helm-controller does with the chart's crds/ directory; templated CRDs are not touched by it.
    timeout_minutes: of one install or upgrade; Pulumi waits for two of them, since a failed one is retried.
    drift_ignore: JSON pointers that a controller in the cluster writes, with the kind they belong to.
    retain: leave release and source in the cluster on destroy.
    protect: refuse destroy and replacement of the release where the stack protects its stateful parts.
    """

    chart: Chart
    namespace: str
    values: Mapping[str, Any]
    crds: CrdPolicy = "CreateReplace"
    timeout_minutes: int = 10
    drift_ignore: Mapping[str, Iterable[str]] = field(default_factory=dict[str, Iterable[str]])
    retain: bool = False
    protect: bool = False
    name: str = ""

    @property
    def release_name(self) -> str:
        """The name of release and source: the chart's, unless another was given."""
        return self.name or self.chart.name


def install(component: Component, application: HelmApplication, *, after: After = ()) -> KubernetesObject:
    """Declares source and release; the returned release is ready when the chart is installed and healthy."""
    source = component.declare(_source(application), ready=True, retain=application.retain, after=after)
    return component.declare(
        _release(application),
        ready=True,
        timeout=f"{2 * application.timeout_minutes + 5}m",
        protect=application.protect,
        retain=application.retain,
        after=[source, *after],
    )


def _source(application: HelmApplication) -> dict[str, Any]:
    chart = application.chart
    if not chart.is_oci:
        spec: dict[str, Any] = {"interval": "1h", "url": chart.repository}
        kind = "HelmRepository"
    else:
        spec = {
            "interval": "1h",
            "url": f"{chart.repository}/{chart.name}",
            "ref": {"digest": chart.digest} if chart.digest else {"tag": chart.version},
            # Helm's OCI artifacts carry a provenance layer too; without the selector Flux takes the first one.
            "layerSelector": {
                "mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
                "operation": "copy",
            },
        }
        kind = "OCIRepository"
    name = application.release_name
    return manifest("source.toolkit.fluxcd.io/v1", kind, name, namespace=application.namespace, spec=spec)


def _chart_reference(application: HelmApplication) -> dict[str, Any]:
    chart = application.chart
    if chart.is_oci:
        return {"chartRef": {"kind": "OCIRepository", "name": application.release_name}}
    source = {"kind": "HelmRepository", "name": application.release_name}
    return {"chart": {"spec": {"chart": chart.name, "version": chart.version, "sourceRef": source}}}


def _release(application: HelmApplication) -> dict[str, Any]:
    name, namespace = application.release_name, application.namespace
    # Retrying in place: any remediation would uninstall or roll back, and with it take CRDs or data.
    action = {"crds": application.crds, "strategy": {"name": "RetryOnFailure", "retryInterval": "2m"}}
    spec: dict[str, Any] = {
        "interval": "1h",
        "timeout": f"{application.timeout_minutes}m",
        # All three are written out: a change of any of them makes helm-controller uninstall the old release.
        "releaseName": name,
        "targetNamespace": namespace,
        "storageNamespace": namespace,
        **_chart_reference(application),
        "maxHistory": 3,
        "install": action,
        "upgrade": action,
        "driftDetection": {"mode": "enabled", **_drift_ignore(application)},
        "values": application.values,
    }
    return manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", name, namespace=namespace, spec=spec)


def _drift_ignore(application: HelmApplication) -> dict[str, Any]:
    rules = [
        {"paths": list(paths), "target": {"kind": kind}} for kind, paths in sorted(application.drift_ignore.items())
    ]
    return {"ignore": rules} if rules else {}
