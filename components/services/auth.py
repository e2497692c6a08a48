"""What a service file says about sign-in: exactly one of four modes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from components.definition_fields import EnvName, GroupName, Reason
from components.fields import Model

RedirectUri = Annotated[
    str,
    Field(
        pattern=r"^([a-z][a-z0-9+.-]*:///?[^\s*#]+)$",
        description="a whole address without wildcards, such as https://{host}/callback, or an app's own scheme such "
        "as app.immich:///oauth-callback",
    ),
]
Groups = Annotated[
    list[GroupName], Field(min_length=1, description="a list of groups of home:keycloak.groups, such as [family]")
]
# {host}, {domain} and {issuer} stand for what differs per stack, {clientId} and {clientSecret} for the client's own.
ClientVariables = dict[EnvName, Annotated[str, Field(description='text such as "{clientSecret}"')]]


class Oidc(Model):
    """The service signs people in itself, as a confidential client of the realm.

    env: variables that the service gets from a generated Secret, with {clientId}, {clientSecret} and {issuer}.
    """

    mode: Literal["oidc"] = Field(description="oidc")
    client_id: GroupName | None = Field(default=None, description="the client's id, such as photos; the service's name")
    redirect_uris: list[RedirectUri] = Field(min_length=1, description="a list of at least one address")
    web_origins: list[RedirectUri] = Field(default_factory=list[str], description="a list of addresses, or []")
    groups: Groups | None = None
    pkce: bool = Field(default=True, description="true, or false for an app that cannot use PKCE")
    env: ClientVariables = Field(
        default_factory=dict[str, str],
        description='a map from environment variables to text, such as OAUTH_CLIENT_SECRET: "{clientSecret}"',
    )


class Saml(Model):
    """The service signs people in itself, as a SAML service provider."""

    mode: Literal["saml"] = Field(description="saml")
    entity_id: RedirectUri
    acs_url: RedirectUri
    logout_url: RedirectUri | None = None
    name_id_format: Literal["persistent", "email", "username", "transient"] = Field(
        default="persistent", description="persistent, email, username or transient"
    )


class Bypass(Model):
    """Requests that pass without sign-in; the service must protect them itself."""

    path: str = Field(
        pattern=r"^\^/",
        max_length=200,
        description="an RE2 expression that begins with ^/, such as '^/api/', in single quotes",
    )
    methods: list[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]] = Field(
        default_factory=list[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]],
        description="a list of HTTP methods such as [GET]; [] for all",
    )
    reason: Reason


class Proxy(Model):
    """The service knows nobody: an oauth2-proxy stands in front of it and is the only one that reaches it."""

    mode: Literal["proxy"] = Field(description="proxy")
    groups: Groups
    bypass: list[Bypass] = Field(default_factory=list[Bypass], description="a list of paths with a reason, or []")


class NoSignIn(Model):
    """Nobody asks who comes; `reason` says why that is right."""

    mode: Literal["none"] = Field(description="none")
    reason: Reason


Auth = Annotated[
    Oidc | Saml | Proxy | NoSignIn,
    Field(discriminator="mode", description="a map with mode: oidc, saml, proxy or none, and that mode's keys"),
]
