"""Virtual machines: KubeVirt, and CDI, which fills their disks; each an operator and one object that it serves."""

from __future__ import annotations

from typing import Any

from components.namespaces import Namespace
from components.objects import manifest
from components.platform import After, Component, Platform
from components.settings import Settings
from components.upstream_manifest import UpstreamManifest

# virt-handler and the machines' own pods share devices and directories with the host.
NAMESPACE = Namespace(name="kubevirt", pod_security="privileged")
CDI_NAMESPACE = Namespace(name="cdi", pod_security="privileged")
NAMESPACES = (NAMESPACE, CDI_NAMESPACE)
# Both operators take down what they serve only when no machine and no disk is left.
_NEVER_WITH_WORKLOADS = "BlockUninstallIfWorkloadsExist"


class KubeVirt(Component):
    """KubeVirt on real KVM; available when every part of it runs, and with it the kinds of its machines."""

    def __init__(self, platform: Platform, *, state_class: str, after: After = ()) -> None:
        """state_class: the storage class for a machine's own state (EFI variables, TPM)."""
        super().__init__(platform, "kubevirt", after=after)
        operator = UpstreamManifest(platform, "kubevirt-operator", parent=self, after=after)
        self.declare(
            _kubevirt(platform.settings, state_class), ready=True, condition="Available", after=[operator], protect=True
        )
        self.register_outputs({})


class Cdi(Component):
    """The containerized data importer: DataVolumes from images, uploads and clones."""

    def __init__(self, platform: Platform, *, scratch_class: str, after: After = ()) -> None:
        """scratch_class: the storage class for the second volume that most imports need while they run."""
        super().__init__(platform, "cdi", after=after)
        operator = UpstreamManifest(platform, "cdi-operator", parent=self, after=after)
        self.declare(
            _cdi(platform.settings, scratch_class), ready=True, condition="Available", after=[operator], protect=True
        )
        self.register_outputs({})


def _kubevirt(settings: Settings, state_class: str) -> dict[str, Any]:
    machines = settings.kubevirt
    configuration = {
        "developerConfiguration": {
            # Written out: with emulation a node without /dev/kvm would take machines and run them at a crawl.
            "useEmulation": False,
            "featureGates": sorted(machines.feature_gates),
            "disabledFeatureGates": sorted(machines.disabled_feature_gates),
        },
        "evictionStrategy": machines.eviction_strategy,
        "vmStateStorageClass": state_class,
    }
    spec = {
        "imagePullPolicy": "IfNotPresent",
        "infra": {"replicas": machines.replicas},
        "configuration": configuration,
        "workloadUpdateStrategy": {"workloadUpdateMethods": list(machines.workload_updates)},
        "uninstallStrategy": _NEVER_WITH_WORKLOADS,
    }
    return manifest("kubevirt.io/v1", "KubeVirt", "kubevirt", namespace=NAMESPACE.name, spec=spec)


def _cdi(settings: Settings, scratch_class: str) -> dict[str, Any]:
    linux = {"nodeSelector": {"kubernetes.io/os": "linux"}}
    config = {
        # A disk is filled on the node where its machine will run.
        "featureGates": ["HonorWaitForFirstConsumer"],
        "scratchSpaceStorageClass": scratch_class,
        # ext4 on a volume keeps some of it for itself; CDI claims that much more.
        "filesystemOverhead": {"global": "0.06"},
        "podResourceRequirements": {
            "requests": {"cpu": "100m", "memory": "256Mi"},
            "limits": {"cpu": "2", "memory": settings.kubevirt.import_memory},
        },
    }
    spec = {
        "imagePullPolicy": "IfNotPresent",
        "infra": linux,
        "workload": linux,
        "config": config,
        "uninstallStrategy": _NEVER_WITH_WORKLOADS,
    }
    return manifest("cdi.kubevirt.io/v1beta1", "CDI", "cdi", spec=spec)
