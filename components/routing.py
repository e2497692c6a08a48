"""How anything gets behind the shared Gateway: one HTTPRoute for one host, from a namespace that may attach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.objects import manifest

# Only namespaces with this label may attach routes; `Namespace(routes=True)` sets it.
GATEWAY_ACCESS = {"gateway-access": "true"}
# Only routes and Services with this label get a record in the public zone.
PUBLIC = {"home.platform/public": "true"}
# Written out for external-dns and its readers, since its default differs between versions.
EXTERNAL_DNS_PREFIX = "external-dns.alpha.kubernetes.io/"


@dataclass(frozen=True, kw_only=True)
class GatewayRef:
    """The listener that routes attach to; `section_name` is its name on the Gateway."""

    name: str
    namespace: str
    section_name: str

    @property
    def parent(self) -> dict[str, str]:
        """An entry of a route's parentRefs."""
        return {"name": self.name, "namespace": self.namespace, "sectionName": self.section_name}


def http_route(
    name: str,
    namespace: str,
    host: str,
    gateway: GatewayRef,
    backend: tuple[str, int],
    *,
    annotations: Mapping[str, str] | None = None,
    public: bool = False,
) -> dict[str, Any]:
    """An HTTPRoute for everything below `host`.

    backend: a Service of the same namespace and its port.
    public: whether external-dns makes a record for the host in the public zone.
    """
    service, port = backend
    spec = {
        "parentRefs": [gateway.parent],
        "hostnames": [host],
        "rules": [{"backendRefs": [{"name": service, "port": port}]}],
    }
    return manifest(
        "gateway.networking.k8s.io/v1",
        "HTTPRoute",
        name,
        namespace=namespace,
        labels=PUBLIC if public else None,
        annotations=annotations,
        spec=spec,
    )
