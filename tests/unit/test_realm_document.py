"""The realm's document: what each client and group becomes, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.errors import PlatformError
from components.keycloak.document import realm_document, realm_files
from components.keycloak.reconciliation import content_hash
from components.realm import GROUPS, MANAGED, Group, OidcClient, client_secret

CLIENT = OidcClient(
    client_id="photos",
    name="Photos",
    redirect_uris=("https://photos.example.org/callback", "app.photos:///oauth"),
    secret=client_secret("photos", "photos-oidc", needed_by="Photos"),
    web_origins=("https://photos.example.org",),
    allowed_groups=("family",),
)
FAMILY = Group(name="family")


def mistakes(*clients: OidcClient, groups: tuple[Group, ...] = (FAMILY,)) -> tuple[str, ...]:
    with pytest.raises(PlatformError) as caught:
        realm_document(display_name="Home", groups=groups, clients=clients)
    return caught.value.sentences


def test_everything_that_is_created_carries_the_mark() -> None:
    document = realm_document(display_name="Home", groups=[FAMILY], clients=[CLIENT])
    for section in ("clientScopes", "groups", "clients"):
        for entry in document[section]:
            assert entry["attributes"][MANAGED] in ("true", ["true"])


def test_each_object_is_a_file_of_its_own() -> None:
    files = realm_files(realm_document(display_name="Home", groups=[FAMILY], clients=[CLIENT]))
    assert sorted(files) == [
        "client.photos.json",
        "group.family.json",
        "mapper.groups.groups.json",
        "realm.json",
        "scope.groups.json",
    ]


def test_the_same_document_gives_the_same_files_whatever_the_order_of_uris() -> None:
    turned = replace(CLIENT, redirect_uris=tuple(reversed(CLIENT.redirect_uris)))
    texts = [
        realm_files(realm_document(display_name="Home", groups=[FAMILY], clients=[client]))
        for client in (CLIENT, turned)
    ]
    assert texts[0] == texts[1]


def test_another_redirect_uri_or_another_keycloak_is_another_job() -> None:
    moved = replace(CLIENT, redirect_uris=("https://pictures.example.org/callback",))
    first, second = (
        realm_files(realm_document(display_name="Home", groups=[FAMILY], clients=[client]))
        for client in (CLIENT, moved)
    )
    names = {content_hash(first, "keycloak:1"), content_hash(second, "keycloak:1"), content_hash(first, "keycloak:2")}
    assert len(names) == 3


def test_a_client_asks_for_the_scope_of_groups_and_takes_part_in_no_weak_flow() -> None:
    (client,) = realm_document(display_name="Home", groups=[FAMILY], clients=[CLIENT])["clients"]
    assert GROUPS in client["defaultClientScopes"]
    assert client["publicClient"] is client["implicitFlowEnabled"] is client["directAccessGrantsEnabled"] is False


@pytest.mark.parametrize(
    ("uri", "fine"),
    [
        ("https://photos.example.org/callback", True),
        ("app.immich:///oauth-callback", True),
        ("https://photos.example.org/*", False),
        ("*", False),
        ("photos.example.org/callback", False),
        ("/callback", False),
    ],
)
def test_redirect_uris_are_whole_addresses(uri: str, fine: bool) -> None:
    client = replace(CLIENT, redirect_uris=(uri,))
    if fine:
        realm_document(display_name="Home", groups=[FAMILY], clients=[client])
    else:
        assert mistakes(client) == (
            f"client photos: {uri!r} must be a whole address such as https://app.example.org/cb",
        )


def test_a_group_that_the_realm_lacks_is_named() -> None:
    client = replace(CLIENT, allowed_groups=("family", "guests"))
    assert mistakes(client) == ("client photos allows the group guests, which is none of: family",)


def test_names_are_given_once_and_in_their_form() -> None:
    assert mistakes(CLIENT, CLIENT) == ("the client photos is declared twice; each needs an id of its own",)
    assert mistakes(CLIENT, groups=(FAMILY, FAMILY)) == ("the group family is declared twice; keep one",)
    (sentence,) = mistakes(replace(CLIENT, client_id="My App"))
    assert sentence == "the client id 'My App' must be lower-case letters, digits and inner hyphens"
    assert "'/family' must be named" in mistakes(CLIENT, groups=(FAMILY, Group(name="/family")))[0]
