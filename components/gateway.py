"""The one entrance for HTTP and HTTPS: class, shared Gateway and the redirect to HTTPS."""

from __future__ import annotations

from typing import Any

from components.namespaces import Namespace
from components.objects import manifest
from components.platform import After, Component, Platform
from components.routing import EXTERNAL_DNS_PREFIX, GATEWAY_ACCESS, GatewayRef
from components.settings import Settings

NAMESPACE = Namespace(name="gateway", pod_security="restricted")
API = "gateway.networking.k8s.io/v1"
CLASS = "cilium"
NAME = "home"
HTTP = "http"
HTTPS = "https"
APEX = "https-apex"


class Gateway(Component):
    """`ref` is where routes of `*.<domain>` attach, `apex` where a route of the domain itself does."""

    def __init__(self, platform: Platform, *, certificate_secret: str, after: After = ()) -> None:
        """certificate_secret: the TLS Secret of the wildcard certificate, in this component's namespace."""
        super().__init__(platform, "gateway", after=after)
        # Waited for: an operator that started before the definitions never accepts the class.
        gateway_class = self.declare(_class(), ready=True, condition="Accepted")
        gateway = self.declare(
            _gateway(platform.settings, certificate_secret), ready=True, condition="Programmed", after=[gateway_class]
        )
        self.declare(_redirect(), after=[gateway])
        self.ref = _reference(HTTPS)
        self.apex = _reference(APEX)
        self.register_outputs({})


def _reference(listener: str) -> GatewayRef:
    return GatewayRef(name=NAME, namespace=NAMESPACE.name, section_name=listener)


def _class() -> dict[str, Any]:
    return manifest(API, "GatewayClass", CLASS, spec={"controllerName": "io.cilium/gateway-controller"})


def _gateway(settings: Settings, certificate_secret: str) -> dict[str, Any]:
    target = settings.external_dns.target
    spec = {
        "gatewayClassName": CLASS,
        "addresses": [{"type": "IPAddress", "value": str(settings.gateway.address)}],
        "listeners": [
            # Only for the redirect: a route from elsewhere would be served in clear text.
            {"name": HTTP, "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "Same"}}},
            _https(HTTPS, f"*.{settings.domain}", certificate_secret),
            _https(APEX, settings.domain, certificate_secret),
        ],
    }
    annotations = {f"{EXTERNAL_DNS_PREFIX}target": target} if target else None
    return manifest(API, "Gateway", NAME, namespace=NAMESPACE.name, annotations=annotations, spec=spec)


def _https(name: str, hostname: str, certificate_secret: str) -> dict[str, Any]:
    return {
        "name": name,
        "port": 443,
        "protocol": "HTTPS",
        "hostname": hostname,
        # Exactly one: cilium's chart brings an admission policy that refuses more.
        "tls": {"mode": "Terminate", "certificateRefs": [{"kind": "Secret", "name": certificate_secret}]},
        "allowedRoutes": {"namespaces": {"from": "Selector", "selector": {"matchLabels": GATEWAY_ACCESS}}},
    }


def _redirect() -> dict[str, Any]:
    redirect = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}
    spec = {"parentRefs": [_reference(HTTP).parent], "rules": [{"filters": [redirect]}]}
    # It has no host, so external-dns would take those of the listeners. It lacks the label for public routes too.
    annotations = {f"{EXTERNAL_DNS_PREFIX}controller": "none"}
    name = "redirect-to-https"
    return manifest(API, "HTTPRoute", name, namespace=NAMESPACE.name, annotations=annotations, spec=spec)
