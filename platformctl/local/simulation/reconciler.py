"""What every simulated controller does on each sweep: finalizer, suspension, obstacles, a delay, then success."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod

from platformctl.local.api import ApiError, KubeApi, ObjectRef
from platformctl.local.simulation.delays import Delays
from platformctl.local.simulation.objects import (
    FLUX_FINALIZER,
    FROM_CACHE,
    READY,
    RECONCILING,
    Key,
    Obj,
    Problem,
    entries,
    is_deleting,
    is_ready,
    is_suspended,
    key_of,
    new_condition,
    says_the_same,
    shown,
)


class Reconciler(ABC):
    """Level-triggered: each sweep lists the kind and moves every object one step on."""

    api_version: str
    kind: str
    finalizer = FLUX_FINALIZER

    def __init__(self, api: KubeApi, delays: Delays) -> None:
        self.api = api
        self.delays = delays
        self.objects: dict[Key, Obj] = {}

    def sweep(self) -> None:
        """One pass over all objects; what fails for one is tried again on the next pass."""
        try:
            self.objects = {key_of(obj): obj for obj in self.api.list(self.api_version, self.kind, params=FROM_CACHE)}
        except ApiError as error:
            # 429: the storage of a CRD that has just been established is not ready for lists yet.
            if error.status not in (404, 429):
                raise
            self.objects = {}
        for key, obj in self.objects.items():
            try:
                self._step(obj)
            except ApiError as error:
                if not (error.conflict or error.not_found):
                    print(f"{self.kind} {shown(key)}: {error}", file=sys.stderr)  # noqa: T201 - the process's log

    @abstractmethod
    def obstacle(self, obj: Obj) -> Problem | None:
        """Why the object cannot be reconciled now, or None."""

    @abstractmethod
    def act(self, obj: Obj) -> bool:
        """Does what makes the object ready; False as long as that is not finished."""

    @abstractmethod
    def success(self, obj: Obj) -> Obj:
        """The status of the object that has just become ready."""

    @abstractmethod
    def undo(self, obj: Obj) -> bool:
        """Takes back what `act` did, because the object is being deleted; False as long as that is not finished."""

    def settled(self, obj: Obj) -> bool:
        """Whether nothing is left to do for the object's present generation."""
        return is_ready(obj)

    def _step(self, obj: Obj) -> None:
        finalizers: list[str] = obj["metadata"].get("finalizers") or []
        if is_deleting(obj):
            if self.finalizer in finalizers and self._is_due(obj, "uninstall") and self.undo(obj):
                self._set_finalizers(obj, [name for name in finalizers if name != self.finalizer])
        elif self.finalizer not in finalizers:
            self._set_finalizers(obj, [*finalizers, self.finalizer])
        elif not is_suspended(obj) and not self.settled(obj):
            self._advance(obj)

    def _advance(self, obj: Obj) -> None:
        problem = self.obstacle(obj)
        if problem:
            self._report(obj, "False", problem.reason, problem.message)
        elif self._is_due(obj, "reconcile") and self.act(obj):
            self._write(obj, self.success(obj))
        else:
            self._report(obj, "Unknown", "Progressing", "reconciliation in progress")

    def _is_due(self, obj: Obj, action: str) -> bool:
        metadata = obj["metadata"]
        subject = f"{action} {self.kind} {shown(key_of(obj))}"
        return self.delays.is_due(subject, f"{metadata['uid']}/{metadata['generation']}")

    def _report(self, obj: Obj, status: str, reason: str, message: str) -> None:
        """Not ready: as in Flux, the condition is of the present generation, status.observedGeneration stays behind."""
        ready = new_condition(obj, READY, status, reason, message)
        if not says_the_same(obj, ready):
            reconciling = new_condition(obj, RECONCILING, "True", "Progressing", message)
            self._write(obj, {"conditions": [ready, reconciling]})

    def _write(self, obj: Obj, status: Obj) -> None:
        self.api.patch_status(ObjectRef.of(obj), status)

    def _set_finalizers(self, obj: Obj, finalizers: list[str]) -> None:
        # The resource version makes the API server refuse the change if another finalizer came or went meanwhile.
        metadata = {"finalizers": finalizers, "resourceVersion": obj["metadata"]["resourceVersion"]}
        self.api.patch(ObjectRef.of(obj), {"metadata": metadata})


def unready_dependency(obj: Obj, others: dict[Key, Obj]) -> Problem | None:
    """The first of spec.dependsOn that is not ready at its present generation."""
    own_namespace = key_of(obj)[0]
    for reference in entries(obj, "spec", "dependsOn"):
        key = (reference.get("namespace") or own_namespace, reference["name"])
        if key not in others or not is_ready(others[key]):
            return Problem(reason="DependencyNotReady", message=f"dependency '{shown(key)}' is not ready")
    return None


def unready_source(api: KubeApi, kind: str, key: Key) -> Problem | None:
    """Whether the source that a release or a Kustomization names is missing or not ready."""
    try:
        source = api.get("source.toolkit.fluxcd.io/v1", kind, key[1], key[0])
    except ApiError as error:
        if error.not_found:
            return Problem(reason="SourceNotReady", message=f"{kind} '{shown(key)}' was not found")
        raise
    # An OCI HelmRepository is only a URL: source-controller gives it no status.
    if is_ready(source) or source["spec"].get("type") == "oci":
        return None
    return Problem(reason="SourceNotReady", message=f"{kind} '{shown(key)}' is not ready")
