"""An upstream release manifest, pinned in upstream.lock.yaml, as one resource for each of its objects."""

from __future__ import annotations

import os

import pulumi

from components import upstream
from components.objects import MANAGED_BY, Manifest
from components.platform import After, Component, Platform

# Set where a missing upstream file must not end the run: on the embedded cluster and in a render.
OPTIONAL = "UPSTREAM_OPTIONAL"
CRD = "CustomResourceDefinition"


class UpstreamManifest(Component):
    """CRDs first, then the rest. Namespaces in the file are dropped: the platform owns those."""

    def __init__(
        self,
        platform: Platform,
        file: str,
        *,
        parent: Component | None = None,
        retain: bool = False,
        after: After = (),
    ) -> None:
        """retain: the CRDs stay in the cluster on destroy, and with them all objects of their kinds."""
        super().__init__(platform, file, parent=parent, after=after)
        documents = [_managed(document) for document in _documents(file) if document["kind"] != "Namespace"]
        definitions = [self.declare(document, retain=retain) for document in documents if document["kind"] == CRD]
        for document in documents:
            if document["kind"] != CRD:
                self.declare(document, after=definitions)
        self.register_outputs({})


def _managed(document: Manifest) -> Manifest:
    """With the label of what the program declares, unless an operator of upstream's claims the object."""
    metadata = document["metadata"]
    return {**document, "metadata": {**metadata, "labels": {**MANAGED_BY, **(metadata.get("labels") or {})}}}


def _documents(file: str) -> list[Manifest]:
    try:
        return list(upstream.documents(file))
    except upstream.UpstreamUnavailable as error:
        if not os.environ.get(OPTIONAL):
            raise
        pulumi.log.warn(f"{file} is left out: {error}")
        return []
