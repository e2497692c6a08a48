"""Reading and reporting the state of objects the way Flux does: conditions, generations, finalizers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

Obj = dict[str, Any]
Key = tuple[str, str]

READY = "Ready"
RECONCILING = "Reconciling"
FLUX_FINALIZER = "finalizers.fluxcd.io"

# Lists out of the API server's watch cache: as fresh as a controller's own cache, and no work for etcd.
FROM_CACHE: dict[str, str | int | bool] = {"resourceVersion": "0"}


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Why an object cannot become ready now; `message` is a sentence's rest, without the word simulated."""

    reason: str
    message: str


def mapping(obj: Obj, *path: str) -> Obj:
    """The mapping at a path of keys; empty where there is none."""
    found: Any = obj
    for key in path:
        found = found.get(key) or {}
    return cast("Obj", found)


def entries(obj: Obj, *path: str) -> list[Obj]:
    """The list of mappings at a path of keys; empty where there is none."""
    found: Any = mapping(obj, *path[:-1]).get(path[-1]) or []
    return cast("list[Obj]", found)


def key_of(obj: Obj) -> Key:
    """(namespace, name); the namespace is empty for cluster-scoped kinds."""
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def shown(key: Key) -> str:
    """`namespace/name` as Flux writes it."""
    return "/".join(part for part in key if part)


def is_deleting(obj: Obj) -> bool:
    """Whether someone has asked for its deletion."""
    return "deletionTimestamp" in obj["metadata"]


def is_suspended(obj: Obj) -> bool:
    """Whether spec.suspend is set."""
    return bool(mapping(obj, "spec").get("suspend"))


def condition(obj: Obj, kind: str) -> Obj:
    """The condition of that type, or an empty one."""
    empty: Obj = {}
    return next((found for found in entries(obj, "status", "conditions") if found["type"] == kind), empty)


def is_ready(obj: Obj) -> bool:
    """Ready is True for the present generation, and nobody has asked for deletion."""
    ready = condition(obj, READY)
    generation = obj["metadata"]["generation"]
    observed = mapping(obj, "status").get("observedGeneration", ready.get("observedGeneration"))
    return ready.get("status") == "True" and observed == generation and not is_deleting(obj)


def new_condition(obj: Obj, kind: str, status: str, reason: str, message: str) -> Obj:
    """A condition about the object's present generation; its message says that it is simulated."""
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": f"simulated: {message}",
        "observedGeneration": obj["metadata"]["generation"],
        "lastTransitionTime": timestamp(),
    }


def says_the_same(obj: Obj, wanted: Obj) -> bool:
    """Whether the object already carries the condition, whenever it was written."""
    present = condition(obj, wanted["type"])
    return all(present.get(field) == value for field, value in wanted.items() if field != "lastTransitionTime")


def timestamp() -> str:
    """Now, as Kubernetes writes times."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
