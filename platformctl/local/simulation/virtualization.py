"""The simulated operators of KubeVirt and CDI: each serves one object, and brings the kinds of machines and disks."""

from __future__ import annotations

from platformctl.local.api import ApiError, KubeApi, ObjectRef
from platformctl.local.schema_free import kinds, schema_free
from platformctl.local.simulation import definitions
from platformctl.local.simulation.delays import Delays
from platformctl.local.simulation.objects import (
    Key,
    Obj,
    Problem,
    condition,
    entries,
    is_deleting,
    mapping,
    new_condition,
    says_the_same,
)
from platformctl.local.simulation.reconciler import Reconciler

AVAILABLE = "Available"
# Whoever installed a CRD under this name did it in place of an upstream manifest that was out of reach.
PREINSTALLED_BY = "platformctl"


class _Operator(Reconciler):
    """Does nothing unless its own Deployment runs, as on a real cluster: neither serve nor let its object go."""

    bundle: str
    deployment: Key
    workloads: tuple[str, str]

    def __init__(self, api: KubeApi, delays: Delays) -> None:
        super().__init__(api, delays)
        self._definitions = schema_free(self.bundle)

    def obstacle(self, obj: Obj) -> Problem | None:
        """The operator itself, where its manifest was within reach."""
        if self._runs():
            return None
        return Problem(reason="OperatorNotRunning", message=f"Deployment {'/'.join(self.deployment)} is not available")

    def act(self, obj: Obj) -> bool:
        """Installs the kinds that the real operator registers."""
        return definitions.install(self.api, self._definitions, self.deployment[1])

    def undo(self, obj: Obj) -> bool:
        """Takes the kinds away again, but never while objects of them are left; needs the operator."""
        if not self._runs() or self._workloads_left():
            return False
        return definitions.remove(self.api, self._definitions)

    def version(self) -> str:
        """The tag of the operator's image; without an operator there is none."""
        containers = entries(self._operator() or {}, "spec", "template", "spec", "containers")
        return containers[0]["image"].rpartition(":")[2] if containers else "simulated"

    def _operator(self) -> Obj | None:
        namespace, name = self.deployment
        return self._get("apps/v1", "Deployment", name, namespace)

    def _runs(self) -> bool:
        found = self._operator()
        if found is not None:
            return condition(found, AVAILABLE).get("status") == "True"
        return self._preinstalled()

    def _preinstalled(self) -> bool:
        group, plural = next((kind.group, kind.plural) for kind in kinds(self.bundle.removesuffix("-at-run-time")))
        definition = self._get(definitions.API_VERSION, definitions.KIND, f"{plural}.{group}") or {}
        managers = {entry.get("manager") for entry in entries(definition, "metadata", "managedFields")}
        return PREINSTALLED_BY in managers

    def _workloads_left(self) -> bool:
        try:
            return bool(self.api.list(*self.workloads))
        except ApiError as error:
            if error.not_found:
                return False
            raise

    def _get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Obj | None:
        try:
            return self.api.get(api_version, kind, name, namespace)
        except ApiError as error:
            if error.not_found:
                return None
            raise

    def _report(self, obj: Obj, status: str, reason: str, message: str) -> None:
        waiting = new_condition(obj, AVAILABLE, "False", reason, message)
        if not says_the_same(obj, _without_generation(waiting)):
            self._write(obj, {"phase": "Deploying", "conditions": [waiting]})


class VirtOperator(_Operator):
    """virt-operator: KubeVirt v1."""

    api_version = "kubevirt.io/v1"
    kind = "KubeVirt"
    finalizer = "foregroundDeleteKubeVirt"
    bundle = "kubevirt-at-run-time"
    deployment = ("kubevirt", "virt-operator")
    workloads = ("kubevirt.io/v1", "VirtualMachine")

    def settled(self, obj: Obj) -> bool:
        """Available at the present generation."""
        observed = mapping(obj, "status").get("observedGeneration")
        return condition(obj, AVAILABLE).get("status") == "True" and observed == obj["metadata"]["generation"]

    def success(self, obj: Obj) -> Obj:
        """Deployed, in the words of virt-operator."""
        return {
            "phase": "Deployed",
            "observedKubeVirtVersion": self.version(),
            "observedGeneration": obj["metadata"]["generation"],
            "conditions": [new_condition(obj, AVAILABLE, "True", "AllComponentsReady", "nothing runs machines here")],
        }


class CdiOperator(_Operator):
    """cdi-operator: CDI v1beta1, which has neither a status subresource nor an observed generation."""

    api_version = "cdi.kubevirt.io/v1beta1"
    kind = "CDI"
    finalizer = "operator.cdi.kubevirt.io"
    bundle = "cdi-at-run-time"
    deployment = ("cdi", "cdi-operator")
    workloads = ("cdi.kubevirt.io/v1beta1", "DataVolume")

    def settled(self, obj: Obj) -> bool:
        """Available; a later change of the spec is not noticed."""
        return condition(obj, AVAILABLE).get("status") == "True" and not is_deleting(obj)

    def success(self, obj: Obj) -> Obj:
        """Deployed, in the words of cdi-operator."""
        deployed = new_condition(obj, AVAILABLE, "True", "DeployCompleted", "nothing imports disks here")
        return {"phase": "Deployed", "observedVersion": self.version(), "conditions": [_without_generation(deployed)]}

    def _write(self, obj: Obj, status: Obj) -> None:
        try:
            super()._write(obj, status)
        except ApiError as error:
            if not error.not_found:
                raise
            self.api.patch(ObjectRef.of(obj), {"status": status})


def _without_generation(found: Obj) -> Obj:
    return {key: value for key, value in found.items() if key != "observedGeneration"}
