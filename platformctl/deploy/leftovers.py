"""The end of `destroy`: what stays in the cluster on purpose, by name."""

from __future__ import annotations

from collections import Counter

from platformctl import console
from platformctl.local.api import ApiError, KubeApi
from platformctl.render.recorder import Recording, Registration

SIMULATION_GROUP = "kwok.x-k8s.io"


def show(api: KubeApi, recording: Recording) -> None:
    """Prints the objects that are retained, and the CRDs that their charts keep, one line each."""
    lines = [*_retained(api, recording), *_definitions(api)]
    console.out.print("\nleft in the cluster on purpose:" if lines else "\nnothing is left in the cluster")
    for line in lines:
        console.out.print(f"  {line}", markup=False, soft_wrap=True)


def _retained(api: KubeApi, recording: Recording) -> list[str]:
    return [
        f"{found.inputs['kind']} {found.name}: {_fate(api, found)}"
        for found in recording.manifests
        if found.retain_on_delete
    ]


def _fate(api: KubeApi, found: Registration) -> str:
    metadata = found.inputs["metadata"]
    try:
        api.get(found.inputs["apiVersion"], found.inputs["kind"], metadata["name"], metadata.get("namespace"))
    except ApiError:
        return "the object went with Flux's CRDs, what it installed stays"
    return "retained"


def _definitions(api: KubeApi) -> list[str]:
    groups = Counter(item["spec"]["group"] for item in api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition"))
    kept = sorted(groups.items() - {(SIMULATION_GROUP, groups[SIMULATION_GROUP])})
    return [f"CRDs of {group}: {count}, kept by their chart" for group, count in kept]
