"""The simulated helm-controller: releases become ready in their order, or say why not; no chart is ever rendered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from platformctl.local import crds
from platformctl.local.api import ApiError
from platformctl.local.simulation import definitions
from platformctl.local.simulation.charts import CHARTS, Chart
from platformctl.local.simulation.objects import (
    READY,
    Key,
    Obj,
    Problem,
    entries,
    is_suspended,
    key_of,
    mapping,
    new_condition,
    shown,
    timestamp,
)
from platformctl.local.simulation.reconciler import Reconciler, unready_dependency, unready_source

FIELD_MANAGER = "helm-controller"


class HelmController(Reconciler):
    """HelmRelease v2. A chart's CRDs appear just before its release becomes ready, and not earlier."""

    api_version = "helm.toolkit.fluxcd.io/v2"
    kind = "HelmRelease"

    def obstacle(self, obj: Obj) -> Problem | None:
        """Dependencies, then the source, then everything that makes a real install or upgrade fail."""
        return (
            unready_dependency(obj, self.objects)
            or unready_source(self.api, *_source(obj))
            or next((self._failure(obj, message) for message in self._failures(obj)), None)
        )

    def act(self, obj: Obj) -> bool:
        """Installs what the chart brings with these values: its CRDs first, then its objects."""
        chart = CHARTS.get(self._chart(obj)[0])
        if chart is None:
            return True
        if _brings(chart, obj) and not definitions.install(self.api, crds.bundle(chart.bundle).objects, FIELD_MANAGER):
            return False
        for brought in chart.objects(mapping(obj, "spec", "values")):
            self.api.apply(brought, field_manager=FIELD_MANAGER)
        return True

    def success(self, obj: Obj) -> Obj:
        """Ready and released, with a new entry in front of the history."""
        upgraded = bool(_history(obj))
        reason = "UpgradeSucceeded" if upgraded else "InstallSucceeded"
        name, version = self._chart(obj)
        verb = "upgrade" if upgraded else "install"
        message = f"Helm {verb} succeeded for release {shown(_release(obj))} with chart {name}@{version}"
        generation = obj["metadata"]["generation"]
        conditions = [new_condition(obj, kind, "True", reason, message) for kind in (READY, "Released")]
        return {
            "observedGeneration": generation,
            "lastAttemptedGeneration": generation,
            "lastAttemptedRevision": version,
            "lastAttemptedReleaseAction": verb,
            "storageNamespace": _storage(obj)[0],
            "conditions": conditions,
            "history": self._new_history(obj, name, version),
        }

    def undo(self, obj: Obj) -> bool:
        """Uninstalls: the CRDs that the chart does not keep go. A suspended release is left as it is."""
        chart = CHARTS.get(self._chart(obj)[0])
        values = mapping(obj, "spec", "values")
        if is_suspended(obj) or not _history(obj) or chart is None:
            return True
        if reason := chart.refuses(values):
            self._report(obj, "False", "UninstallFailed", reason)
            return False
        if not _brings(chart, obj) or chart.keeps(values):
            return True
        return definitions.remove(self.api, crds.bundle(chart.bundle).objects)

    def _failures(self, obj: Obj) -> Iterator[str]:
        namespace = _release(obj)[0]
        creates = mapping(obj, "spec", "install").get("createNamespace")
        if not creates and not self._exists("Namespace", namespace):
            yield f'namespaces "{namespace}" not found'
        for reference in entries(obj, "spec", "valuesFrom"):
            kind, name = reference["kind"], reference["name"]
            if not reference.get("optional") and not self._exists(kind, name, key_of(obj)[0]):
                yield f"could not find {kind} '{shown((key_of(obj)[0], name))}' that valuesFrom names"
        for other in self._owners_of(_storage(obj)):
            if key_of(other) != key_of(obj) and _age(other) < _age(obj):
                yield f"release {shown(_storage(obj))} is managed by HelmRelease '{shown(key_of(other))}' already"

    def _failure(self, obj: Obj, message: str) -> Problem:
        return Problem(reason="UpgradeFailed" if _history(obj) else "InstallFailed", message=message)

    def _owners_of(self, storage: Key) -> list[Obj]:
        return [release for release in self.objects.values() if _storage(release) == storage]

    def _exists(self, kind: str, name: str, namespace: str | None = None) -> bool:
        try:
            self.api.get("v1", kind, name, namespace)
        except ApiError as error:
            if error.not_found:
                return False
            raise
        return True

    def _chart(self, obj: Obj) -> tuple[str, str]:
        """Name and version: from the release, or from the OCIRepository that it refers to."""
        if template := obj["spec"].get("chart"):
            return template["spec"]["chart"], template["spec"].get("version", "*")
        kind, (namespace, name) = _source(obj)
        try:
            source = self.api.get("source.toolkit.fluxcd.io/v1", kind, name, namespace)
        except ApiError as error:
            if not error.not_found:
                raise
            # Being deleted after its source: the last installed chart is known from the history.
            newest = next(iter(_history(obj)), {"chartName": name, "chartVersion": "unknown"})
            return newest["chartName"], newest["chartVersion"]
        reference = mapping(source, "spec", "ref")
        version = reference.get("tag") or reference.get("semver") or reference.get("digest") or "latest"
        return source["spec"]["url"].rsplit("/", 1)[-1], version

    def _new_history(self, obj: Obj, name: str, version: str) -> list[Obj]:
        history = _history(obj)
        digest = _digest(mapping(obj, "spec", "values"))
        entry = {
            "name": _release(obj)[1],
            "namespace": _release(obj)[0],
            "version": history[0]["version"] + 1 if history else 1,
            "chartName": name,
            "chartVersion": version,
            "configDigest": digest,
            "digest": digest,
            "firstDeployed": history[0]["firstDeployed"] if history else timestamp(),
            "lastDeployed": timestamp(),
            "status": "deployed",
        }
        superseded = [{**past, "status": "superseded"} for past in history]
        return [entry, *superseded][: obj["spec"].get("maxHistory") or 5]


def _source(obj: Obj) -> tuple[str, Key]:
    spec = obj["spec"]
    reference = spec["chartRef"] if "chartRef" in spec else spec["chart"]["spec"]["sourceRef"]
    return reference["kind"], (reference.get("namespace") or key_of(obj)[0], reference["name"])


def _release(obj: Obj) -> Key:
    """Namespace and name of the Helm release, with helm-controller's defaults."""
    spec, (namespace, name) = obj["spec"], key_of(obj)
    target = spec.get("targetNamespace")
    return target or namespace, spec.get("releaseName") or (f"{target}-{name}" if target else name)


def _storage(obj: Obj) -> Key:
    """Where Helm keeps the release: two HelmReleases with the same one fight over it."""
    return obj["spec"].get("storageNamespace") or key_of(obj)[0], _release(obj)[1]


def _age(obj: Obj) -> tuple[str, str]:
    return obj["metadata"]["creationTimestamp"], obj["metadata"]["uid"]


def _history(obj: Obj) -> list[Obj]:
    return entries(obj, "status", "history")


def _brings(chart: Chart, obj: Obj) -> bool:
    policy = mapping(obj, "spec", "upgrade" if _history(obj) else "install").get("crds")
    skipped = chart.directory and policy == "Skip"
    return not skipped and chart.brings(mapping(obj, "spec", "values"))


def _digest(values: Obj) -> str:
    return "sha256:" + hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
