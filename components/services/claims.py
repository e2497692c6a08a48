"""The volumes of a service: claims that outlive it, never shrink and never change their kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import pulumi

from components.errors import PlatformError
from components.objects import manifest
from components.services.service import Service
from components.services.storage import Tier, Volume
from components.storage_classes import BULK, DEFAULT, SCRATCH

CLASSES: Mapping[Tier, str] = {"standard": DEFAULT, "bulk": BULK, "scratch": SCRATCH}
# Velero passes over what carries it, and over the volume behind.
EXCLUDED = {"velero.io/exclude-from-backup": "true"}
# Longhorn's own default group takes in every volume that is in no group. No recurring job belongs to this one.
LONGHORN_SOURCE = {"recurring-job.longhorn.io/source": "enabled"}
LONGHORN_GROUP = "recurring-job-group.longhorn.io/"
# What the claim is made of, beside its size. The fields themselves are left out of the comparison with the state:
# a difference in them would make the engine delete the claim and make an empty one.
KIND = "home.platform/volume"
UNCHANGEABLE = ["spec.storageClassName", "spec.accessModes"]
HOOK = "claims-keep-their-data"


def claims(service: Service) -> Iterator[dict[str, Any]]:
    """The PersistentVolumeClaim of each volume of the service's own."""
    for volume in service.definition.storage:
        if volume.existing_claim is None:
            yield _claim(service, volume)


def _claim(service: Service, volume: Volume) -> dict[str, Any]:
    storage_class = CLASSES[volume.tier]
    spec = {
        "accessModes": [volume.access_mode],
        "volumeMode": "Filesystem",
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": service.size(volume)}},
    }
    return manifest(
        "v1",
        "PersistentVolumeClaim",
        service.claim(volume),
        namespace=service.namespace,
        labels={"app.kubernetes.io/name": service.name, **backup_labels(volume)},
        annotations={KIND: f"{storage_class} {volume.access_mode}"},
        spec=spec,
    )


def backup_labels(volume: Volume) -> dict[str, str]:
    """Velero takes every volume but those that say otherwise; Longhorn's jobs go by the group, `backup` or not."""
    group = "backup" if volume.backup else "no-backup"
    longhorn = {**LONGHORN_SOURCE, f"{LONGHORN_GROUP}{group}": "enabled"}
    return longhorn if volume.backup else {**longhorn, **EXCLUDED}


class ClaimGuard:
    """Refuses, in previews too, what would lose data; judged from what is deployed. One for all claims of a run."""

    def __init__(self) -> None:
        options = pulumi.ResourceHookOptions(on_dry_run=True)
        self._hook = pulumi.ResourceHook(HOOK, refuse_loss, options)

    @property
    def options(self) -> pulumi.ResourceOptions:
        """For each claim that it guards."""
        return pulumi.ResourceOptions(
            hooks=pulumi.ResourceHookBinding(before_update=[self._hook]), ignore_changes=UNCHANGEABLE
        )


def refuse_loss(change: pulumi.ResourceHookArgs) -> None:
    """Called before a claim is updated, with its old and new inputs. Raises PlatformError with the way out."""
    if sentences := list(losses(change.old_inputs or {}, change.new_inputs or {})):
        raise PlatformError(*sentences)


def losses(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """What the change of a claim would lose, a sentence each."""
    at = "/".join((new["metadata"]["namespace"], new["metadata"]["name"]))
    before, after = _size(old), _size(new)
    if after < before:
        yield (
            f"claim {at} is deployed with {before}Gi and cannot shrink to {after}Gi; write {before}Gi again, "
            f"or {_WAY_OUT}"
        )
    kind, wanted = _kind(old), _kind(new)
    if kind and kind != wanted:
        yield (
            f"claim {at} is deployed as {kind} and cannot become {wanted}; give the volume its tier and accessMode "
            f"back, or {_WAY_OUT}"
        )


_WAY_OUT = (
    "add a volume with another name and what you want, copy the data over in a pod that mounts both, "
    "and take the old volume out (its claim stays in the cluster until you delete it)"
)


def _size(claim: Mapping[str, Any]) -> int:
    """In GiB; 0 where nothing is deployed yet."""
    requests = _map(_map(_map(claim, "spec"), "resources"), "requests")
    return int(str(requests.get("storage", "0Gi")).removesuffix("Gi"))


def _kind(claim: Mapping[str, Any]) -> str:
    return str(_map(_map(claim, "metadata"), "annotations").get(KIND, ""))


def _map(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}
