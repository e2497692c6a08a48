"""What the real charts do with CRDs: which they bring, under which values, and whether an uninstall leaves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

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


@dataclass(frozen=True, kw_only=True)
class Chart:
    """`brings` and `keeps` answer for a release's values. `directory`: the CRDs lie in crds/, so install.crds rules."""

    bundle: str
    brings: Callable[[Values], bool] = _always
    keeps: Callable[[Values], bool] = _never
    directory: bool = False


CHARTS: Mapping[str, Chart] = {
    # The chart has none: the operator registers them, and nothing ever removes them.
    "cilium": Chart(bundle="cilium", keeps=_always),
    "cert-manager": Chart(
        bundle="cert-manager",
        brings=_when("crds.enabled", default=False),
        keeps=_when("crds.keep", default=True),
    ),
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
    "flux-operator": Chart(bundle="flux-operator", brings=_when("installCRDs", default=True), keeps=_always),
}
