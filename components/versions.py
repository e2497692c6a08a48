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

# renovate: datasource=helm depName=kyverno registryUrl=https://kyverno.github.io/kyverno/
KYVERNO = Chart(name="kyverno", version="3.9.0", repository="https://kyverno.github.io/kyverno/")
