"""The simulated data plane: kwok's Stages, and stand-ins for flux-operator, two Flux controllers and the scheduler.

Nothing here is imported by the Pulumi program; every status that it writes says that it is simulated.
"""

from __future__ import annotations

import sys
from pathlib import Path

from components import upstream
from platformctl.local import crds
from platformctl.local.api import KubeApi
from platformctl.local.simulation import definitions
from platformctl.local.simulation.stages import DIRECTORY, stage_files

# Upstream manifests that the program applies itself, and the bundle with the CRDs in them.
UPSTREAM_BUNDLES = {
    "flux-operator": "flux-operator",
    "gateway-api": "gateway-api-standard",
    "volumesnapshots-crd": "snapshots",
    "kubevirt-operator": "kubevirt",
    "cdi-operator": "cdi",
}

__all__ = ["command", "kwok_config", "preinstall", "stage_files"]


def command(kubeconfig: Path, seed: int = 0) -> list[str]:
    """The command line of the simulation's process; it needs the rights of an administrator."""
    module = "platformctl.local.simulation"
    return [sys.executable, "-m", module, "--kubeconfig", str(kubeconfig), "--seed", str(seed)]


def kwok_config() -> Path:
    """The file for kwok's --config; the Stages reach it through the API server, from the simulation's process."""
    return DIRECTORY / "kwok.yaml"


def preinstall(api: KubeApi) -> list[str]:
    """Installs the CRDs of upstream manifests that the program will have to leave out; returns notes for a person."""
    notes: list[str] = []
    for file, name in UPSTREAM_BUNDLES.items():
        if not _is_within_reach(file):
            bundle = crds.bundle(name)
            definitions.install(api, bundle.objects, manager="platformctl")
            notes.append(f"{file}: the manifest is out of reach, its CRDs come from {bundle.source}")
    return notes


def _is_within_reach(file: str) -> bool:
    try:
        upstream.read(file)
    except upstream.UpstreamUnavailable:
        return False
    return True
