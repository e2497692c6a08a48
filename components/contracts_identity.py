"""What sign-in must agree on with storage and with everything that lets groups of people in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from components.settings import Settings
from components.storage_classes import BULK


def database_copies_fit_nodes(settings: Settings) -> Iterator[str]:
    """Each instance of PostgreSQL is a copy of the data, and Longhorn copies each of them again."""
    database, longhorn = settings.keycloak.database, settings.longhorn
    key, replicas = "longhorn.replicas", longhorn.replicas
    if database.storage_class == BULK:
        key, replicas = "longhorn.bulk.replicas", longhorn.bulk.replicas
    copies = database.instances * replicas
    if database.instances > 1 and copies > settings.cluster.nodes:
        yield (
            f"home:keycloak.database.instances is {database.instances} on {database.storage_class} with home:{key} "
            f"{replicas}: {copies} copies of the same data for home:cluster.nodes {settings.cluster.nodes}; "
            "use 1 instance, or a class with 1 replica"
        )


def allowed_groups_exist(settings: Settings) -> Iterator[str]:
    """Nobody can be in a group that the realm does not have, so nobody could come in."""
    known = settings.keycloak.groups
    for group in settings.user_interfaces.allowed_groups:
        if group not in known:
            yield (
                f"home:userInterfaces.allowedGroups names {group}, but home:keycloak.groups has {', '.join(known)}; "
                "add it there, or name one of them"
            )


def groups_are_named_once(settings: Settings) -> Iterator[str]:
    """The realm has each group once."""
    for group, count in Counter(settings.keycloak.groups).items():
        if count > 1:
            yield f"home:keycloak.groups names {group} {count} times; keep one of them"


IDENTITY_RULES = (database_copies_fit_nodes, allowed_groups_exist, groups_are_named_once)
