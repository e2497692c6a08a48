"""The realm as values: its names, its groups and its clients, shared by all who sign people in. No I/O."""

from __future__ import annotations

from dataclasses import dataclass

from components.secrets import Provider, SecretUse

NAMESPACE = "keycloak"
REALM = "home"
HOST_LABEL = "sso"
SERVICE = "keycloak"
PORT = 8080
# The scope to ask for, the claim that holds the names, and the mapper that fills it.
GROUPS = "groups"
# On every object that the platform created: only what carries it is ever removed.
MANAGED = "home.platform.managed"

CLIENT_ID_KEY = "client-id"
CLIENT_SECRET_KEY = "client-secret"  # noqa: S105 - the key in a Secret
COOKIE_SECRET_KEY = "cookie-secret"  # noqa: S105 - the key in a Secret


@dataclass(frozen=True, kw_only=True)
class Group:
    """A group of people. In tokens it is its bare name, without a leading slash."""

    name: str
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class OidcClient:
    """A confidential client of the realm.

    redirect_uris: whole addresses, each with its scheme; no wildcards.
    secret: the Secret in the consumer's namespace; its keys are among client-id, client-secret and cookie-secret.
    allowed_groups: whose members may come in; the consumer enforces it, by the claim `groups`.
    pkce: the client must use PKCE (S256); false only for one that cannot.
    """

    client_id: str
    name: str
    redirect_uris: tuple[str, ...]
    secret: SecretUse
    web_origins: tuple[str, ...] = ()
    allowed_groups: tuple[str, ...] = ()
    pkce: bool = True

    @property
    def realm_secret(self) -> SecretUse:
        """The Secret beside Keycloak from which the client gets the same value."""
        return SecretUse(
            namespace=NAMESPACE,
            name=f"oidc-{self.client_id}",
            keys=(CLIENT_SECRET_KEY,),
            provider=Provider.GENERATED,
            needed_by="the realm's reconciliation",
        )


def client_secret(namespace: str, name: str, *, needed_by: str, cookie: bool = False) -> SecretUse:
    """A consumer's Secret: client-id and client-secret, with `cookie` also the cookie secret of oauth2-proxy."""
    keys = (CLIENT_ID_KEY, CLIENT_SECRET_KEY, COOKIE_SECRET_KEY) if cookie else (CLIENT_ID_KEY, CLIENT_SECRET_KEY)
    return SecretUse(namespace=namespace, name=name, keys=keys, provider=Provider.GENERATED, needed_by=needed_by)


def sso_host(domain: str) -> str:
    """Where people sign in: `sso.<domain>`."""
    return f"{HOST_LABEL}.{domain}"


def issuer_url(domain: str) -> str:
    """The issuer in every token, and the base of OIDC discovery."""
    return f"https://{sso_host(domain)}/realms/{REALM}"


def backchannel_url() -> str:
    """The same realm as pods reach it, without the gateway; the issuer in its tokens is that of `issuer_url`."""
    return f"http://{SERVICE}.{NAMESPACE}.svc:{PORT}/realms/{REALM}"
