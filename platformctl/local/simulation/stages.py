"""Keeps kwok's Stages in the cluster in step with the kinds that exist in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from platformctl.local import crds
from platformctl.local.api import ApiError, KubeApi
from platformctl.local.simulation import definitions
from platformctl.local.simulation.objects import Obj

DIRECTORY = Path(__file__).with_name("stages")
API_VERSION = "kwok.x-k8s.io/v1alpha1"
FIELD_MANAGER = "simulation"
# kwok looks at its Stages again only when one of them changes, and right after a CRD is established it may
# not find the kind yet: so a new Stage is touched this many times more, once a sweep.
TOUCHES = 5
TOUCHED = "simulated/touched"

# True while the generation is not observed by the status or by any condition. A Stage that asked whether Ready is
# not True would never notice an update: Ready stays True, and whoever waits for the new generation waits for ever.
_OBSERVED = "[.status.observedGeneration, .status.conditionStatus.conditions[]?.observedGeneration, \
.status.conditions[]?.observedGeneration, .status.parents[]?.conditions[]?.observedGeneration] | max"
_DUE = f"(.metadata.deletionTimestamp == null) and (.spec.suspend != true) and (({_OBSERVED}) != .metadata.generation)"


def stage_files() -> list[Path]:
    """The files with Stages; each holds one or more."""
    return sorted(DIRECTORY.glob("*/*.yaml"))


@cache
def stages(seed: int, shortest: float, longest: float) -> tuple[Obj, ...]:
    """Every Stage, complete: those that leave it open get the default selector and a delay (in seconds) by seed."""
    documents = (document for file in stage_files() for document in _documents(file))
    return tuple(_completed(document, seed, shortest, longest) for document in documents)


def _documents(file: Path) -> Iterator[Obj]:
    yield from yaml.load_all(file.read_bytes(), Loader=yaml.CSafeLoader)


def _completed(document: Obj, seed: int, shortest: float, longest: float) -> Obj:
    spec = document["spec"]
    if "selector" in spec:
        return document
    selector = {"matchExpressions": [{"jq": {"key": _DUE, "operator": "In", "values": ["true"]}}]}
    delay = {"durationFrom": {"jq": {"expression": delay_expression(seed, shortest, longest)}}}
    return {**document, "spec": {**spec, "selector": selector, "delay": delay}}


def delay_expression(seed: int, shortest: float, longest: float) -> str:
    """A jq expression: a hash of seed, kind, namespace and name, as a duration between the two (in seconds)."""
    low, span = round(shortest * 1000), max(1, round((longest - shortest) * 1000))
    text = f'("{seed} " + .kind + " " + (.metadata.namespace // "") + "/" + .metadata.name)'
    # The multiplier depends on the seed as well; otherwise names of the same length would keep their order.
    step = f". * {31 + 2 * (abs(seed) % 10_000)} + $letter"
    return f'"\\(reduce ({text} | explode[]) as $letter (7; ({step}) % 1000003) | . % {span} + {low})ms"'


class StageKeeper:
    """Applies a kind's Stages once the kind is served, removes them when it is gone."""

    def __init__(self, api: KubeApi, wanted: Iterable[Obj]) -> None:
        self._api = api
        self._wanted = list(wanted)
        # How often each Stage was applied since its kind appeared; 0 while the kind is not there.
        self._applied: dict[str, int] = {}

    def sweep(self) -> None:
        """One look at what the API server serves; nothing happens before kwok's own CRD is established."""
        if not definitions.install(self._api, crds.bundle("kwok").objects, FIELD_MANAGER):
            return
        served = self._served({stage["spec"]["resourceRef"]["apiGroup"] for stage in self._wanted})
        for stage in self._wanted:
            reference = stage["spec"]["resourceRef"]
            self._keep(stage, present=(reference["apiGroup"], reference["kind"]) in served)

    def _keep(self, stage: Obj, *, present: bool) -> None:
        name = stage["metadata"]["name"]
        applied = self._applied.get(name)
        if present and (applied or 0) <= TOUCHES:
            self._applied[name] = (applied or 0) + 1
            metadata = {**stage["metadata"], "annotations": {TOUCHED: str(applied or 0)}}
            self._api.apply({**stage, "metadata": metadata}, field_manager=FIELD_MANAGER)
        elif not present and applied != 0:
            self._applied[name] = 0
            self._api.delete(API_VERSION, "Stage", name)

    def _served(self, versions: set[str]) -> set[tuple[str, str]]:
        groups: dict[str, Any] = self._api.request("GET", "/apis")
        offered = {version["groupVersion"] for group in groups["groups"] for version in group["versions"]} | {"v1"}
        return {(version, kind) for version in versions & offered for kind in self._kinds(version)}

    def _kinds(self, version: str) -> set[str]:
        path = f"/apis/{version}" if "/" in version else f"/api/{version}"
        try:
            return {resource["kind"] for resource in self._api.request("GET", path)["resources"]}
        except ApiError as error:
            if error.not_found:
                return set()
            raise
