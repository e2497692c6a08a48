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
    request_timeout: str | None = None,
) -> dict[str, Any]:
    """An HTTPRoute for everything below `host`.

    backend: a Service of the same namespace and its port.
    public: whether external-dns makes a record for the host in the public zone.
    request_timeout: of one request with its answer, in Gateway API's form; None for the Gateway's own.
    """
    service, port = backend
    timeouts = {"timeouts": {"request": request_timeout}} if request_timeout else {}
    rule = {"backendRefs": [{"name": service, "port": port}], **timeouts}
    return _route(name, namespace, host, gateway, rule, annotations=annotations, public=public)


def redirect_route(
    name: str, namespace: str, host: str, gateway: GatewayRef, *, to_host: str, public: bool = False
) -> dict[str, Any]:
    """An HTTPRoute that sends everything below `host` to the same path at another host."""
    redirect = {"type": "RequestRedirect", "requestRedirect": {"hostname": to_host, "statusCode": 302}}
    return _route(name, namespace, host, gateway, {"filters": [redirect]}, annotations=None, public=public)


def _route(
    name: str,
    namespace: str,
    host: str,
    gateway: GatewayRef,
    rule: Mapping[str, Any],
    *,
    annotations: Mapping[str, str] | None,
    public: bool,
) -> dict[str, Any]:
    spec = {"parentRefs": [gateway.parent], "hostnames": [host], "rules": [rule]}
    return manifest(
        "gateway.networking.k8s.io/v1",
        "HTTPRoute",
        name,
        namespace=namespace,
        labels=PUBLIC if public else None,
        annotations=annotations,
        spec=spec,
    )
