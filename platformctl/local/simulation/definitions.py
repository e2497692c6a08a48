"""Installing and removing CustomResourceDefinitions step by step, never waiting inside a step."""

from __future__ import annotations

from collections.abc import Iterable

from platformctl.local.api import ApiError, KubeApi, ObjectRef
from platformctl.local.simulation.objects import Obj, condition, is_deleting, timestamp

API_VERSION = "apiextensions.k8s.io/v1"
KIND = "CustomResourceDefinition"
PATH = f"/apis/{API_VERSION}/customresourcedefinitions"


def install(api: KubeApi, definitions: Iterable[Obj], manager: str) -> bool:
    """Applies those that are missing; True once all are established."""
    established = [_installed(api, definition, manager) for definition in definitions]
    return all(established)


def remove(api: KubeApi, definitions: Iterable[Obj]) -> bool:
    """Deletes those that are there; True once all are gone, and their custom resources with them."""
    gone = [_removed(api, definition["metadata"]["name"]) for definition in definitions]
    return all(gone)


def _installed(api: KubeApi, definition: Obj, manager: str) -> bool:
    present = _present(api, definition["metadata"]["name"])
    if present is None:
        # Server-side apply of large definitions takes the API server five times as long as a plain create.
        present = api.request("POST", PATH, body=definition, params={"fieldManager": manager})
    elif _differs(present, definition):
        present = api.apply(definition, field_manager=manager)
    return condition(present, "Established").get("status") == "True" and not is_deleting(present)


def _differs(present: Obj, wanted: Obj) -> bool:
    """Whether another set of versions is served: an upgrade brings its own definitions."""
    return not is_deleting(present) and _versions(present) != _versions(wanted)


def _versions(definition: Obj) -> set[str]:
    return {version["name"] for version in definition["spec"]["versions"]}


def _removed(api: KubeApi, name: str) -> bool:
    present = _present(api, name)
    if present is None:
        return True
    if not is_deleting(present):
        api.delete(API_VERSION, KIND, name)
    elif condition(present, "Terminating").get("reason") == "InstanceDeletionFailed":
        # Deleted soon after its creation, a definition's storage is not ready yet, and the API server looks again
        # only when the definition changes.
        api.patch(ObjectRef.of(present), {"metadata": {"annotations": {"simulated/seen": timestamp()}}})
    return False


def _present(api: KubeApi, name: str) -> Obj | None:
    try:
        return api.get(API_VERSION, KIND, name)
    except ApiError as error:
        if error.not_found:
            return None
        raise
