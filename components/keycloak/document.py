"""The realm's document: everything that the platform decides about the realm, in Keycloak's own representations."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.errors import PlatformError
from components.realm import GROUPS, MANAGED, REALM, Group, OidcClient

# Keycloak's own scopes that a client gets besides `groups`.
_BUILT_IN_SCOPES = ("acr", "basic", "email", "profile", "roles", "web-origins")
_CLIENT_ID = re.compile(r"[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?")
_GROUP = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
# The file that holds the realm itself; the others are `<kind>.<name>.json`.
REALM_FILE = "realm.json"


def realm_document(*, display_name: str, groups: Iterable[Group], clients: Iterable[OidcClient]) -> dict[str, Any]:
    """Everything that the platform decides about the realm, in Keycloak's own representations.

    Raises PlatformError for a client that names an unknown group, or a name that is wrong or given twice.
    """
    wanted_groups, wanted_clients = list(groups), list(clients)
    if mistakes := [*_group_mistakes(wanted_groups), *_client_mistakes(wanted_clients, wanted_groups)]:
        raise PlatformError(*mistakes)
    return {
        "realm": _realm(display_name),
        "clientScopes": [_groups_scope()],
        "groups": [_group(group) for group in wanted_groups],
        "clients": [_oidc_client(client) for client in wanted_clients],
    }


def _realm(display_name: str) -> dict[str, Any]:
    return {
        "realm": REALM,
        "displayName": display_name,
        "enabled": True,
        # Between the gateway and Keycloak there is no TLS; the forwarded scheme is what counts.
        "sslRequired": "external",
        "registrationAllowed": False,
        "resetPasswordAllowed": False,
        "loginWithEmailAllowed": True,
        "rememberMe": True,
        "bruteForceProtected": True,
        "passwordPolicy": "length(12) and notUsername and notEmail",
        "accessTokenLifespan": 300,
        "ssoSessionIdleTimeout": 12 * 3600,
        "ssoSessionMaxLifespan": 7 * 24 * 3600,
        "eventsEnabled": True,
        "eventsExpiration": 90 * 24 * 3600,
        "adminEventsEnabled": True,
        "attributes": {MANAGED: "true"},
    }


def _groups_scope() -> dict[str, Any]:
    mapper = {
        "name": GROUPS,
        "protocol": "openid-connect",
        "protocolMapper": "oidc-group-membership-mapper",
        "config": {
            "claim.name": GROUPS,
            # Keycloak adds it at the first sign-in, and it would look like drift for ever.
            "multivalued": "true",
            # With the path a claim would be `/admins`, and nobody's allowed group `admins` would match.
            "full.path": "false",
            "id.token.claim": "true",
            "access.token.claim": "true",
            "userinfo.token.claim": "true",
            "introspection.token.claim": "true",
        },
    }
    return {
        "name": GROUPS,
        "description": "Names of the groups that a person is in",
        "protocol": "openid-connect",
        "attributes": {MANAGED: "true", "include.in.token.scope": "true", "display.on.consent.screen": "false"},
        "protocolMappers": [mapper],
    }


def _group(group: Group) -> dict[str, Any]:
    return {"name": group.name, "attributes": {MANAGED: ["true"], "description": [group.description or group.name]}}


def _oidc_client(client: OidcClient) -> dict[str, Any]:
    audience = {
        "name": "audience",
        "protocol": "openid-connect",
        "protocolMapper": "oidc-audience-mapper",
        "config": {
            # Without it `aud` of the access token lacks the client, and oauth2-proxy refuses the token.
            "included.client.audience": client.client_id,
            "id.token.claim": "false",
            "userinfo.token.claim": "false",
            "access.token.claim": "true",
            "introspection.token.claim": "true",
        },
    }
    return {
        "clientId": client.client_id,
        "name": client.name,
        "protocol": "openid-connect",
        "enabled": True,
        "publicClient": False,
        "clientAuthenticatorType": "client-secret",
        "standardFlowEnabled": True,
        "implicitFlowEnabled": False,
        "directAccessGrantsEnabled": False,
        "serviceAccountsEnabled": False,
        "fullScopeAllowed": False,
        "redirectUris": sorted(client.redirect_uris),
        "webOrigins": sorted(client.web_origins),
        # An empty value takes the attribute away: a client that cannot do PKCE must not be asked for it.
        "attributes": {MANAGED: "true", "pkce.code.challenge.method": "S256" if client.pkce else ""},
        "defaultClientScopes": sorted([*_BUILT_IN_SCOPES, GROUPS]),
        "optionalClientScopes": ["offline_access"],
        "protocolMappers": [audience],
    }


def _group_mistakes(groups: Iterable[Group]) -> Iterator[str]:
    names = [group.name for group in groups]
    for name in names:
        if not _GROUP.fullmatch(name):
            yield f"the group {name!r} must be named in lower-case letters, digits and inner hyphens, such as family"
    yield from (f"the group {name} is declared twice; keep one" for name in _repeated(names))


def _client_mistakes(clients: Iterable[OidcClient], groups: Iterable[Group]) -> Iterator[str]:
    known = [group.name for group in groups]
    wanted = list(clients)
    yield from (
        f"the client {name} is declared twice; each needs an id of its own"
        for name in _repeated([client.client_id for client in wanted])
    )
    for client in wanted:
        if not _CLIENT_ID.fullmatch(client.client_id):
            yield f"the client id {client.client_id!r} must be lower-case letters, digits and inner hyphens"
        for uri in client.redirect_uris:
            if "*" in uri or not re.match(r"[a-z][a-z0-9.+-]*:/", uri):
                yield f"client {client.client_id}: {uri!r} must be a whole address such as https://app.example.org/cb"
        for name in sorted(set(client.allowed_groups) - set(known)):
            yield f"client {client.client_id} allows the group {name}, which is none of: {', '.join(known) or 'none'}"


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def realm_files(document: Mapping[str, Any]) -> dict[str, str]:
    """One file for each object, as realm-reconcile.sh reads them: `realm.json`, `mapper.groups.groups.json`."""
    files = {REALM_FILE: _text(document["realm"])}
    for scope in document["clientScopes"]:
        # Keycloak ignores the mappers in an update of a scope; each has an endpoint of its own.
        files[f"scope.{scope['name']}.json"] = _text({key: scope[key] for key in scope if key != "protocolMappers"})
        for mapper in scope["protocolMappers"]:
            files[f"mapper.{scope['name']}.{_slug(mapper['name'])}.json"] = _text(mapper)
    files |= {f"group.{group['name']}.json": _text(group) for group in document["groups"]}
    files |= {f"client.{_slug(client['clientId'])}.json": _text(client) for client in document["clients"]}
    return files


def _text(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, indent=2, sort_keys=True) + "\n"


def _slug(name: str) -> str:
    """A SAML client is named by a URL, which cannot be a key of a ConfigMap."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
