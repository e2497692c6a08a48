"""The simulated data plane: kwok's Stages, and stand-ins for flux-operator, two Flux controllers and the scheduler.

Nothing here is imported by the Pulumi program; every status that it writes says that it is simulated.
"""

from __future__ import annotations

import sys
from pathlib import Path

from platformctl.local import crds
from platformctl.local.api import KubeApi
from platformctl.local.simulation import definitions
from platformctl.local.simulation.stages import DIRECTORY, stage_files

__all__ = ["command", "kwok_config", "preinstall", "stage_files"]


def command(kubeconfig: Path, seed: int = 0) -> list[str]:
    """The command line of the simulation's process; it needs the rights of an administrator."""
    module = "platformctl.local.simulation"
    return [sys.executable, "-m", module, "--kubeconfig", str(kubeconfig), "--seed", str(seed)]


def kwok_config() -> Path:
    """The file for kwok's --config; the Stages reach it through the API server, from the simulation's process."""
    return DIRECTORY / "kwok.yaml"


def preinstall(api: KubeApi, *, without_upstream: bool) -> list[str]:
    """What must be there before the program runs; returns the notes that a person should see.

    without_upstream: flux-operator's manifest cannot be read, so the program leaves it out and its CRDs come from here.
    """
    if not without_upstream:
        return []
    bundle = crds.bundle("flux-operator")
    definitions.install(api, bundle.objects, manager="platformctl")
    note = f"flux-operator's manifest is out of reach: its CRDs were installed from {bundle.source}"
    return [note, *([bundle.note] if bundle.note else [])]
