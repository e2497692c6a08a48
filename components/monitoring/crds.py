"""The CRDs of prometheus-operator, ahead of everything that brings a monitor or an alert."""

from __future__ import annotations

from components.helm import HelmApplication, install
from components.monitoring.names import NAMESPACE
from components.platform import After, Component, Platform
from components.versions import PROMETHEUS_OPERATOR_CRDS


class PrometheusOperatorCrds(Component):
    """A release of its own, so that cilium's monitors can come before the operator that reads them."""

    def __init__(self, platform: Platform, *, after: After = ()) -> None:
        super().__init__(platform, "prometheus-operator-crds", after=after)
        application = HelmApplication(
            chart=PROMETHEUS_OPERATOR_CRDS,
            namespace=NAMESPACE.name,
            # Templates of the chart without a keep annotation: an uninstall would take every monitor and rule along.
            values={"crds": {"annotations": {"helm.sh/resource-policy": "keep"}}},
            crds="Skip",
        )
        install(self, application)
        self.register_outputs({})
