"""An upstream release manifest, pinned in upstream.lock.yaml, as one resource for each of its objects."""

from __future__ import annotations

import os

import pulumi

from components import upstream
from components.objects import Manifest
from components.platform import After, Component, Platform

# Set where a missing upstream file must not end the run: on the embedded cluster and in a render.
OPTIONAL = "UPSTREAM_OPTIONAL"
CRD = "CustomResourceDefinition"


class UpstreamManifest(Component):
    """CRDs first, then the rest. Namespaces in the file are dropped: the platform owns those."""

    def __init__(self, platform: Platform, file: str, *, parent: Component | None = None, after: After = ()) -> None:
        super().__init__(platform, file, parent=parent, after=after)
        documents = [document for document in _documents(file) if document["kind"] != "Namespace"]
        definitions = [self.declare(document) for document in documents if document["kind"] == CRD]
        for document in documents:
            if document["kind"] != CRD:
                self.declare(document, after=definitions)
        self.register_outputs({})


def _documents(file: str) -> list[Manifest]:
    try:
        return list(upstream.documents(file))
    except upstream.UpstreamUnavailable as error:
        if not os.environ.get(OPTIONAL):
            raise
        pulumi.log.warn(f"{file} is left out: {error}")
        return []
