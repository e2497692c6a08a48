"""What runs of an embedded cluster, as data for people and programs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from components.errors import PlatformError
from platformctl.local import control_plane, ports, processes, procfs
from platformctl.local.api import ApiError, KubeApi
from platformctl.local.bootstrap import SIMULATED
from platformctl.local.layout import Layout
from platformctl.local.processes import Running

ANSWER_SECONDS = 3.0


@dataclass(frozen=True, kw_only=True)
class ProcessStatus:
    """One expected process; `pid`, `since` and `memory_bytes` are None while it does not run."""

    name: str
    pid: int | None
    since: datetime | None
    port: int | None
    memory_bytes: int | None
    log: Path

    def as_json(self) -> dict[str, Any]:
        """For machines: times in ISO 8601, paths as text."""
        return {
            "name": self.name,
            "pid": self.pid,
            "since": self.since.isoformat(timespec="seconds") if self.since else None,
            "port": self.port,
            "memoryBytes": self.memory_bytes,
            "log": str(self.log),
        }


@dataclass(frozen=True, kw_only=True)
class ClusterStatus:
    """`version` is the API server's (None: it does not answer); `simulated_nodes` are played by kwok."""

    name: str
    kubeconfig: Path
    server: str | None
    version: str | None
    simulated_nodes: tuple[str, ...]
    processes: tuple[ProcessStatus, ...]

    @property
    def running(self) -> bool:
        """Whether every expected process runs and the API server answers."""
        return self.version is not None and all(process.pid is not None for process in self.processes)

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "name": self.name,
            "running": self.running,
            "kubeconfig": str(self.kubeconfig),
            "server": self.server,
            "version": self.version,
            "simulated": {"nodes": list(self.simulated_nodes)},
            "processes": [process.as_json() for process in self.processes],
        }


def read_status(layout: Layout) -> ClusterStatus:
    """Looks at the processes, and asks the API server if it runs."""
    running = processes.leaders(layout.cluster)
    remembered = ports.read(layout.ports)
    version, nodes = _ask(layout) if control_plane.APISERVER in running else (None, ())
    port = remembered.get(control_plane.APISERVER)
    return ClusterStatus(
        name=layout.name,
        kubeconfig=layout.kubeconfig,
        server=f"https://{ports.LOOPBACK}:{port}" if port else None,
        version=version,
        simulated_nodes=nodes,
        processes=tuple(
            _process(name, running.get(name), remembered.get(name), layout) for name in control_plane.expected()
        ),
    )


def _process(name: str, running: Running | None, port: int | None, layout: Layout) -> ProcessStatus:
    return ProcessStatus(
        name=name,
        pid=running.pid if running else None,
        since=datetime.fromtimestamp(running.started, UTC) if running else None,
        port=port if running else None,
        memory_bytes=procfs.memory_bytes(running.pid) if running else None,
        log=layout.log(name),
    )


def _ask(layout: Layout) -> tuple[str | None, tuple[str, ...]]:
    try:
        with KubeApi(layout.kubeconfig, timeout_seconds=ANSWER_SECONDS) as api:
            version = str(api.request("GET", "/version")["gitVersion"])
            nodes = api.list("v1", "Node", params={"labelSelector": f"{SIMULATED}=true"})
    except (ApiError, PlatformError):
        return None, ()
    return version, tuple(node["metadata"]["name"] for node in nodes)
