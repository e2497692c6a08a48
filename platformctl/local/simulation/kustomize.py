"""The simulated kustomize-controller: of what lies in git, only the SOPS Secrets appear, with stand-in content."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from components import upstream
from platformctl.local.api import ApiError, KubeApi
from platformctl.local.simulation.delays import Delays
from platformctl.local.simulation.objects import READY, Obj, Problem, entries, key_of, mapping, new_condition, shown
from platformctl.local.simulation.reconciler import Reconciler, unready_dependency, unready_source

FIELD_MANAGER = "kustomize-controller"
STAND_IN = base64.b64encode(b"simulated").decode()


class KustomizeController(Reconciler):
    """Kustomization v1. A path that exists in `checkout` gives the Secrets whose SOPS files lie below it."""

    api_version = "kustomize.toolkit.fluxcd.io/v1"
    kind = "Kustomization"

    def __init__(self, api: KubeApi, delays: Delays, checkout: Path) -> None:
        super().__init__(api, delays)
        self._checkout = checkout

    def obstacle(self, obj: Obj) -> Problem | None:
        """Dependencies, the source, substitutes that are missing, namespaces that the Secrets need."""
        return (
            unready_dependency(obj, self.objects)
            or unready_source(self.api, *_source(obj))
            or next((Problem(reason="ReconciliationFailed", message=text) for text in self._failures(obj)), None)
        )

    def act(self, obj: Obj) -> bool:
        """Applies the stand-in Secrets."""
        for secret in self._secrets(obj):
            self.api.apply(secret, field_manager=FIELD_MANAGER)
        return True

    def success(self, obj: Obj) -> Obj:
        """Ready; the message says how much was applied."""
        count = len(self._secrets(obj))
        message = f"applied {count} Secrets with stand-in content and nothing else of {obj['spec'].get('path', './')}"
        return {
            "observedGeneration": obj["metadata"]["generation"],
            "conditions": [new_condition(obj, READY, "True", "ReconciliationSucceeded", message)],
            "inventory": {"entries": [{"id": _inventory_id(secret), "v": "v1"} for secret in self._secrets(obj)]},
            "lastAppliedRevision": "simulated",
            "lastAttemptedRevision": "simulated",
        }

    def undo(self, obj: Obj) -> bool:
        """Prunes what was applied, if the Kustomization prunes and is not suspended."""
        if obj["spec"].get("prune") and not obj["spec"].get("suspend"):
            for secret in self._secrets(obj):
                namespace, name = key_of(secret)
                self.api.delete("v1", "Secret", name, namespace)
        return True

    def _failures(self, obj: Obj) -> Iterator[str]:
        namespace = key_of(obj)[0]
        for reference in entries(obj, "spec", "postBuild", "substituteFrom"):
            if not reference.get("optional") and not self._exists(reference["kind"], reference["name"], namespace):
                yield f"substitute from '{reference['kind']}/{reference['name']}' not found"
        key = mapping(obj, "spec", "decryption", "secretRef").get("name")
        if key and not self._exists("Secret", key, namespace):
            yield f"decryption secret '{shown((namespace, key))}' not found"
        for secret in self._secrets(obj):
            if not self._exists("Namespace", key_of(secret)[0], None):
                yield f"Secret/{shown(key_of(secret))} namespace not found"

    def _exists(self, kind: str, name: str, namespace: str | None) -> bool:
        try:
            self.api.get("v1", kind, name, namespace)
        except ApiError as error:
            if error.not_found:
                return False
            raise
        return True

    @cached_property
    def _read(self) -> dict[Path, tuple[tuple[tuple[str, float], ...], list[Obj]]]:
        """What was read of a directory, with the files and times it was read at."""
        return {}

    def _secrets(self, obj: Obj) -> list[Obj]:
        root = (self._checkout / obj["spec"].get("path", "./")).resolve()
        if not root.is_relative_to(self._checkout.resolve()) or root == self._checkout.resolve():
            return []
        files = sorted(root.rglob("*.y*ml"))
        stamp = tuple((str(file), file.stat().st_mtime) for file in files)
        if root not in self._read or self._read[root][0] != stamp:
            self._read[root] = (stamp, [secret for file in files for secret in _stand_ins(file)])
        return self._read[root][1]


def _source(obj: Obj) -> tuple[str, tuple[str, str]]:
    reference = obj["spec"]["sourceRef"]
    return reference["kind"], (reference.get("namespace") or key_of(obj)[0], reference["name"])


def _stand_ins(file: Path) -> Iterator[Obj]:
    for document in upstream.parse(file.read_bytes()):
        if document.get("kind") == "Secret" and "sops" in document:
            yield _stand_in(document)


def _stand_in(document: Obj) -> Obj:
    metadata: dict[str, Any] = document["metadata"]
    keys = sorted({*mapping(document, "data"), *mapping(document, "stringData")})
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata.get("namespace", "default"),
            "labels": {**(metadata.get("labels") or {}), "simulated": "true"},
        },
        "type": document.get("type", "Opaque"),
        "data": dict.fromkeys(keys, STAND_IN),
    }


def _inventory_id(secret: Obj) -> str:
    namespace, name = key_of(secret)
    return f"{namespace}_{name}__Secret"
