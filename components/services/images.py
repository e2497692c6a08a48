"""Where new versions of images come from: one ImageRepository for each repository, one ImagePolicy for each service."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from components.objects import KubernetesObject, manifest
from components.platform import FLUX_NAMESPACE, After, Component, Platform
from components.services.definition import Image
from components.services.service import Service
from components.services.update import Update

API = "image.toolkit.fluxcd.io/v1"
INTERVAL = "1h"
DIGEST_INTERVAL = "6h"


class Images(Component):
    """The repositories, shared by every service whose image comes from there; `of` a service is its own."""

    def __init__(self, platform: Platform, services: Iterable[Service], *, after: After = ()) -> None:
        super().__init__(platform, "images", after=after)
        self._repositories: dict[str, KubernetesObject] = {
            repository: self.declare(_repository(repository, image)) for repository, image in scanned(services).items()
        }
        self.register_outputs({})

    def of(self, service: Service) -> KubernetesObject | None:
        """The repository that the service's policy reads; None for a service that is not updated."""
        image = service.definition.image
        return self._repositories.get(image.repository) if image and service.definition.update else None


def scanned(services: Iterable[Service]) -> dict[str, Image]:
    """Each repository with the image of the first service that is updated from it."""
    found: dict[str, Image] = {}
    for service in services:
        image = service.definition.image
        if image and service.definition.update:
            known = found.get(image.repository)
            found[image.repository] = known if known and known.pull_secret else image
    return dict(sorted(found.items()))


def repository_name(repository: str) -> str:
    """The last part of the path, and eight digits of the whole: `immich-server-1a2b3c4d`."""
    digest = hashlib.sha256(repository.encode()).hexdigest()[:8]
    return f"{re.sub(r'[^a-z0-9]+', '-', repository.rpartition('/')[2])}-{digest}"


def _repository(repository: str, image: Image) -> dict[str, Any]:
    secret = {"secretRef": {"name": image.pull_secret}} if image.pull_secret else {}
    spec = {"image": repository, "interval": INTERVAL, "timeout": "60s", **secret}
    return manifest(API, "ImageRepository", repository_name(repository), namespace=FLUX_NAMESPACE, spec=spec)


def image_policy(service: Service) -> dict[str, Any] | None:
    """The policy that the marker in the service's file names; None for a service that is not updated."""
    update, image = service.definition.update, service.definition.image
    if update is None or image is None:
        return None
    spec = {
        "imageRepositoryRef": {"name": repository_name(image.repository)},
        **_filter(update),
        "policy": _policy(update),
        **_digest(update, image),
    }
    return manifest(API, "ImagePolicy", service.name, namespace=FLUX_NAMESPACE, spec=spec)


def _filter(update: Update) -> dict[str, Any]:
    if update.policy == "digest":
        tag = (update.tag or "").replace(".", r"\.")
        return {"filterTags": {"pattern": f"^{tag}$"}}
    if update.pattern is None:
        return {}
    extract = {"extract": update.extract} if update.extract else {}
    return {"filterTags": {"pattern": update.pattern, **extract}}


def _policy(update: Update) -> dict[str, Any]:
    """Exactly one kind: the API server takes none or two as well."""
    match update.policy:
        case "semver" | "calendar":
            return {"semver": {"range": update.range or "*"}}
        case "numerical":
            return {"numerical": {"order": update.order or "asc"}}
        case "alphabetical" | "digest":
            return {"alphabetical": {"order": update.order or "asc"}}


def _digest(update: Update, image: Image) -> Mapping[str, str]:
    """An interval goes with `Always` and with nothing else."""
    if update.policy == "digest":
        return {"digestReflectionPolicy": "Always", "interval": update.interval or DIGEST_INTERVAL}
    return {"digestReflectionPolicy": "IfNotPresent"} if image.digest else {}
