"""Certificates: cert-manager and both Let's Encrypt issuers, DNS-01 through Cloudflare."""

from __future__ import annotations

from typing import Any

from components.helm import HelmApplication, install
from components.namespaces import Namespace
from components.objects import manifest
from components.platform import After, Component, Platform
from components.secrets import Provider, SecretUse
from components.settings import CertManager as CertManagerSettings
from components.versions import CERT_MANAGER

NAMESPACE = Namespace(name="cert-manager", pod_security="restricted")
CLOUDFLARE_TOKEN = SecretUse(
    namespace=NAMESPACE.name,
    name="cloudflare-api-token",
    keys=("api-token",),
    provider=Provider.SOPS,
    needed_by="the Let's Encrypt ClusterIssuers",
)
SECRETS = (CLOUDFLARE_TOKEN,)
DIRECTORIES = {
    "staging": "https://acme-staging-v02.api.letsencrypt.org/directory",
    "production": "https://acme-v02.api.letsencrypt.org/directory",
}


class CertManager(Component):
    """Both issuers always exist; `issuer` is the ClusterIssuer that the stack uses."""

    def __init__(self, platform: Platform, *, after: After = ()) -> None:
        super().__init__(platform, "cert-manager", after=after)
        settings = platform.settings.cert_manager
        application = HelmApplication(chart=CERT_MANAGER, namespace=NAMESPACE.name, values=_values(settings))
        release = install(self, application)
        for environment in DIRECTORIES:
            self.declare(_issuer(environment, settings), ready=True, after=[release])
        self.issuer = issuer_name(settings.issuer)
        self.register_outputs({})


class WildcardCertificate(Component):
    """One certificate for the domain and every name directly below it; ready when it was issued."""

    def __init__(self, platform: Platform, *, issuer: str, namespace: str, after: After = ()) -> None:
        """namespace: where the Secret `secret_name` is wanted, since a Gateway reads only its own."""
        super().__init__(platform, "wildcard-certificate", after=after)
        self.secret_name = "wildcard-tls"  # noqa: S105 - the name of a Secret
        self.declare(_wildcard(platform.settings.domain, issuer, namespace, self.secret_name), ready=True)
        self.register_outputs({})


def issuer_name(environment: str) -> str:
    """`letsencrypt-staging` or `letsencrypt-production`."""
    return f"letsencrypt-{environment}"


def _values(settings: CertManagerSettings) -> dict[str, Any]:
    nameservers = ",".join(f"{address}:53" for address in settings.recursive_nameservers)
    return {
        # Kept on uninstall: without its CRDs every Certificate and its Secret would go too.
        "crds": {"enabled": True, "keep": True},
        "replicaCount": settings.replicas,
        # The home's resolver answers for the zone itself and would hide the challenge record.
        "dns01RecursiveNameservers": nameservers,
        "dns01RecursiveNameserversOnly": True,
        # The alert on certificates near expiry reads these metrics.
        "prometheus": {"servicemonitor": {"enabled": True}},
    }


def _issuer(environment: str, settings: CertManagerSettings) -> dict[str, Any]:
    name = issuer_name(environment)
    (key,) = CLOUDFLARE_TOKEN.keys
    token = {"name": CLOUDFLARE_TOKEN.name, "key": key}
    acme = {
        "server": DIRECTORIES[environment],
        "email": settings.email,
        "privateKeySecretRef": {"name": f"{name}-account"},
        "solvers": [
            {
                "selector": {"dnsZones": [settings.dns_zone]},
                "dns01": {"cloudflare": {"apiTokenSecretRef": token}},
            }
        ],
    }
    return manifest("cert-manager.io/v1", "ClusterIssuer", name, spec={"acme": acme})


def _wildcard(domain: str, issuer: str, namespace: str, secret_name: str) -> dict[str, Any]:
    # Without a duration: Let's Encrypt decides, and cert-manager renews after two thirds of it.
    spec = {
        "secretName": secret_name,
        "dnsNames": [domain, f"*.{domain}"],
        "issuerRef": {"group": "cert-manager.io", "kind": "ClusterIssuer", "name": issuer},
        "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
    }
    return manifest("cert-manager.io/v1", "Certificate", "wildcard", namespace=namespace, spec=spec)
