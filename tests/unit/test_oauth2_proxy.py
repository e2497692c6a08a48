"""The proxies as they are declared: their configuration, their chart's values, and the rule for cookie secrets."""

from __future__ import annotations

import json
import re
import string
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.client_secrets import COOKIE_SECRET_LENGTH
from components.interfaces import INTERFACES
from components.oauth2_proxy import AES_KEY_LENGTHS, config_file, valid_cookie_secret
from components.user_interfaces import Proxied
from components.versions import OAUTH2_PROXY_IMAGE
from platformctl.render.recorder import Recording
from platformctl.tools import pins
from platformctl.tools.catalogue import select
from tests.graph import resource

PROXIED = [each.label for each in INTERFACES if isinstance(each.sign_in, Proxied)]


@pytest.fixture(params=[(stack, label) for stack in ("dev", "prod") for label in PROXIED], ids="-".join)
def proxy(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> tuple[Recording, str]:
    stack, label = request.param
    return recordings[stack], label


def values(proxy: tuple[Recording, str]) -> dict[str, Any]:
    recording, label = proxy
    return resource(recording, "HelmRelease", f"oauth2-proxy-{label}").inputs["spec"]["values"]


def config(proxy: tuple[Recording, str]) -> dict[str, Any]:
    return tomllib.loads(values(proxy)["config"]["configFile"])


def test_the_secret_is_named_and_no_value_of_it_is_anywhere_else(proxy: tuple[Recording, str]) -> None:
    recording, label = proxy
    name = values(proxy)["config"]["existingSecret"]
    secret = resource(recording, "Secret", name).inputs
    assert secret["metadata"]["namespace"] == "sign-in"
    assert secret["stringData"] == {
        "client-id": "<secret>",
        "client-secret": f"<secret generated oidc-{label}>",
        "cookie-secret": f"<secret generated cookie-{label}>",
    }
    assert not re.search(r"client.?id|client.?secret|cookie.?secret", json.dumps(config(proxy)))


def test_each_proxy_has_secrets_and_a_cookie_of_its_own(recordings: dict[str, Recording]) -> None:
    for recording in recordings.values():
        cookies = {config((recording, label))["cookie_name"] for label in PROXIED}
        assert cookies == {f"__Host-oauth2-proxy-{label}" for label in PROXIED}
        generated = [found for found in recording.registrations if found.type.startswith("random:")]
        lengths = {found.name: found.inputs["length"] for found in generated if found.name.startswith("cookie-")}
        assert lengths == {f"cookie-{label}": 32 for label in PROXIED}


def test_the_cookie_belongs_to_one_host(proxy: tuple[Recording, str]) -> None:
    found = config(proxy)
    assert found["cookie_secure"] is True
    assert not found.keys() & {"cookie_domains", "cookie_path"}


def test_issuer_redirect_and_whitelist_say_the_same_as_realm_and_route(proxy: tuple[Recording, str]) -> None:
    recording, label = proxy
    found, domain = config(proxy), recording.exports["domain"]
    (host,) = resource(recording, "HTTPRoute", label).inputs["spec"]["hostnames"]
    assert found["redirect_url"] == f"https://{host}/oauth2/callback"
    assert found["whitelist_domains"] == [host]
    assert found["oidc_issuer_url"] == f"https://sso.{domain}/realms/home"
    assert found["login_url"].startswith(found["oidc_issuer_url"] + "/")


def test_what_the_proxy_calls_itself_stays_in_the_cluster(proxy: tuple[Recording, str]) -> None:
    """The home's DNS and a staging certificate, which nobody trusts, must not stand between a pod and the realm."""
    found = config(proxy)
    assert found["skip_oidc_discovery"] is True
    for key in ("redeem_url", "oidc_jwks_url"):
        assert re.match(r"http://keycloak\.keycloak\.svc:\d+/realms/home/", found[key])
    assert "ssl_insecure_skip_verify" not in found


def test_only_named_groups_come_in(proxy: tuple[Recording, str]) -> None:
    found = config(proxy)
    assert found["allowed_groups"]
    assert all(re.fullmatch(r"[a-z0-9-]+", group) for group in found["allowed_groups"])
    assert found["oidc_groups_claim"] == "groups"
    assert "groups" in found["scope"].split()


def test_nothing_is_left_open(proxy: tuple[Recording, str]) -> None:
    skipping = [key for key in config(proxy) if key.startswith(("skip_auth", "trusted_ips", "api_routes", "htpasswd"))]
    assert skipping == []
    assert values(proxy).get("extraArgs", {}) == {}


def test_forwarded_headers_are_believed_of_the_cluster_alone(proxy: tuple[Recording, str]) -> None:
    found = config(proxy)
    assert found["reverse_proxy"] is True
    assert "10.42.0.0/16" in found["trusted_proxy_ips"]
    assert not set(found["trusted_proxy_ips"]) & {"0.0.0.0/0", "::/0"}


def test_helm_makes_no_template_of_the_file(proxy: tuple[Recording, str]) -> None:
    assert "{{" not in values(proxy)["config"]["configFile"]


def test_what_is_tested_for_real_is_what_is_deployed() -> None:
    (tool,) = select(["oauth2-proxy"])
    assert f"v{pins.pinned_version(tool)}" == OAUTH2_PROXY_IMAGE


def test_the_file_says_what_was_meant() -> None:
    meant = {"text": 'a "quoted" \\ ä', "list": ["a", "b"], "flag": True, "empty": []}
    assert tomllib.loads(config_file(meant)) == meant


@pytest.mark.parametrize(
    ("secret", "valid"),
    [
        ("a" * 16, True),
        ("a" * 24, True),
        ("a" * 32, True),
        ("a" * 31, False),
        ("a" * 33, False),
        # 43 characters of URL-safe base64 are 32 bytes, with or without padding.
        ("9X0mbXfo1gq3jXVrH-o1Y_fjfUXKFXpkZYfQF8UzqLM", True),
        ("9X0mbXfo1gq3jXVrH-o1Y_fjfUXKFXpkZYfQF8UzqLM=", True),
        # The same bytes as `openssl rand -base64 32` writes them: neither URL-safe nor 32 long.
        ("9X0mbXfo1gq3jXVrH+o1Y/fjfUXKFXpkZYfQF8UzqLM=", False),
        ('"' + "a" * 32 + '"', False),
        ("a" * 32 + "\n", True),
        ("!" * 32 + "\n", False),
        ("", False),
        ("ä" * 8, True),
        ("ä" * 16, True),
        ("ä" * 9, False),
    ],
)
def test_a_cookie_secret_is_a_key_as_it_is_or_decoded(secret: str, valid: bool) -> None:
    assert valid_cookie_secret(secret) is valid


@given(
    st.text(alphabet=string.ascii_letters + string.digits, min_size=COOKIE_SECRET_LENGTH, max_size=COOKIE_SECRET_LENGTH)
)
def test_whatever_is_generated_is_valid(secret: str) -> None:
    assert COOKIE_SECRET_LENGTH in AES_KEY_LENGTHS
    assert valid_cookie_secret(secret)
