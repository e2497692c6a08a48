"""Where an embedded cluster keeps its things, below the state directory of its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from components.errors import PlatformError
from platformctl import paths

DEFAULT_NAME = "dev"
# Other things that lie in .local: links to the tools, and what `make render` writes.
_TAKEN = frozenset({"bin", "render"})
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The files of the cluster `name`; nothing is created by asking."""

    name: str
    state: Path

    @classmethod
    def of(cls, name: str) -> Layout:
        """Raises PlatformError for a name that could not be a directory and a DNS label."""
        if not _NAME.fullmatch(name):
            raise PlatformError(
                f"--name {name!r}: a cluster's name has lower-case letters, digits and inner dashes, at most 40."
            )
        if name in _TAKEN:
            raise PlatformError(f"--name {name!r}: .local/{name} holds other things already; choose another name.")
        return cls(name=name, state=paths.state_dir(name).resolve())

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig, for people and for Pulumi."""
        return self.state / "kubeconfig"

    @property
    def keys(self) -> Path:
        """Throw-away keys that stand in for the deploy and age keys."""
        return self.state / "keys"

    @property
    def cluster(self) -> Path:
        """The control plane's own data; also the mark of its processes."""
        return self.state / "cluster"

    @property
    def lock(self) -> Path:
        """Held while a command changes the cluster; beside the state, so that it outlives a reset."""
        return self.state.with_name(f"{self.name}.lock")

    @property
    def ports_lock(self) -> Path:
        """Held while ports are chosen, because clusters side by side choose among the same ones."""
        return self.state.with_name("ports.lock")

    @property
    def ports(self) -> Path:
        """The remembered ports."""
        return self.cluster / "ports.json"

    @property
    def pki(self) -> Path:
        """Certificates and keys of the Kubernetes API."""
        return self.cluster / "pki"

    @property
    def etcd_pki(self) -> Path:
        """Certificates and keys of etcd: a CA of its own, so that no API user is an etcd user."""
        return self.cluster / "etcd-pki"

    @property
    def etcd_data(self) -> Path:
        """What the cluster remembers."""
        return self.cluster / "etcd"

    @property
    def kubeconfigs(self) -> Path:
        """Kubeconfigs of the control plane's own clients."""
        return self.cluster / "kubeconfigs"

    @property
    def logs(self) -> Path:
        """One log a process, and the API server's audit log."""
        return self.cluster / "logs"

    def log(self, process: str) -> Path:
        """The log of a process."""
        return self.logs / f"{process}.log"

    def client_kubeconfig(self, user: str) -> Path:
        """The kubeconfig of one of the control plane's own clients."""
        return self.kubeconfigs / f"{user}.yaml"

    def sibling_ports(self) -> list[Path]:
        """The remembered ports of the clusters side by side."""
        found = self.state.parent.glob("*/cluster/ports.json")
        return sorted(file for file in found if file != self.ports)
