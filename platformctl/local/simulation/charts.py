"""What the real charts bring: CRDs, under which values, whether an uninstall leaves them; and objects of a few."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from platformctl.local.simulation import longhorn
from platformctl.local.simulation.objects import Obj

Values = Mapping[str, Any]

KEEP = ("helm.sh/resource-policy", "keep")


def value(values: Values, path: str, default: Any) -> Any:
    """The value at a dotted path, or the chart's default."""
    found: Any = values
    for part in path.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return default
        found = cast("Values", found)[part]
    return found


def _always(_: Values) -> bool:
    return True


def _when(path: str, *, default: bool) -> Callable[[Values], bool]:
    return lambda values: bool(value(values, path, default))


def _when_annotated(path: str) -> Callable[[Values], bool]:
    def kept(values: Values) -> bool:
        annotations: Values = value(values, path, None) or {}
        return annotations.get(KEEP[0]) == KEEP[1]

    return kept


def _never(_: Values) -> bool:
    return False


def _nothing(_: Values) -> Sequence[Obj]:
    return ()


def _willingly(_: Values) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """`brings` and `keeps` answer for a release's values. `directory`: the CRDs lie in crds/, so install.crds rules.

    objects: what the installed software makes in the cluster and others rely on; an uninstall leaves it.
    refuses: why an uninstall fails, or nothing.
    """

    bundle: str
    brings: Callable[[Values], bool] = _always
    keeps: Callable[[Values], bool] = _never
    directory: bool = False
    objects: Callable[[Values], Sequence[Obj]] = _nothing
    refuses: Callable[[Values], str] = _willingly


CHARTS: Mapping[str, Chart] = {
    # The chart has none: the operator registers them, and nothing ever removes them.
    "cilium": Chart(bundle="cilium", keeps=_always),
    "cert-manager": Chart(
        bundle="cert-manager",
        brings=_when("crds.enabled", default=False),
        keeps=_when("crds.keep", default=True),
    ),
    # Kept by an annotation in its templates, whatever the values.
    "cloudnative-pg": Chart(bundle="cloudnative-pg", brings=_when("crds.create", default=True), keeps=_always),
    "kyverno": Chart(
        bundle="kyverno",
        brings=_when("crds.install", default=True),
        keeps=_when_annotated("crds.annotations"),
    ),
    "prometheus-operator-crds": Chart(bundle="prometheus-operator", keeps=_when_annotated("crds.annotations")),
    # Helm never removes what lies in crds/.
    "kube-prometheus-stack": Chart(
        bundle="prometheus-operator",
        brings=_when("crds.enabled", default=True),
        keeps=_always,
        directory=True,
    ),
    "snapshot-controller": Chart(bundle="snapshots", brings=_when("installCRDs", default=True)),
    # The CRDs are templates without a keep annotation: an uninstall deletes every volume.
    "longhorn": Chart(bundle="longhorn", objects=longhorn.storage_classes, refuses=longhorn.refusal),
    "velero": Chart(bundle="velero", keeps=_always, directory=True),
    "flux-operator": Chart(bundle="flux-operator", brings=_when("installCRDs", default=True), keeps=_always),
}
