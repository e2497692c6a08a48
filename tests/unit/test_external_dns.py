"""Public DNS as it is declared: whose records, from what, and with which token."""

from __future__ import annotations

from typing import Any

import pytest

from components import external_dns
from components.registry import SECRETS
from platformctl.render.recorder import Recording
from tests.altered import recorded
from tests.graph import resource

STACKS = ("dev", "prod")


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> Recording:
    return recordings[request.param]


def values(recording: Recording) -> dict[str, Any]:
    return resource(recording, "HelmRelease", "external-dns").inputs["spec"]["values"]


def test_the_stacks_do_not_touch_each_others_records(recordings: dict[str, Recording]) -> None:
    dev, prod = (values(recordings[stack]) for stack in STACKS)
    assert dev["registry"] == prod["registry"] == "txt"
    assert dev["txtOwnerId"] != prod["txtOwnerId"]
    # Both are in one zone, where two TXT records of one name would be one record.
    assert dev["domainFilters"] == prod["domainFilters"] == ["keithjackson.dev"]
    assert dev["txtPrefix"] != prod["txtPrefix"]


def test_a_record_of_a_long_name_still_has_room_for_its_mark(recording: Recording) -> None:
    assert len(values(recording)["txtPrefix"] + "cname-") <= 63 - 40


def test_records_are_deleted_only_where_the_stack_says_so(recordings: dict[str, Recording]) -> None:
    assert values(recordings["prod"])["policy"] == "upsert-only"
    assert values(recordings["dev"])["policy"] == "sync"
    assert values(recorded("prod", {"externalDns": {"policy": "sync"}}))["policy"] == "sync"


def test_routes_and_services_are_read_where_they_are_marked_public(recording: Recording) -> None:
    found = values(recording)
    assert found["sources"] == ["gateway-httproute", "service"]
    assert found["labelFilter"] == "home.platform/public=true"


def test_the_annotation_prefix_does_not_change_with_the_version(recording: Recording) -> None:
    assert values(recording)["annotationPrefix"] == "external-dns.alpha.kubernetes.io/"


def test_the_token_is_a_secret_by_name_that_git_provides(recording: Recording) -> None:
    found = values(recording)
    assert found["provider"] == {"name": "cloudflare"}
    # A key or an e-mail address beside the token would make Cloudflare refuse both.
    (variable,) = found["env"]
    use = external_dns.CLOUDFLARE_TOKEN
    assert use in SECRETS
    reference = {"name": use.name, "key": use.keys[0]}
    assert variable == {"name": "CF_API_TOKEN", "valueFrom": {"secretKeyRef": reference}}
    assert resource(recording, "HelmRelease", "external-dns").inputs["metadata"]["namespace"] == use.namespace
