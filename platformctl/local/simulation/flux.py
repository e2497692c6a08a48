"""The simulated flux-operator: a FluxInstance brings Flux's CRDs, and takes them away when it goes."""

from __future__ import annotations

from platformctl.local import crds
from platformctl.local.api import ApiError, KubeApi, ObjectRef
from platformctl.local.simulation import definitions
from platformctl.local.simulation.objects import READY, Obj, Problem, is_deleting, mapping, new_condition
from platformctl.local.simulation.reconciler import Reconciler

FIELD_MANAGER = "flux-operator"
DEFAULT_COMPONENTS = ("source-controller", "kustomize-controller", "helm-controller", "notification-controller")
# The API group that belongs to a controller; the two image controllers share one.
COMPONENT_OF_GROUP = {
    "source.toolkit.fluxcd.io": "source-controller",
    "kustomize.toolkit.fluxcd.io": "kustomize-controller",
    "helm.toolkit.fluxcd.io": "helm-controller",
    "notification.toolkit.fluxcd.io": "notification-controller",
    "image.toolkit.fluxcd.io": "image-reflector-controller",
}
IMAGE_AUTOMATION = "image-automation-controller"


class FluxOperator(Reconciler):
    """FluxInstance v1. The CRDs are those of the controllers in spec.components, as on a real cluster."""

    api_version = "fluxcd.controlplane.io/v1"
    kind = "FluxInstance"
    finalizer = "fluxcd.controlplane.io/finalizer"

    @property
    def uninstalling(self) -> bool:
        """Whether Flux is being taken away: its controllers are stopped first and then do nothing any more."""
        return any(is_deleting(instance) for instance in self.objects.values())

    def obstacle(self, obj: Obj) -> Problem | None:
        """Nothing stands in the way of a FluxInstance."""
        return None

    def act(self, obj: Obj) -> bool:
        """Installs the CRDs."""
        return definitions.install(self.api, _definitions(obj), FIELD_MANAGER)

    def success(self, obj: Obj) -> Obj:
        """Ready, with the CRDs as the inventory."""
        message = f"Reconciliation finished, Flux {crds.bundle('flux').version} is not running"
        inventory = [
            {"id": f"_{definition['metadata']['name']}_apiextensions.k8s.io_{definitions.KIND}", "v": "v1"}
            for definition in _definitions(obj)
        ]
        ready = new_condition(obj, READY, "True", "ReconciliationSucceeded", message)
        revision = f"{crds.bundle('flux').version}@simulated"
        return {
            "conditions": [ready],
            "inventory": {"entries": inventory},
            "lastAppliedRevision": revision,
            "lastAttemptedRevision": revision,
        }

    def undo(self, obj: Obj) -> bool:
        """As the real operator: finalizers of Flux's objects go first, then the CRDs and with them all the objects."""
        disabled = mapping(obj, "metadata", "annotations").get("fluxcd.controlplane.io/reconcile") == "disabled"
        if disabled or not mapping(obj, "status", "inventory"):
            return True
        found = _definitions(obj)
        for definition in found:
            _release_objects(self.api, definition)
        return definitions.remove(self.api, found)


def _definitions(obj: Obj) -> list[Obj]:
    components = obj["spec"].get("components") or DEFAULT_COMPONENTS
    return [definition for definition in crds.bundle("flux").objects if _component(definition) in components]


def _component(definition: Obj) -> str:
    if definition["spec"]["names"]["kind"] == "ImageUpdateAutomation":
        return IMAGE_AUTOMATION
    return COMPONENT_OF_GROUP[definition["spec"]["group"]]


def _release_objects(api: KubeApi, definition: Obj) -> None:
    spec = definition["spec"]
    version = next(version["name"] for version in spec["versions"] if version["storage"])
    try:
        for obj in api.list(f"{spec['group']}/{version}", spec["names"]["kind"]):
            if obj["metadata"].get("finalizers"):
                api.patch(ObjectRef.of(obj), {"metadata": {"finalizers": None}})
    except ApiError as error:
        if not error.not_found:
            raise
