"""The realm's reconciliation against a real Keycloak: the very script of the Job, with no more tools than its image."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import secrets
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from components.keycloak.document import realm_document, realm_files
from components.keycloak.reconciliation import SCRIPT
from components.keycloak.server import ADMIN_CLIENT
from components.realm import GROUPS, REALM, Group, OidcClient, client_secret, issuer_url
from platformctl.paths import CHECKOUT
from tests.keycloak_server import DOMAIN, KeycloakServer, distribution, running

pytestmark = pytest.mark.keycloak

# Everything that the script and kcadm.sh may call: all of it is in the image, and neither curl nor jq nor grep is.
IMAGE_TOOLS = ("bash", "dirname", "java", "mktemp", "readlink", "rm", "uname")
SECRET = "0123456789abcdefGRAFANA"
PASSWORD = "correct-horse-battery"


def client(client_id: str, *redirect_uris: str, pkce: bool = True) -> OidcClient:
    return OidcClient(
        client_id=client_id,
        name=client_id.title(),
        redirect_uris=redirect_uris or (f"https://{client_id}.{DOMAIN}/callback",),
        secret=client_secret("apps", client_id, needed_by="a test"),
        allowed_groups=("admins",),
        pkce=pkce,
    )


GRAFANA = client("grafana")


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a run of the script said: the result by object, such as `client grafana`."""

    results: Mapping[str, str]
    summary: str
    command_lines: frozenset[str]


class Realm:
    """Runs the script as the Job does, for any groups and clients."""

    def __init__(self, server: KeycloakServer, directory: Path) -> None:
        self.server = server
        self.directory = directory
        self.tools = directory / "tools"
        self.tools.mkdir()
        for tool in IMAGE_TOOLS:
            (self.tools / tool).symlink_to(shutil.which(tool) or tool)

    def hold(self, *clients: OidcClient, groups: tuple[str, ...] = ("admins", "family")) -> Run:
        completed, seen = self.attempt(*clients, groups=groups)
        assert completed.returncode == 0, completed.stdout + completed.stderr
        lines = completed.stdout.splitlines()
        results = dict(line.rsplit(": ", 1) for line in lines[:-1])
        return Run(results=results, summary=lines[-1], command_lines=seen)

    def attempt(
        self, *clients: OidcClient, groups: tuple[str, ...] = ("admins", "family"), **environment: str
    ) -> tuple[subprocess.CompletedProcess[str], frozenset[str]]:
        document = realm_document(display_name="Home", groups=[Group(name=name) for name in groups], clients=clients)
        files, values = self.directory / "files", self.directory / "secrets"
        for directory, content in (
            (files, realm_files(document)),
            (values, {each.client_id: SECRET for each in clients}),
        ):
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()
            for name, text in content.items():
                (directory / name).write_text(text)
        return self._run(files, values, environment)

    def _run(
        self, files: Path, values: Path, environment: Mapping[str, str]
    ) -> tuple[subprocess.CompletedProcess[str], frozenset[str]]:
        variables = {
            "PATH": str(self.tools),
            "HOME": "/nonexistent",
            "KEYCLOAK_HOME": str(self.server.home),
            "KEYCLOAK_URL": self.server.url,
            "ADMIN_CLIENT": ADMIN_CLIENT,
            "KC_CLI_CLIENT_SECRET": self.server.admin_secret,
            "REALM": REALM,
            "REALM_FILES": str(files),
            "REALM_SECRETS": str(values),
            **environment,
        }
        with command_lines() as seen:
            completed = subprocess.run(
                ["bash", CHECKOUT / "components" / "keycloak" / SCRIPT],
                env=variables,
                capture_output=True,
                text=True,
                check=False,
                timeout=400,
            )
        return completed, frozenset(seen)


class command_lines:  # noqa: N801 - used as a context manager
    """Collects the arguments of every process that runs meanwhile."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> set[str]:
        self._thread.start()
        return self._seen

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join(timeout=10)

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    self._seen.add(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
                except OSError:
                    continue


@dataclass(frozen=True, kw_only=True)
class State:
    """What a run did, and what was there after it, by name."""

    run: Run
    clients: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, Mapping[str, Any]]
    scopes: Mapping[str, Mapping[str, Any]]
    realm: Mapping[str, Any]


def state(server: KeycloakServer, run: Run) -> State:
    with server.admin() as admin:
        return State(
            run=run,
            clients={found["clientId"]: found for found in admin.get("/clients").json()},
            groups={found["name"]: found for found in admin.get("/groups").json()},
            scopes={found["name"]: found for found in admin.get("/client-scopes").json()},
            realm=admin.get("").json(),
        )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeycloakServer]:
    with running(distribution(), tmp_path_factory.mktemp("keycloak") / "keycloak.log") as started:
        yield started


@pytest.fixture(scope="module")
def realm(server: KeycloakServer, tmp_path_factory: pytest.TempPathFactory) -> Realm:
    return Realm(server, tmp_path_factory.mktemp("realm"))


@pytest.fixture(scope="module")
def created(realm: Realm) -> State:
    return state(realm.server, realm.hold(GRAFANA, client("photos", pkce=False)))


@pytest.fixture(scope="module")
def again(realm: Realm, created: State) -> State:
    return state(realm.server, realm.hold(GRAFANA, client("photos", pkce=False)))


@pytest.fixture(scope="module")
def changed(realm: Realm, again: State) -> State:
    """After people did things by hand, a redirect URI moved, a client and a group went, and one came."""
    with realm.server.admin() as admin:
        for name in ("by-hand", "portal"):
            admin.post("/clients", json={"clientId": name, "redirectUris": ["https://old/"]}).raise_for_status()
        admin.post("/groups", json={"name": "neighbours"}).raise_for_status()
        scope, grafana = again.scopes[GROUPS], again.clients["grafana"]
        admin.delete(f"/clients/{grafana['id']}/default-client-scopes/{scope['id']}").raise_for_status()
        (mapper,) = scope["protocolMappers"]
        mapper["config"]["full.path"] = "true"
        admin.put(
            f"/client-scopes/{scope['id']}/protocol-mappers/models/{mapper['id']}", json=mapper
        ).raise_for_status()
    moved = replace(GRAFANA, redirect_uris=(f"https://metrics.{DOMAIN}/callback",))
    return state(realm.server, realm.hold(moved, client("portal"), groups=("admins",)))


class TestFirstRun:
    def test_everything_is_created(self, created: State) -> None:
        assert set(created.run.results.values()) == {"created"}
        assert created.run.summary == "realm home: 7 created, 0 updated, 0 unchanged, 0 removed"
        assert {"grafana", "photos"} < created.clients.keys()
        assert created.groups.keys() == {"admins", "family"}
        assert created.realm["displayName"] == "Home"
        assert created.realm["bruteForceProtected"] is True

    def test_the_scope_names_groups_without_their_path(self, created: State) -> None:
        (mapper,) = created.scopes[GROUPS]["protocolMappers"]
        assert mapper["protocolMapper"] == "oidc-group-membership-mapper"
        assert mapper["config"]["claim.name"] == "groups"
        assert mapper["config"]["full.path"] == "false"

    def test_a_client_is_confidential_with_the_generated_secret_and_its_own_audience(self, created: State) -> None:
        grafana = created.clients["grafana"]
        assert grafana["secret"] == SECRET
        assert not grafana["publicClient"]
        assert not grafana["directAccessGrantsEnabled"]
        assert grafana["redirectUris"] == [f"https://grafana.{DOMAIN}/callback"]
        assert GROUPS in grafana["defaultClientScopes"]
        assert [mapper["config"]["included.client.audience"] for mapper in grafana["protocolMappers"]] == ["grafana"]

    def test_only_a_client_that_cannot_use_pkce_goes_without(self, created: State) -> None:
        challenge = {
            name: created.clients[name]["attributes"].get("pkce.code.challenge.method")
            for name in ("grafana", "photos")
        }
        assert challenge == {"grafana": "S256", "photos": None}

    def test_no_secret_is_ever_an_argument_of_a_process(self, created: State, server: KeycloakServer) -> None:
        lines = created.run.command_lines
        assert any("KcAdmMain" in line for line in lines), "the watch saw nothing"
        assert [line for line in lines if SECRET in line or server.admin_secret in line] == []


class TestSignIn:
    """Through the gateway, as a browser; the token as a pod fetches it, from inside."""

    @pytest.fixture(scope="class")
    @staticmethod
    def person(server: KeycloakServer, created: State) -> str:
        with server.admin() as admin:
            user = {
                "username": "alma",
                "enabled": True,
                "email": "alma@example.org",
                "emailVerified": True,
                "firstName": "Alma",
                "lastName": "Home",
                "groups": ["admins"],
                "credentials": [{"type": "password", "value": PASSWORD, "temporary": False}],
            }
            admin.post("/users", json=user).raise_for_status()
        return "alma"

    @pytest.fixture(scope="class")
    @staticmethod
    def tokens(server: KeycloakServer, created: State, person: str) -> dict[str, Any]:
        redirect_uri = f"https://grafana.{DOMAIN}/callback"
        verifier = secrets.token_urlsafe(48)
        with server.gateway() as browser:
            page = browser.get(f"/realms/{REALM}/protocol/openid-connect/auth", params=request(redirect_uri, verifier))
            assert page.status_code == 200, page.text[-2000:]
            found = re.search(r'action="([^"]+)"', page.text)
            assert found, page.text[-2000:]
            # The form leads to the public host, which is the forwarded one.
            action = html.unescape(found[1])
            assert action.startswith(f"https://sso.{DOMAIN}/")
            answer = browser.post(action, data={"username": person, "password": PASSWORD})
        assert answer.status_code == 302, answer.text[-2000:]
        location = urlsplit(answer.headers["location"])
        assert f"{location.scheme}://{location.netloc}{location.path}" == redirect_uri
        (code,) = parse_qs(location.query)["code"]
        response = httpx.post(
            f"{server.url}/realms/{REALM}/protocol/openid-connect/token",
            data={
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": redirect_uri,
                "code_verifier": verifier,
            },
            auth=("grafana", SECRET),
            timeout=60,
        )
        assert response.status_code == 200, response.text
        return response.json()

    def test_the_access_token_names_the_client_as_audience(self, tokens: dict[str, Any]) -> None:
        audience = claims(tokens["access_token"])["aud"]
        assert "grafana" in ([audience] if isinstance(audience, str) else audience)

    @pytest.mark.parametrize("token", ["access_token", "id_token"])
    def test_groups_have_no_slash_in_front(self, token: str, tokens: dict[str, Any]) -> None:
        assert claims(tokens[token])["groups"] == ["admins"]

    def test_the_issuer_is_the_public_address_even_for_who_asks_inside(self, tokens: dict[str, Any]) -> None:
        assert claims(tokens["id_token"])["iss"] == issuer_url(DOMAIN)

    def test_the_token_is_good_inside_for_user_information(
        self, server: KeycloakServer, tokens: dict[str, Any]
    ) -> None:
        answer = httpx.get(
            f"{server.url}/realms/{REALM}/protocol/openid-connect/userinfo",
            headers={"Authorization": f"Bearer {tokens['access_token']}"},
            timeout=60,
        )
        assert answer.status_code == 200, answer.text
        assert answer.json()["groups"] == ["admins"]

    @pytest.mark.parametrize(
        ("redirect_uri", "with_challenge"),
        [("https://evil.example.org/callback", True), (f"https://grafana.{DOMAIN}/callback", False)],
    )
    def test_a_strange_redirect_and_a_request_without_pkce_are_refused(
        self, redirect_uri: str, with_challenge: bool, server: KeycloakServer, created: State
    ) -> None:
        asked = request(redirect_uri, "x" * 64)
        if not with_challenge:
            asked = {key: value for key, value in asked.items() if not key.startswith("code_challenge")}
        with server.gateway() as browser:
            answer = browser.get(f"/realms/{REALM}/protocol/openid-connect/auth", params=asked)
        refused = answer.status_code == 400 or "error=invalid_request" in answer.headers.get("location", "")
        assert refused, (answer.status_code, answer.headers)


class TestSecondRun:
    def test_nothing_changes(self, created: State, again: State) -> None:
        assert set(again.run.results.values()) == {"unchanged"}, again.run.results
        assert again.run.summary == "realm home: 0 created, 0 updated, 7 unchanged, 0 removed"
        assert again.clients == created.clients
        assert again.groups == created.groups
        assert again.scopes == created.scopes
        assert again.realm == created.realm


class TestChange:
    def test_a_client_is_updated_in_place(self, again: State, changed: State) -> None:
        before, after = again.clients["grafana"], changed.clients["grafana"]
        assert changed.run.results["client grafana"] == "updated"
        assert after["redirectUris"] == [f"https://metrics.{DOMAIN}/callback"]
        assert (after["id"], after["secret"]) == (before["id"], before["secret"])

    def test_what_is_no_longer_wanted_is_removed(self, changed: State) -> None:
        assert changed.run.results["client photos"] == changed.run.results["group family"] == "removed"
        assert "photos" not in changed.clients
        assert "family" not in changed.groups

    def test_what_people_made_by_hand_stays(self, changed: State) -> None:
        assert changed.clients["by-hand"]["redirectUris"] == ["https://old/"]
        assert "neighbours" in changed.groups
        assert {"account", "admin-cli", "realm-management"} < changed.clients.keys()
        assert {"profile", "email", "offline_access"} < changed.scopes.keys()

    def test_drift_is_repaired(self, again: State, changed: State) -> None:
        assert set(changed.clients["grafana"]["defaultClientScopes"]) == set(
            again.clients["grafana"]["defaultClientScopes"]
        )
        (mapper,) = changed.scopes[GROUPS]["protocolMappers"]
        assert mapper["config"]["full.path"] == "false"
        assert changed.run.results["mapper of groups groups"] == "updated"

    def test_the_group_that_stays_keeps_its_identity(self, again: State, changed: State) -> None:
        assert changed.groups["admins"]["id"] == again.groups["admins"]["id"]

    def test_a_client_made_by_hand_is_taken_over_but_never_removed(self, realm: Realm, changed: State) -> None:
        portal = changed.clients["portal"]
        assert portal["redirectUris"] == [f"https://portal.{DOMAIN}/callback"]
        assert GROUPS in portal["defaultClientScopes"]
        after = state(realm.server, realm.hold(GRAFANA, groups=("admins",)))
        assert "client portal" not in after.run.results
        assert after.clients["portal"]["id"] == portal["id"]


class TestFailure:
    def test_a_missing_secret_ends_the_run_before_it_touches_anything(self, realm: Realm) -> None:
        completed, _ = realm.attempt(GRAFANA, REALM_SECRETS="/nonexistent", KEYCLOAK_URL="http://127.0.0.1:9")
        assert completed.returncode == 1
        assert "client grafana has no secret: /nonexistent/grafana is missing" in completed.stderr

    def test_a_wrong_admin_secret_is_said_and_not_shown(self, realm: Realm) -> None:
        completed, _ = realm.attempt(GRAFANA, KC_CLI_CLIENT_SECRET="not-the-secret")
        assert completed.returncode == 1
        assert "realm home: kcadm config credentials" in completed.stderr
        assert "not-the-secret" not in completed.stdout + completed.stderr


def request(redirect_uri: str, verifier: str) -> dict[str, str]:
    """An authorization request with PKCE, for the scopes that the proxies and Grafana ask for."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    return {
        "client_id": "grafana",
        "response_type": "code",
        "scope": f"openid email profile {GROUPS}",
        "redirect_uri": redirect_uri,
        "state": "x",
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }


def claims(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return found
