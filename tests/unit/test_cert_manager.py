"""Certificates as they are declared: issuers, the challenge's way past split-horizon DNS, and the wildcard."""

from __future__ import annotations

from typing import Any

import pytest

from components import cert_manager
from components.registry import SECRETS
from platformctl.render.recorder import Recording
from tests.altered import recorded
from tests.graph import resource

STACKS = ("dev", "prod")


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


def values(recording: Recording) -> dict[str, Any]:
    return resource(recording, "HelmRelease", "cert-manager").inputs["spec"]["values"]


def acme(recording: Recording, environment: str) -> dict[str, Any]:
    return resource(recording, "ClusterIssuer", f"letsencrypt-{environment}").inputs["spec"]["acme"]


def test_the_challenge_is_looked_up_outside_the_home(recording: Recording) -> None:
    assert values(recording)["dns01RecursiveNameservers"] == "1.1.1.1:53,9.9.9.9:53"
    assert values(recording)["dns01RecursiveNameserversOnly"] is True


def test_an_uninstall_keeps_the_definitions_and_so_every_certificate(recording: Recording) -> None:
    assert values(recording)["crds"] == {"enabled": True, "keep": True}


def test_staging_and_production_are_different_authorities_with_accounts_of_their_own(recording: Recording) -> None:
    staging, production = (acme(recording, environment) for environment in ("staging", "production"))
    assert "staging" in staging["server"]
    assert "staging" not in production["server"]
    assert staging["privateKeySecretRef"] != production["privateKeySecretRef"]


def test_the_token_is_where_cluster_issuers_look_for_it_and_git_provides_it(recording: Recording) -> None:
    use = cert_manager.CLOUDFLARE_TOKEN
    assert use in SECRETS
    assert use.namespace == resource(recording, "HelmRelease", "cert-manager").inputs["metadata"]["namespace"]
    for environment in ("staging", "production"):
        (solver,) = acme(recording, environment)["solvers"]
        # An e-mail address beside the token would make Cloudflare refuse both.
        assert solver["dns01"]["cloudflare"] == {"apiTokenSecretRef": {"name": use.name, "key": use.keys[0]}}


@pytest.mark.parametrize("environment", ["staging", "production"])
def test_the_stack_chooses_who_signs_the_wildcard(environment: str) -> None:
    found = recorded("dev", {"certManager": {"issuer": environment}})
    spec = resource(found, "Certificate", "wildcard").inputs["spec"]
    assert spec["issuerRef"] == {
        "group": "cert-manager.io",
        "kind": "ClusterIssuer",
        "name": f"letsencrypt-{environment}",
    }
    assert spec["privateKey"]["rotationPolicy"] == "Always"
