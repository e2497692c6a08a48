"""Sign-in for software that has none: an oauth2-proxy that stands in front of one Service."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi

from components.helm import HelmApplication, install
from components.objects import KubernetesObject
from components.platform import After, Component
from components.realm import GROUPS, OidcClient, client_secret
from components.settings import Cluster
from components.versions import OAUTH2_PROXY, OAUTH2_PROXY_IMAGE

# Where every proxy runs, whatever it stands in front of.
NAMESPACE = "sign-in"
SERVICE_PORT = 80
POD_PORT = 4180
METRICS_PORT = 44180
CALLBACK = "/oauth2/callback"
AES_KEY_LENGTHS = (16, 24, 32)
# Below the five minutes that the realm's tokens live: how long a person who left a group can still come in.
COOKIE_REFRESH = "4m"
# As long as the realm keeps an idle session.
COOKIE_EXPIRE = "12h"
FINGERPRINT = "home.platform/client-secret"


@dataclass(frozen=True, kw_only=True)
class RealmAddress:
    """The realm as browsers know it, which is the issuer in every token, and as pods reach it inside the cluster."""

    issuer: str
    backchannel: str


@dataclass(frozen=True, kw_only=True)
class SignInProxy:
    """What differs between proxies.

    name: of what is protected; it names release, Service, cookie and Secret.
    host: the one host at which people open it.
    upstream: the URL of the protected Service inside the cluster.
    client: from `proxy_client` with the same name and host.
    fingerprint: changes with the client's secret, and with it the pods are replaced.
    trusted_networks: where the Gateway's requests come from; only their X-Forwarded headers are believed.
    bypass: requests that pass without sign-in, as `GET=^/api/`, or `^/api/` for every method.
    upstream_timeout: how long the Service may take to answer, as a Go duration; the proxy's own 30 s without it.
    identity_headers: whether the Service is told who it is, by X-Forwarded-User, -Preferred-Username and -Groups;
    what a client sends under these names is thrown away.
    """

    name: str
    namespace: str
    host: str
    upstream: str
    client: OidcClient
    realm: RealmAddress
    fingerprint: pulumi.Input[str]
    trusted_networks: tuple[str, ...]
    replicas: int = 1
    bypass: tuple[str, ...] = ()
    upstream_timeout: str | None = None
    identity_headers: bool = False

    @property
    def release(self) -> str:
        """The name of release and Service."""
        return release_name(self.name)

    @property
    def backend(self) -> tuple[str, int]:
        """The Service and port that a route leads to."""
        return self.release, SERVICE_PORT


def release_name(name: str) -> str:
    """`oauth2-proxy-<name>`. The chart leaves a name with its own in it as it is."""
    return f"{OAUTH2_PROXY.name}-{name}"


def pod_labels(name: str) -> dict[str, str]:
    """The labels that the proxy's pods have and no other pods."""
    return {"app.kubernetes.io/name": OAUTH2_PROXY.name, "app.kubernetes.io/instance": release_name(name)}


def proxy_client(name: str, namespace: str, host: str, *, title: str, allowed_groups: Iterable[str]) -> OidcClient:
    """The proxy's client in the realm, with the Secret that the proxy reads."""
    return OidcClient(
        client_id=name,
        name=title,
        redirect_uris=(callback_url(host),),
        secret=client_secret(namespace, release_name(name), needed_by=f"the sign-in to {title}", cookie=True),
        allowed_groups=tuple(allowed_groups),
    )


def gateway_networks(cluster: Cluster) -> tuple[str, ...]:
    """Where the Gateway's requests come from: pods, and the nodes' own addresses."""
    return (str(cluster.pod_cidr), *(f"{address}/32" for address in cluster.node_addresses))


def callback_url(host: str) -> str:
    """Where the realm sends people back to."""
    return f"https://{host}{CALLBACK}"


def cookie_name(name: str) -> str:
    """With this prefix browsers take the cookie only over HTTPS, for this very host, and from nobody else below it."""
    return f"__Host-{release_name(name)}"


def valid_cookie_secret(secret: str) -> bool:
    """Whether oauth2-proxy takes it: 16, 24 or 32 bytes, as URL-safe base64 (padding optional) or as it is."""
    return len(_decoded(secret)) in AES_KEY_LENGTHS or len(secret.encode()) in AES_KEY_LENGTHS


def _decoded(secret: str) -> bytes:
    """What Go's decoder makes of it, which passes over line breaks; nothing where it refuses."""
    text = re.sub(r"[\r\n]", "", secret.rstrip("="))
    if not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        return b""
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        return b""


def sign_in_proxy(component: Component, proxy: SignInProxy, *, after: After = ()) -> KubernetesObject:
    """Declares the release; `proxy.backend` is what a route leads to. The Secret comes with the client."""
    application = HelmApplication(
        chart=OAUTH2_PROXY,
        namespace=proxy.namespace,
        name=proxy.release,
        values=_values(proxy),
        crds="Skip",
        timeout_minutes=5,
    )
    return install(component, application, after=after)


def _values(proxy: SignInProxy) -> dict[str, Any]:
    return {
        "image": {"tag": OAUTH2_PROXY_IMAGE},
        "config": {"existingSecret": proxy.client.secret.name, "configFile": config_file(_config(proxy))},
        "replicaCount": proxy.replicas,
        "service": {"portNumber": SERVICE_PORT},
        "serviceAccount": {"automountServiceAccountToken": False},
        # The variables of a Service named oauth2-proxy-… begin like those that the proxy takes its options from.
        "enableServiceLinks": False,
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
        "podAnnotations": {FINGERPRINT: proxy.fingerprint},
        "metrics": {"enabled": True, "port": METRICS_PORT, "serviceMonitor": {"enabled": True}},
    }


def _config(proxy: SignInProxy) -> dict[str, Any]:
    client = proxy.client
    return {
        **_provider(proxy.realm),
        # The realm defines the scope `groups`; without that, asking for it ends every login in invalid_scope.
        "scope": f"openid email profile {GROUPS}",
        "oidc_groups_claim": GROUPS,
        "allowed_groups": list(client.allowed_groups),
        # Groups decide. A person needs neither an address nor a verified one.
        "oidc_email_claim": "preferred_username",
        "email_domains": ["*"],
        "code_challenge_method": "S256",
        "insecure_oidc_skip_nonce": False,
        "redirect_url": callback_url(proxy.host),
        "whitelist_domains": [proxy.host],
        "skip_provider_button": True,
        "reverse_proxy": True,
        "trusted_proxy_ips": list(proxy.trusted_networks),
        "upstreams": [proxy.upstream],
        "pass_basic_auth": False,
        "pass_user_headers": proxy.identity_headers,
        "cookie_name": cookie_name(proxy.name),
        "cookie_secure": True,
        "cookie_httponly": True,
        "cookie_samesite": "lax",
        "cookie_expire": COOKIE_EXPIRE,
        "cookie_refresh": COOKIE_REFRESH,
        "silence_ping_logging": True,
        **({"skip_auth_routes": list(proxy.bypass)} if proxy.bypass else {}),
        **({"upstream_timeout": proxy.upstream_timeout} if proxy.upstream_timeout else {}),
    }


def _provider(realm: RealmAddress) -> dict[str, Any]:
    """Browsers go to the issuer, the proxy itself stays in the cluster: it needs neither the home's DNS nor its TLS."""
    protocol = "protocol/openid-connect"
    return {
        "provider": "oidc",
        "provider_display_name": "Keycloak",
        "oidc_issuer_url": realm.issuer,
        "skip_oidc_discovery": True,
        "login_url": f"{realm.issuer}/{protocol}/auth",
        "redeem_url": f"{realm.backchannel}/{protocol}/token",
        "oidc_jwks_url": f"{realm.backchannel}/{protocol}/certs",
    }


def config_file(config: Mapping[str, Any]) -> str:
    """oauth2_proxy.cfg: TOML, in which JSON's strings, booleans and lists mean the same."""
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in config.items())
