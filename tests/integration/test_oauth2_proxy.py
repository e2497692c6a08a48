"""The real oauth2-proxy with the configuration that the stack renders; only two addresses inside the cluster differ."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from components.interfaces import INTERFACES
from components.oauth2_proxy import CALLBACK, valid_cookie_secret
from components.user_interfaces import Proxied
from platformctl.render.recorder import Recording
from platformctl.tools import ensure
from tests.fake_realm import FakeRealm, Protected, challenge, serve_protected, serve_realm
from tests.oauth2_proxy_server import CLIENT_SECRET, COOKIE_SECRET, HTTP, Release, morsels, running, sent_back

PROXIED = [each.label for each in INTERFACES if isinstance(each.sign_in, Proxied)]
GROUPS = ["platform-admins", "household"]


@dataclass(frozen=True, kw_only=True)
class Running:
    """A proxy that runs, with the realm and the service around it."""

    address: str
    metrics: str
    release: Release
    realm: FakeRealm
    protected: Protected

    @property
    def host(self) -> str:
        return urlsplit(self.release.entry("redirect_url")).netloc

    def request(self, path: str, *, method: str = "GET", cookies: str = "", **headers: str) -> httpx.Response:
        """As the Gateway passes it on; `cookies` is what the browser sends."""
        sent = {"Host": self.host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        HTTP.cookies.clear()
        return HTTP.request(method, f"{self.address}{path}", headers=sent | ({"Cookie": cookies} if cookies else {}))

    def sign_in(self, path: str = "/") -> tuple[httpx.Response, str]:
        """A person opens `path` and signs in: the answer to the callback, and the cookies that the browser then has."""
        first = self.request(path)
        query = self.realm.sign_in(dict(parse_qsl(urlsplit(first.headers["Location"]).query)))
        callback = self.request(f"{CALLBACK}?{query}", cookies=sent_back(first))
        return callback, sent_back(callback)


@pytest.fixture(scope="session")
def binary() -> Path:
    return ensure(["oauth2-proxy"])["oauth2-proxy"]


@pytest.fixture
def start(binary: Path, tmp_path: Path, recordings: dict[str, Recording]) -> Iterator[Callable[..., Running]]:
    """Starts the proxy of an interface of the dev stack; `entries` replace strings of its configuration."""
    with ExitStack() as stack:

        def begin(label: str, groups: list[str] = GROUPS, **entries: str) -> Running:
            release = Release.rendered(recordings["dev"], label)
            realm = FakeRealm(
                issuer=release.entry("oidc_issuer_url"),
                client_id=label,
                client_secret=CLIENT_SECRET,
                scopes=("openid", "email", "profile", "groups"),
                groups=groups,
            )
            protected = Protected()
            (interface,) = (each for each in INTERFACES if each.label == label)
            moved = release.moved(
                {
                    "http://keycloak.keycloak.svc:8080": stack.enter_context(serve_realm(realm)),
                    interface.url: stack.enter_context(serve_protected(protected)),
                },
                **entries,
            )
            address, metrics = stack.enter_context(running(binary, moved, tmp_path))
            return Running(address=address, metrics=metrics, release=moved, realm=realm, protected=protected)

        yield begin


@pytest.mark.parametrize("label", PROXIED)
def test_whoever_is_not_signed_in_is_sent_to_the_realm(
    label: str, start: Callable[..., Running], recordings: dict[str, Recording]
) -> None:
    proxy = start(label)
    answer = proxy.request("/some/page?x=1")
    assert answer.status_code == 302
    target = urlsplit(answer.headers["Location"])
    query = dict(parse_qsl(target.query))
    domain = recordings["dev"].exports["domain"]
    assert target._replace(query="").geturl() == f"https://sso.{domain}/realms/home/protocol/openid-connect/auth"
    assert query["client_id"] == label
    assert query["redirect_uri"] == f"https://{label}.{domain}/oauth2/callback"
    assert query["response_type"] == "code"
    assert set(query["scope"].split()) == {"openid", "email", "profile", "groups"}
    assert query["code_challenge_method"] == "S256"
    assert len(query["code_challenge"]) == len(challenge("any"))
    assert query["nonce"]
    assert proxy.protected.requests == []


@pytest.mark.parametrize("label", PROXIED)
def test_the_kubelet_and_prometheus_get_their_answers(label: str, start: Callable[..., Running]) -> None:
    proxy = start(label)
    assert HTTP.get(f"{proxy.address}/ping").status_code == 200
    assert HTTP.get(f"{proxy.address}/ready").status_code == 200
    proxy.request("/")
    assert 'oauth2_proxy_requests_total{code="302"} 1' in HTTP.get(f"{proxy.metrics}/metrics").text


def test_no_path_and_no_header_gets_past_the_proxy(start: Callable[..., Running]) -> None:
    proxy = start("longhorn")
    headers = [
        {},
        {"X_Forwarded_Uri": "/ping", "X_Forwarded_Host": "other.example.org", "X_Original_Url": "/ping"},
        {"X_Forwarded_For": "10.42.0.1", "X_Real_Ip": "10.42.0.1", "X_Forwarded_Proto": "https"},
        {"X_Forwarded_User": "ada", "X_Forwarded_Groups": "platform-admins", "X_Auth_Request_User": "ada"},
        {"Authorization": "Basic YWRhOmFkYQ==", "Accept": "application/json"},
        {"Authorization": "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."},
        {"Connection": "Upgrade", "Upgrade": "websocket"},
    ]
    paths = ["/", "/v1/volumes", "/api/v1/query", "/metrics", "/static/app.js", "/ping/", "//ping", "/ready/../v1"]
    for method, path, each in product(["GET", "POST", "DELETE", "OPTIONS", "HEAD"], paths, headers):
        status = proxy.request(path, method=method, **each).status_code
        assert status in (301, 302, 401, 403), (method, path, each)
    assert proxy.protected.requests == []


@pytest.mark.parametrize("label", PROXIED)
def test_a_member_of_an_allowed_group_comes_in_and_returns_to_the_page(
    label: str, start: Callable[..., Running]
) -> None:
    proxy = start(label)
    callback, cookies = proxy.sign_in("/volume?name=a")
    assert callback.status_code == 302, callback.text
    assert callback.headers["Location"] == "/volume?name=a"
    assert proxy.request("/volume?name=a", cookies=cookies).json() == "inside"
    ((path, headers),) = proxy.protected.requests
    assert path == "/volume?name=a"
    # The service gets no credentials that it could use or leak.
    assert not headers.keys() & {"authorization", "x-forwarded-access-token", "x-forwarded-user", "x-forwarded-groups"}


def test_the_cookie_stays_on_its_host(start: Callable[..., Running]) -> None:
    proxy = start("longhorn")
    callback, _ = proxy.sign_in()
    session = [morsel for morsel in morsels(callback) if morsel.value]
    assert session
    for morsel in session:
        # What browsers demand of the prefix: secure, for the whole host, without a domain.
        assert morsel.key.startswith("__Host-oauth2-proxy-longhorn")
        assert (morsel["path"], morsel["domain"]) == ("/", "")
        assert morsel["secure"]
        assert morsel["httponly"]
        assert morsel["samesite"].lower() == "lax"


def test_whoever_is_in_no_allowed_group_stays_out(start: Callable[..., Running]) -> None:
    proxy = start("longhorn", groups=["household"])
    callback, cookies = proxy.sign_in()
    assert callback.status_code == 403
    assert proxy.request("/", cookies=cookies).status_code in (302, 403)
    assert proxy.protected.requests == []


def test_whoever_leaves_the_group_is_out_after_the_next_refresh(start: Callable[..., Running]) -> None:
    proxy = start("longhorn", cookie_refresh="1s")
    _, cookies = proxy.sign_in()
    assert proxy.request("/before", cookies=cookies).status_code == 200
    proxy.realm.groups = ["household"]
    # The proxy counts in whole seconds.
    time.sleep(2.5)
    assert proxy.request("/after", cookies=cookies).status_code in (302, 403)
    assert proxy.protected.paths == ["/before"]


def test_a_session_of_one_interface_opens_no_other(start: Callable[..., Running]) -> None:
    _, cookies = start("prometheus").sign_in()
    other = start("alertmanager")
    assert other.request("/", cookies=cookies).status_code == 302
    assert other.protected.requests == []


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example/", "https://sso.dev.home.keithjackson.dev/"]
)
def test_nobody_is_led_elsewhere_after_signing_in(target: str, start: Callable[..., Running]) -> None:
    proxy = start("longhorn")
    callback, _ = proxy.sign_in(f"/oauth2/start?rd={target}")
    assert callback.headers["Location"] == "/"


def test_a_scope_that_the_realm_lacks_ends_the_login(start: Callable[..., Running]) -> None:
    proxy = start("longhorn")
    proxy.realm.scopes = ("openid", "email", "profile")
    callback, _ = proxy.sign_in()
    assert callback.status_code == 403
    assert proxy.protected.requests == []


def test_a_key_that_the_proxy_does_not_know_is_an_error(
    binary: Path, tmp_path: Path, start: Callable[..., Running]
) -> None:
    release = start("longhorn").release
    assert checked(binary, release, tmp_path) == 0
    broken = Release(config=f'{release.config}cookie_domian = "x"\n', arguments=(), environment=release.environment)
    assert checked(binary, broken, tmp_path) != 0


def checked(binary: Path, release: Release, directory: Path, **variables: str) -> int:
    """The exit code of the proxy's own check of its configuration."""
    config = directory / "checked.cfg"
    config.write_text(release.config)
    environment: dict[str, Any] = {**os.environ, **release.environment, **variables}
    command = [binary, "--config-test", f"--config={config}"]
    return subprocess.run(command, env=environment, capture_output=True, check=False, timeout=30).returncode


SECRETS = {
    "letters and digits, 32": COOKIE_SECRET,
    "raw bytes, 16": "0123456789abcde!",
    "raw bytes, 24": "0123456789abcdef01234567",
    "raw bytes, 31": COOKIE_SECRET[:-1],
    "raw bytes, 33": f"{COOKIE_SECRET}!",
    "url-safe base64 of 32": "9X0mbXfo1gq3jXVrH-o1Y_fjfUXKFXpkZYfQF8UzqLM",
    "the same, padded": "9X0mbXfo1gq3jXVrH-o1Y_fjfUXKFXpkZYfQF8UzqLM=",
    "standard base64 of 32": "9X0mbXfo1gq3jXVrH+o1Y/fjfUXKFXpkZYfQF8UzqLM=",
    "base64 of 20": "MDEyMzQ1Njc4OWFiY2RlZmdoaWo",
    "a line break after base64": "9X0mbXfo1gq3jXVrH-o1Y_fjfUXKFXpkZYfQF8UzqLM\n",
    "a line break after padding": "9X0mbXfo1gq3jXVrH-o1Y_fjfUXKFXpkZYfQF8UzqLM=\n",
    "quotes around 32": f'"{COOKIE_SECRET}"',
    "umlauts, 16 bytes": "ä" * 8,
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
def test_our_rule_for_cookie_secrets_is_the_proxys_own(
    secret: str, binary: Path, tmp_path: Path, recordings: dict[str, Recording]
) -> None:
    release = Release.rendered(recordings["dev"], "longhorn")
    taken = checked(binary, release, tmp_path, OAUTH2_PROXY_COOKIE_SECRET=secret) == 0
    assert taken is valid_cookie_secret(secret)
