"""Who may come in: the realm's client of a service, and the proxy in front of one that signs nobody in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pulumi

from components import oauth2_proxy
from components.oauth2_proxy import RealmAddress, SignInProxy
from components.realm import CLIENT_ID_KEY, CLIENT_SECRET_KEY, OidcClient
from components.secrets import Provider, SecretUse
from components.services.auth import Bypass, Oidc, Proxy
from components.services.service import Service
from components.services.target import target
from components.services.workload import client_secret_name
from components.settings import Settings


def oidc_client(service: Service) -> OidcClient | None:
    """The confidential client of a service that signs people in by OIDC, itself or through its proxy."""
    match service.definition.auth:
        case Oidc() as auth:
            return _own_client(service, auth)
        case Proxy() as auth if service.hosts:
            return oauth2_proxy.proxy_client(
                service.name, oauth2_proxy.NAMESPACE, service.hosts[0], title=service.title, allowed_groups=auth.groups
            )
        case _:
            return None


def _own_client(service: Service, auth: Oidc) -> OidcClient:
    return OidcClient(
        client_id=auth.client_id or service.name,
        name=service.title,
        redirect_uris=tuple(map(service.filled, auth.redirect_uris)),
        web_origins=tuple(map(service.filled, auth.web_origins)),
        allowed_groups=tuple(auth.groups or ()),
        pkce=auth.pkce,
        secret=_client_secret(service, auth),
    )


def _client_secret(service: Service, auth: Oidc) -> SecretUse:
    """Beside the id and the secret themselves, each of the variables that the service reads."""
    return SecretUse(
        namespace=service.namespace,
        name=client_secret_name(service),
        keys=(CLIENT_ID_KEY, CLIENT_SECRET_KEY, *auth.env),
        provider=Provider.GENERATED,
        needed_by=f"the sign-in to {service.title}",
    )


def client_texts(service: Service) -> Mapping[str, str]:
    """What the variables of an OIDC client hold, with {clientId} and {clientSecret} still in them."""
    auth = service.definition.auth
    return {name: service.filled(text) for name, text in auth.env.items()} if isinstance(auth, Oidc) else {}


def proxy_for(
    service: Service,
    auth: Proxy,
    *,
    realm: RealmAddress,
    fingerprints: Mapping[str, pulumi.Output[str]],
    settings: Settings,
) -> SignInProxy:
    """The proxy that stands in front of the service. Raises ValueError for a service without HTTP or a host.

    fingerprints: of the clients' secrets, by client id.
    """
    behind, client = target(service), oidc_client(service)
    if behind is None or client is None:
        raise ValueError(f"{service.name} has no port or no host that a proxy could stand in front of")
    return SignInProxy(
        name=service.name,
        namespace=oauth2_proxy.NAMESPACE,
        host=service.hosts[0],
        upstream=behind.url,
        client=client,
        realm=realm,
        fingerprint=fingerprints[client.client_id],
        trusted_networks=oauth2_proxy.gateway_networks(settings.cluster),
        replicas=settings.user_interfaces.proxy_replicas,
        bypass=tuple(_bypassed(auth.bypass)),
        upstream_timeout=service.definition.request_timeout,
        identity_headers=True,
    )


def _bypassed(entries: Iterable[Bypass]) -> Iterable[str]:
    """As oauth2-proxy reads them: `GET=^/api/`, or without a method for all of them."""
    for entry in entries:
        if entry.methods:
            yield from (f"{method}={entry.path}" for method in entry.methods)
        else:
            yield entry.path
