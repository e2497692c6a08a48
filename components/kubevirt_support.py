"""What the pinned KubeVirt supports: versions of Kubernetes, and the state of its feature gates.

Read from KubeVirt v1.9.0's own sources: kubevirtci's lanes, and pkg/virt-config/featuregate.
"""

from __future__ import annotations

RELEASE = "1.9"
OLDEST_KUBERNETES = (1, 34)
NEWEST_KUBERNETES = (1, 36)

# Off until they are listed.
ALPHA = frozenset(
    {
        "AlignCPUs",
        "CPUManager",
        "ConfigurableHypervisor",
        "ContainerPathVolumes",
        "CrossArchitectureVirtualization",
        "DecentralizedLiveMigration",
        "DownwardMetrics",
        "EnableVirtioFsStorageVolumes",
        "ExperimentalIgnitionSupport",
        "FirmwareAutoSelection",
        "GraceIOVirtualization",
        "HostDevices",
        "HostDisk",
        "HypervStrictCheck",
        "IOMMUFD",
        "IncrementalBackup",
        "MigrationStallDetection",
        "NetworkDevicesWithDRA",
        "OCIExport",
        "ObjectGraph",
        "PCINUMAAwareTopology",
        "Plugins",
        "PortRangesSpec",
        "ReservedOverheadMemlock",
        "Root",
        "Sidecar",
        "UtilityVolumes",
        "VGPULiveMigration",
        "VMStatsCollector",
        "VSOCK",
        "WorkloadEncryptionTDX",
    }
)
# On unless they are listed as disabled.
BETA = frozenset(
    {
        "DeclarativeHotplugVolumes",
        "ExternalNetResourceInjection",
        "GPUsWithDRA",
        "HostDevicesWithDRA",
        "ImageVolume",
        "KubevirtSeccompProfile",
        "LibvirtHooksServerAndClient",
        "NodeRestriction",
        "OptOutRoleAggregation",
        "PasstBinding",
        "PodSecondaryInterfaceNamingUpgrade",
        "RebootPolicy",
        "Snapshot",
        "Template",
        "VmiMemoryOverheadReport",
        "WorkloadEncryptionSEV",
    }
)
# On for good; listing one changes nothing.
GENERAL = frozenset(
    {
        "AutoResourceLimitsGate",
        "BochsDisplayForEFIGuests",
        "CPUNodeDiscovery",
        "ClusterProfiler",
        "CommonInstancetypesDeploymentGate",
        "DisableCustomSELinuxPolicy",
        "DynamicPodInterfaceNaming",
        "EnableVirtioFsConfigVolumes",
        "ExpandDisks",
        "GPU",
        "HotplugNICs",
        "InstancetypeReferencePolicy",
        "LiveMigration",
        "LiveUpdateNADRef",
        "MigrationPriorityQueue",
        "NUMA",
        "NetworkBindingPlugins",
        "NonRoot",
        "PSA",
        "PanicDevices",
        "PersistentReservation",
        "SRIOVLiveMigration",
        "SecureExecution",
        "VMExport",
        "VMLiveUpdateFeatures",
        "VMPersistentState",
        "VideoConfig",
        "VolumeMigration",
        "VolumesUpdateStrategy",
    }
)
# Deprecated or gone.
WITHDRAWN = frozenset(
    {
        "DisableMDEVConfiguration",
        "DockerSELinuxMCSWorkaround",
        "ExperimentalVirtiofsSupport",
        "HotplugVolumes",
        "Macvtap",
        "MultiArchitecture",
        "Passt",
        "PasstIPStackMigration",
    }
)
