"""The embedded cluster's life cycle: up, down, status, reset; a real control plane, with the data plane simulated."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from components.errors import PlatformError
from platformctl.local import bootstrap, control_plane, crds, kubeconfig, ports, processes, simulation
from platformctl.local.api import KubeApi
from platformctl.local.control_plane import ControlPlane
from platformctl.local.files import private_directory
from platformctl.local.layout import DEFAULT_NAME, Layout
from platformctl.local.pki import Pki
from platformctl.local.processes import ProcessSpec, Running
from platformctl.local.status import ClusterStatus, read_status

DEFAULT_NODES = ("node-a", "node-b", "node-c")
LOCK_SECONDS = 300.0

Report = Callable[[str], None]


def _silent(_: str) -> None:
    """The default report: a library says nothing."""


class Cluster:
    """One embedded cluster by name. As a context manager it is brought up, and at the end removed with its data."""

    def __init__(
        self,
        name: str = DEFAULT_NAME,
        *,
        context: str | None = None,
        binaries: Mapping[str, Path] | None = None,
        nodes: Sequence[str] = DEFAULT_NODES,
        seed: int = 0,
        feature_gates: Mapping[str, bool] | None = None,
        audit: bool = False,
        report: Report = _silent,
    ) -> None:
        """Defaults: context home-<name>, the pinned tools (built where needed).

        `seed` shuffles the simulation's delays; `feature_gates` go to the API server and the controller manager.
        """
        self.name = name
        self.context = context or f"home-{name}"
        self.layout = Layout.of(name)
        self._binaries = binaries
        self._nodes = tuple(nodes)
        self._seed = seed
        self._feature_gates = dict(feature_gates or {})
        self._audit = audit
        self._report = report

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig; exists after the first `up`."""
        return self.layout.kubeconfig

    @property
    def directory(self) -> Path:
        """The control plane's own data: certificates, etcd, logs."""
        return self.layout.cluster

    def api(self) -> KubeApi:
        """A client with the administrator's rights; refuses a kubeconfig that names anything but loopback."""
        kubeconfig.require_loopback(kubeconfig.read(self.kubeconfig), self.kubeconfig)
        return KubeApi(self.kubeconfig)

    def up(self) -> ClusterStatus:
        """Brings every process to its declared configuration and waits until all are ready; starts only what is not."""
        binaries = self._binaries or _pinned_binaries()
        with self._locked():
            started: list[Running] = []
            try:
                self._bring_up(self._plane(binaries), started)
            except BaseException:
                processes.stop(reversed(started), self.directory)
                raise
        return self.status()

    def down(self) -> list[Running]:
        """Ends the cluster's own processes, clients first; the data stays. Returns what was ended."""
        with self._locked():
            return self._stop_all()

    def reset(self) -> None:
        """Ends the processes and deletes everything kept under this name."""
        with self._locked():
            self._stop_all()
            _delete(self.layout.state)

    def status(self) -> ClusterStatus:
        """What runs now; changes nothing."""
        return read_status(self.layout)

    def __enter__(self) -> Self:
        self.up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.reset()

    def _plane(self, binaries: Mapping[str, Path]) -> ControlPlane:
        private_directory(self.layout.state)
        private_directory(self.directory)
        private_directory(self.layout.logs)
        private_directory(self.layout.etcd_data)
        pki = Pki.load_or_create(self.layout)
        plane = ControlPlane(
            layout=self.layout,
            binaries=binaries,
            ports=self._ports(),
            pki=pki,
            nodes=self._nodes,
            seed=self._seed,
            feature_gates=self._feature_gates,
            audit=self._audit,
        )
        pki.write_kubeconfigs(self.layout, plane.url(control_plane.APISERVER), self.context)
        return plane

    def _ports(self) -> Mapping[str, int]:
        held = set(processes.leaders(self.directory))
        if control_plane.ETCD in held:
            held.add(control_plane.ETCD_PEER)
        with FileLock(self.layout.ports_lock):
            return ports.choose(self.layout.ports, control_plane.PORTS, held=held, others=self.layout.sibling_ports())

    def _bring_up(self, plane: ControlPlane, started: list[Running]) -> None:
        self._ensure([plane.storage()], started)
        self._ensure([plane.apiserver()], started)
        with self.api() as api:
            bootstrap.prepare(api, self._nodes)
            self._prepare_definitions(api)
        clients = [plane.controller_manager(), plane.kwok(), plane.simulation()]
        self._ensure([spec for spec in clients if spec is not None], started)

    def _prepare_definitions(self, api: KubeApi) -> None:
        """Reads every CRD bundle before a process needs one, and says which of them are stand-ins."""
        notes = [bundle.note for bundle in crds.prepare() if bundle.note]
        for note in [*notes, *simulation.preinstall(api)]:
            self._report(note)

    def _ensure(self, specs: Sequence[ProcessSpec], started: list[Running]) -> None:
        """Starts the processes that do not run as specified, all at once, then waits for each."""
        found = processes.find(self.directory)
        awaited: list[tuple[ProcessSpec, Running]] = []
        for spec in specs:
            mine = [running for running in found if running.name == spec.name]
            current = next((running for running in mine if running.leader and running.digest == spec.digest), None)
            if current is None or not processes.settles(spec, current, self.directory):
                processes.stop(mine, self.directory, processes.REPLACE_SECONDS)
                current = processes.start(spec, self.directory)
                started.append(current)
                self._report(f"{spec.name}: started, pid {current.pid}")
            awaited.append((spec, current))
        for spec, running in awaited:
            processes.wait_ready(spec, running, self.directory)

    def _stop_all(self) -> list[Running]:
        found = processes.find(self.directory)
        order = {name: rank for rank, name in enumerate(control_plane.STOP_ORDER)}
        for rank in sorted({order.get(running.name, -1) for running in found}):
            processes.stop([running for running in found if order.get(running.name, -1) == rank], self.directory)
        return [running for running in found if running.leader]

    @contextmanager
    def _locked(self) -> Generator[None]:
        self.layout.lock.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.layout.lock, timeout=LOCK_SECONDS):
                yield
        except Timeout:
            raise PlatformError(
                f"{self.layout.lock}: another command has been working on the cluster {self.name!r} "
                f"for {LOCK_SECONDS:.0f} s; wait for it to end and try again."
            ) from None


def _delete(directory: Path) -> None:
    try:
        shutil.rmtree(directory)
    except FileNotFoundError:
        return
    except OSError as error:
        raise PlatformError(f"{error.filename or directory}: cannot be deleted ({error.strerror}).") from None


def _pinned_binaries() -> Mapping[str, Path]:
    from platformctl.tools import ensure

    return ensure(list(control_plane.BINARIES))
