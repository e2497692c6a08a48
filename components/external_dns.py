"""Public DNS: records at Cloudflare for the routes and Services that are marked public."""

from __future__ import annotations

from typing import Any

from components.helm import HelmApplication, install
from components.namespaces import Namespace
from components.platform import After, Component, Platform
from components.routing import EXTERNAL_DNS_PREFIX, PUBLIC
from components.secrets import Provider, SecretUse
from components.versions import EXTERNAL_DNS

NAMESPACE = Namespace(name="external-dns", pod_security="restricted")
CLOUDFLARE_TOKEN = SecretUse(
    namespace=NAMESPACE.name,
    name="cloudflare-api-token",
    keys=("api-token",),
    provider=Provider.SOPS,
    needed_by="external-dns",
)
SECRETS = (CLOUDFLARE_TOKEN,)


class ExternalDns(Component):
    """Owns the records of this stack alone: each has a TXT record beside it with the stack's owner id."""

    def __init__(self, platform: Platform, *, after: After = ()) -> None:
        super().__init__(platform, "external-dns", after=after)
        # The chart's only definition, DNSEndpoint, is of a source that is not used.
        application = HelmApplication(
            chart=EXTERNAL_DNS, namespace=NAMESPACE.name, values=_values(platform), crds="Skip"
        )
        install(self, application)
        self.register_outputs({})


def _values(platform: Platform) -> dict[str, Any]:
    settings = platform.settings.external_dns
    return {
        "provider": {"name": "cloudflare"},
        "env": [{"name": "CF_API_TOKEN", "valueFrom": {"secretKeyRef": _token()}}],
        "sources": ["gateway-httproute", "service"],
        "labelFilter": ",".join(f"{key}={value}" for key, value in PUBLIC.items()),
        "annotationPrefix": EXTERNAL_DNS_PREFIX,
        "policy": settings.policy,
        "interval": settings.interval,
        "triggerLoopOnEvent": True,
        "registry": "txt",
        "txtOwnerId": f"home-{platform.stack}",
        # Short, since a label of a DNS name ends at 63 characters.
        "txtPrefix": f"txt-{platform.stack}-",
        "domainFilters": [platform.settings.cert_manager.dns_zone],
        # Cloudflare's rate limit counts requests, and the default is 100 records in each.
        "extraArgs": {"cloudflare-dns-records-per-page": "5000"},
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}},
        "serviceMonitor": {"enabled": True},
    }


def _token() -> dict[str, str]:
    (key,) = CLOUDFLARE_TOKEN.keys
    return {"name": CLOUDFLARE_TOKEN.name, "key": key}
