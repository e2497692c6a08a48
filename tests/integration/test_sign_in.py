"""The whole way in: a browser, the real oauth2-proxy as rendered, and a real Keycloak with the realm as declared."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from components.keycloak.document import realm_document
from components.keycloak.server import ADMIN_CLIENT, URL
from components.oauth2_proxy import CALLBACK, proxy_client
from components.realm import Group
from platformctl.render.recorder import Recording
from platformctl.tools import ensure
from tests.fake_realm import Protected, serve_protected
from tests.keycloak_server import DOMAIN, KeycloakServer, distribution
from tests.keycloak_server import running as running_keycloak
from tests.oauth2_proxy_server import CLIENT_SECRET, HTTP, Release, running, sent_back

pytestmark = pytest.mark.keycloak

LABEL = "longhorn"
PASSWORD = "correct-horse-battery"
UPSTREAM = "http://longhorn-frontend.longhorn-system.svc:80"


@dataclass(frozen=True, kw_only=True)
class Entrance:
    """A proxy that runs between a browser and a protected service."""

    address: str
    keycloak: KeycloakServer
    protected: Protected

    def get(self, path: str, cookies: str = "") -> httpx.Response:
        HTTP.cookies.clear()
        headers = {"Host": f"{LABEL}.{DOMAIN}", **({"Cookie": cookies} if cookies else {})}
        return HTTP.get(f"{self.address}{path}", headers=headers)

    def sign_in(self, person: str) -> httpx.Response:
        """The answer to the callback, after the person has filled in Keycloak's form."""
        first = self.get("/volumes")
        with self.keycloak.gateway() as browser:
            page = browser.get(first.headers["Location"])
            assert page.status_code == 200, (page.status_code, page.headers, page.text[-1000:])
            action = re.search(r'action="([^"]+)"', page.text)
            assert action, page.text[-1000:]
            sent = browser.post(html.unescape(action[1]), data={"username": person, "password": PASSWORD})
        assert sent.status_code == 302, sent.text[-1000:]
        back = urlsplit(sent.headers["Location"])
        assert f"{back.scheme}://{back.netloc}{back.path}" == f"https://{LABEL}.{DOMAIN}{CALLBACK}"
        return self.get(f"{CALLBACK}?{back.query}", sent_back(first))


@pytest.fixture(scope="module")
def keycloak(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeycloakServer]:
    with running_keycloak(distribution(), tmp_path_factory.mktemp("keycloak") / "keycloak.log") as server:
        declare_realm(server)
        yield server


def declare_realm(server: KeycloakServer) -> None:
    """The document as the reconciliation would bring it in, and two people without an e-mail address."""
    groups = ("platform-admins", "family")
    client = proxy_client(LABEL, "sign-in", f"{LABEL}.{DOMAIN}", title="Longhorn", allowed_groups=["platform-admins"])
    document = realm_document(display_name="Home", groups=[Group(name=name) for name in groups], clients=[client])
    token = httpx.post(
        f"{server.url}/realms/master/protocol/openid-connect/token",
        data={"grant_type": "client_credentials"},
        auth=(ADMIN_CLIENT, server.admin_secret),
        timeout=60,
    ).json()["access_token"]
    with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=60) as master:
        master.post(f"{server.url}/admin/realms", json=document["realm"]).raise_for_status()
    secret = {"secret": CLIENT_SECRET}
    with server.admin() as admin:
        for path, entries in {
            "/client-scopes": document["clientScopes"],
            "/groups": document["groups"],
            "/clients": [{**entry, **secret} for entry in document["clients"]],
            "/users": [person("ada", "platform-admins"), person("ben", "family")],
        }.items():
            for entry in entries:
                answer = admin.post(path, json=entry)
                assert answer.status_code == 201, (path, answer.text)


def person(name: str, group: str) -> Mapping[str, Any]:
    return {
        "username": name,
        "enabled": True,
        "firstName": name.title(),
        "lastName": "Home",
        "email": f"{name}@example.org",
        # Nobody has clicked a link in a mail.
        "emailVerified": False,
        "groups": [group],
        "credentials": [{"type": "password", "value": PASSWORD, "temporary": False}],
    }


@pytest.fixture
def start(
    keycloak: KeycloakServer, tmp_path: Path, recordings: dict[str, Recording]
) -> Iterator[Callable[..., Entrance]]:
    """Starts the proxy as rendered; `entries` replace strings of its configuration."""
    binary = ensure(["oauth2-proxy"])["oauth2-proxy"]
    with ExitStack() as stack:

        def begin(**entries: str) -> Entrance:
            protected = Protected()
            addresses = {
                URL: keycloak.url,
                UPSTREAM: stack.enter_context(serve_protected(protected)),
                recordings["dev"].exports["domain"]: DOMAIN,
            }
            release = Release.rendered(recordings["dev"], LABEL).moved(addresses, **entries)
            address, _ = stack.enter_context(running(binary, release, tmp_path))
            return Entrance(address=address, keycloak=keycloak, protected=protected)

        yield begin


def test_a_member_comes_in_by_the_rendered_configuration(start: Callable[..., Entrance]) -> None:
    entrance = start()
    callback = entrance.sign_in("ada")
    assert callback.status_code == 302, callback.text[-2000:]
    assert callback.headers["Location"] == "/volumes"
    assert entrance.get("/volumes", sent_back(callback)).json() == "inside"


def test_everybody_else_stays_out(start: Callable[..., Entrance]) -> None:
    entrance = start()
    callback = entrance.sign_in("ben")
    assert callback.status_code == 403
    assert entrance.get("/volumes", sent_back(callback)).status_code in (302, 403)
    assert entrance.protected.requests == []
