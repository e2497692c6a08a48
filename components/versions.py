"""Every pinned chart and image version, each marked for Renovate.

Files by URL and sha256 stand in upstream.lock.yaml, Go tools in tools/*/go.mod, Python packages in uv.lock.
A chart's digest is written only where it was read from the registry; `None` is unresolved: Renovate fills it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A Helm chart at an exact version. `repository` is oci://… (the chart's parent) or https://… (an index)."""

    name: str
    version: str
    repository: str
    digest: str | None = None

    @property
    def is_oci(self) -> bool:
        """Whether Flux reads it through an OCIRepository."""
        return self.repository.startswith("oci://")


# The distribution that the pinned flux-operator carries in its own image.
# renovate: datasource=github-releases depName=fluxcd/flux2
FLUX = "v2.9.4"

# renovate: datasource=docker depName=quay.io/cilium/charts/cilium
CILIUM = Chart(name="cilium", version="1.20.1", repository="oci://quay.io/cilium/charts")

# renovate: datasource=docker depName=quay.io/jetstack/charts/cert-manager
CERT_MANAGER = Chart(name="cert-manager", version="v1.21.1", repository="oci://quay.io/jetstack/charts")

# renovate: datasource=helm depName=external-dns registryUrl=https://kubernetes-sigs.github.io/external-dns/
EXTERNAL_DNS = Chart(
    name="external-dns", version="1.21.1", repository="https://kubernetes-sigs.github.io/external-dns/"
)

# renovate: datasource=helm depName=kyverno registryUrl=https://kyverno.github.io/kyverno/
KYVERNO = Chart(name="kyverno", version="3.9.0", repository="https://kyverno.github.io/kyverno/")

# renovate: datasource=docker depName=ghcr.io/cloudnative-pg/charts/cloudnative-pg
CLOUDNATIVE_PG = Chart(name="cloudnative-pg", version="0.29.0", repository="oci://ghcr.io/cloudnative-pg/charts")

# A new major version needs the operator's own upgrade of the data; see docs/components/databases.md.
# renovate: datasource=docker depName=ghcr.io/cloudnative-pg/postgresql versioning=regex:^18\.(?<minor>\d+)-system-trixie$  # noqa: E501
POSTGRESQL = "18.6-system-trixie"

# The server, its admin CLI in the realm's Job, and the distribution that the tests run, all of one version.
# renovate: datasource=docker depName=quay.io/keycloak/keycloak
KEYCLOAK = "26.7.3"

# renovate: datasource=helm depName=longhorn registryUrl=https://charts.longhorn.io
LONGHORN = Chart(name="longhorn", version="1.12.1", repository="https://charts.longhorn.io")

# renovate: datasource=docker depName=ghcr.io/piraeusdatastore/helm-charts/snapshot-controller
SNAPSHOT_CONTROLLER = Chart(
    name="snapshot-controller", version="5.2.0", repository="oci://ghcr.io/piraeusdatastore/helm-charts"
)

# renovate: datasource=helm depName=velero registryUrl=https://vmware-tanzu.github.io/helm-charts
VELERO = Chart(name="velero", version="12.1.0", repository="https://vmware-tanzu.github.io/helm-charts")

# v1.14 goes with Velero 1.18. On S3 that is not AWS v1.14.2 corrupts backups (velero#9951), v1.14.1 fails (#9804).
# renovate: datasource=docker depName=velero/velero-plugin-for-aws
VELERO_PLUGIN_AWS = "v1.14.3"

# renovate: datasource=docker depName=ghcr.io/prometheus-community/charts/prometheus-operator-crds
PROMETHEUS_OPERATOR_CRDS = Chart(
    name="prometheus-operator-crds", version="31.0.1", repository="oci://ghcr.io/prometheus-community/charts"
)

# renovate: datasource=docker depName=ghcr.io/prometheus-community/charts/kube-prometheus-stack
KUBE_PROMETHEUS_STACK = Chart(
    name="kube-prometheus-stack", version="88.5.3", repository="oci://ghcr.io/prometheus-community/charts"
)

# renovate: datasource=docker depName=ghcr.io/grafana-community/helm-charts/loki
LOKI = Chart(name="loki", version="18.11.0", repository="oci://ghcr.io/grafana-community/helm-charts")

# renovate: datasource=helm depName=alloy registryUrl=https://grafana.github.io/helm-charts
ALLOY = Chart(name="alloy", version="1.11.1", repository="https://grafana.github.io/helm-charts")

# renovate: datasource=helm depName=oauth2-proxy registryUrl=https://oauth2-proxy.github.io/manifests
OAUTH2_PROXY = Chart(name="oauth2-proxy", version="10.7.0", repository="https://oauth2-proxy.github.io/manifests")

# Newer than the chart's own 7.15.3, for the fixes since; tools/oauth2-proxy builds the same for the tests.
# renovate: datasource=docker depName=quay.io/oauth2-proxy/oauth2-proxy
OAUTH2_PROXY_IMAGE = "v7.15.6"

# What runs the household's services. Its values are held against this version's schema; see upstream.lock.yaml.
# renovate: datasource=docker depName=ghcr.io/bjw-s-labs/helm/app-template
APP_TEMPLATE = Chart(name="app-template", version="4.1.1", repository="oci://ghcr.io/bjw-s-labs/helm")
