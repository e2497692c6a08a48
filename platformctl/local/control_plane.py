"""How each process of the embedded cluster is run: flags, certificates, and how it shows that it is ready."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from platformctl.local import pki as identities
from platformctl.local import probes
from platformctl.local.files import write_private
from platformctl.local.layout import Layout
from platformctl.local.pki import Pki
from platformctl.local.ports import LOOPBACK
from platformctl.local.processes import ProcessSpec

ETCD = "etcd"
ETCD_PEER = "etcd-peer"
APISERVER = "kube-apiserver"
CONTROLLER_MANAGER = identities.CONTROLLER_MANAGER
KWOK = identities.KWOK
SIMULATION = identities.SIMULATION
BINARIES = (ETCD, APISERVER, CONTROLLER_MANAGER, KWOK)
# clients first, so that each can still finish its last request
STOP_ORDER = (SIMULATION, KWOK, CONTROLLER_MANAGER, APISERVER, ETCD)
PORTS = (ETCD, ETCD_PEER, APISERVER, CONTROLLER_MANAGER)
SIMULATION_MODULE = "platformctl.local.simulation"

SERVICE_CIDR = "10.43.0.0/16"
# node-lifecycle would evict pods whenever kwok is late; what needs a scheduler, volumes or a cloud has nothing to do
CONTROLLERS = (
    "namespace-controller",
    "garbage-collector-controller",
    "serviceaccount-controller",
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "daemonset-controller",
    "job-controller",
    "cronjob-controller",
    "ttl-after-finished-controller",
    "endpoints-controller",
    "endpointslice-controller",
    "clusterrole-aggregation-controller",
)
AUDIT_POLICY = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"


@dataclass(frozen=True, kw_only=True)
class ControlPlane:
    """Everything the processes of one cluster are configured from."""

    layout: Layout
    binaries: Mapping[str, Path]
    ports: Mapping[str, int]
    pki: Pki
    nodes: tuple[str, ...]
    seed: int
    feature_gates: Mapping[str, bool]
    audit: bool

    def url(self, process: str) -> str:
        """Where a process listens."""
        return f"https://{LOOPBACK}:{self.ports[process]}"

    def storage(self) -> ProcessSpec:
        """The etcd process: TLS with client certificates on both ports."""
        keys, trusted = self.pki.etcd, self.pki.etcd_authority.files.certificate
        arguments = {
            "name": "embedded",
            "data-dir": self.layout.etcd_data,
            "listen-client-urls": self.url(ETCD),
            "advertise-client-urls": self.url(ETCD),
            "listen-peer-urls": self.url(ETCD_PEER),
            "initial-advertise-peer-urls": self.url(ETCD_PEER),
            "initial-cluster": f"embedded={self.url(ETCD_PEER)}",
            "cert-file": keys.certificate,
            "key-file": keys.key,
            "client-cert-auth": "true",
            "trusted-ca-file": trusted,
            "peer-cert-file": keys.certificate,
            "peer-key-file": keys.key,
            "peer-client-cert-auth": "true",
            "peer-trusted-ca-file": trusted,
            "socket-reuse-address": "true",
            "unsafe-no-fsync": "true",
            "log-level": "warn",
        }
        ready = probes.https_ok(self.pki.etcd_connection(self.url(ETCD)), "/health")
        return self._spec(ETCD, arguments, ready=ready, inputs=[keys.certificate_pem])

    def apiserver(self) -> ProcessSpec:
        """The API server: RBAC, no anonymous requests, no aggregation."""
        pki, service_accounts = self.pki, self.pki.service_accounts
        arguments = {
            "bind-address": LOOPBACK,
            "secure-port": self.ports[APISERVER],
            # without an address it looks for a default route; without "none" it complains about loopback for ever
            "advertise-address": LOOPBACK,
            "endpoint-reconciler-type": "none",
            "permit-address-sharing": "true",
            "etcd-servers": self.url(ETCD),
            "etcd-cafile": pki.etcd_authority.files.certificate,
            "etcd-certfile": pki.etcd_client.certificate,
            "etcd-keyfile": pki.etcd_client.key,
            "tls-cert-file": pki.apiserver.certificate,
            "tls-private-key-file": pki.apiserver.key,
            "client-ca-file": pki.authority.files.certificate,
            "anonymous-auth": "false",
            "authorization-mode": "RBAC",
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": service_accounts.certificate,
            "service-account-signing-key-file": service_accounts.key,
            "service-cluster-ip-range": SERVICE_CIDR,
            "allow-privileged": "true",
            "profiling": "false",
            **self._feature_gates(),
            **self._audit(),
        }
        ready = probes.https_ok(pki.connection(self.url(APISERVER)), "/readyz")
        inputs = [pki.apiserver.certificate_pem, pki.etcd_client.certificate_pem]
        return self._spec(APISERVER, arguments, ready=ready, inputs=inputs)

    def controller_manager(self) -> ProcessSpec:
        """The controllers that workloads, namespaces and owner references need; each with its own service account."""
        pki, config = self.pki, self.layout.client_kubeconfig(CONTROLLER_MANAGER)
        arguments = {
            "bind-address": LOOPBACK,
            "secure-port": self.ports[CONTROLLER_MANAGER],
            "permit-address-sharing": "true",
            "tls-cert-file": pki.controller_manager.certificate,
            "tls-private-key-file": pki.controller_manager.key,
            "kubeconfig": config,
            "authentication-kubeconfig": config,
            "authorization-kubeconfig": config,
            "authentication-skip-lookup": "true",
            "client-ca-file": pki.authority.files.certificate,
            "controllers": ",".join(CONTROLLERS),
            "use-service-account-credentials": "true",
            "leader-elect": "false",
            "kube-api-qps": 100,
            "kube-api-burst": 200,
            "profiling": "false",
            **self._feature_gates(),
        }
        ready = probes.https_ok(pki.connection(self.url(CONTROLLER_MANAGER)), "/healthz")
        inputs = [pki.controller_manager.certificate_pem, _text(config)]
        return self._spec(CONTROLLER_MANAGER, arguments, ready=ready, inputs=inputs)

    def kwok(self) -> ProcessSpec:
        """The process that plays nodes, pods and whatever else the Stages in the cluster describe."""
        config, files = self.layout.client_kubeconfig(KWOK), kwok_configuration()
        arguments = ["--kubeconfig", str(config), "--manage-all-nodes=true"]
        arguments += [part for file in files for part in ("--config", str(file))]
        return ProcessSpec(
            name=KWOK,
            argv=(str(self.binaries[KWOK]), *arguments),
            log=self.layout.log(KWOK),
            ready=probes.nodes_ready(self.layout.kubeconfig, self.nodes),
            inputs=(_text(config), *(_text(file) for file in files)),
        )

    def simulation(self) -> ProcessSpec | None:
        """Our own simulated controllers, where that package is installed."""
        sources = simulation_sources()
        if not sources:
            return None
        config = self.layout.client_kubeconfig(SIMULATION)
        arguments = ("--kubeconfig", str(config), "--seed", str(self.seed))
        return ProcessSpec(
            name=SIMULATION,
            argv=(sys.executable, "-m", SIMULATION_MODULE, *arguments),
            log=self.layout.log(SIMULATION),
            ready=lambda: True,
            steady_seconds=1.5,
            inputs=(_text(config), *(_text(file) for file in sources)),
            environment={"PYTHONUNBUFFERED": "1"},
        )

    def _spec(
        self, name: str, arguments: Mapping[str, object], *, ready: probes.Probe, inputs: Iterable[str]
    ) -> ProcessSpec:
        flags = (f"--{flag}={value}" for flag, value in arguments.items())
        argv = (str(self.binaries[name]), *flags)
        return ProcessSpec(name=name, argv=argv, log=self.layout.log(name), ready=ready, inputs=tuple(inputs))

    def _feature_gates(self) -> dict[str, str]:
        gates = (f"{gate}={str(on).lower()}" for gate, on in sorted(self.feature_gates.items()))
        return {"feature-gates": ",".join(gates)} if self.feature_gates else {}

    def _audit(self) -> dict[str, object]:
        if not self.audit:
            return {}
        policy = write_private(self.layout.cluster / "audit-policy.yaml", AUDIT_POLICY)
        return {"audit-policy-file": policy, "audit-log-path": self.layout.log("audit"), "audit-log-maxsize": 50}


def expected() -> tuple[str, ...]:
    """The processes of a complete cluster, in the order in which they are started."""
    names = (ETCD, APISERVER, CONTROLLER_MANAGER, KWOK)
    return (*names, SIMULATION) if simulation_sources() else names


def simulation_directory() -> Path | None:
    """The installed package of simulated controllers and kwok Stages, if there is one."""
    spec = find_spec(SIMULATION_MODULE)
    locations = list(spec.submodule_search_locations or []) if spec else []
    return Path(locations[0]) if locations else None


def simulation_sources() -> list[Path]:
    """The simulation's Python files; a change in them restarts it. Empty if it cannot be run."""
    directory = simulation_directory()
    if directory is None or not (directory / "__main__.py").exists():
        return []
    return sorted(directory.rglob("*.py"))


def kwok_configuration() -> list[Path]:
    """kwok's own options, which come with the simulation; the Stages are objects that the simulation applies."""
    directory = simulation_directory()
    return [directory / "stages" / "kwok.yaml"] if directory else []


def _text(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
