"""The pod of a service: whom it runs as, what it may do, and how it is seen to be healthy."""

from __future__ import annotations

import math
from typing import Any

from components.durations import milliseconds
from components.services.service import Service
from components.services.target import pods

# What images need that start as root and then change to a user; Pod Security's level baseline allows them.
ROOT_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID")
PRIVILEGED_PORTS_END = 1024
# Policies look for these at the pod; each holds the reason.
EXEMPT = "home.platform/exempt-"
STARTUP_PERIOD = 5


def is_root(service: Service) -> bool:
    """Whether its container runs as root."""
    return service.definition.user.uid == 0


def exemptions(service: Service) -> dict[str, str]:
    """The reasons of its exemptions as annotations, such as `home.platform/exempt-host-network`."""
    exempt = service.definition.exempt
    reasons = {
        "root": exempt.root,
        "host-network": exempt.host_network,
        "devices": exempt.devices,
        "writable-root": exempt.writable_root,
    }
    return {f"{EXEMPT}{name}": reason for name, reason in reasons.items() if reason}


def pod_security(service: Service) -> dict[str, Any]:
    """The pod's security context: not root, the volumes owned by the group."""
    user = service.definition.user
    return {
        "runAsNonRoot": not is_root(service),
        "runAsUser": user.uid,
        "runAsGroup": user.gid,
        "fsGroup": user.gid,
        # Otherwise every start walks through the whole volume.
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
        **_low_ports(service),
    }


def _low_ports(service: Service) -> dict[str, Any]:
    """A port below 1024 without root and without a capability. The host's network has a setting of its own."""
    definition = service.definition
    ports = [definition.port or PRIVILEGED_PORTS_END, *(port.port for port in definition.extra_ports)]
    if is_root(service) or definition.host_network or min(ports) >= PRIVILEGED_PORTS_END:
        return {}
    return {"sysctls": [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}]}


def container_security(service: Service) -> dict[str, Any]:
    """The container's security context."""
    added = {"add": list(ROOT_CAPABILITIES)} if is_root(service) else {}
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"], **added},
        "readOnlyRootFilesystem": service.definition.exempt.writable_root is None,
    }


def probes(service: Service) -> dict[str, Any]:
    """Startup for as long as a first start may take, then readiness and liveness; none where nothing listens."""
    health = service.definition.health
    port = health.port or service.definition.port
    if port is None:
        return {}
    check = {"httpGet": {"path": health.path, "port": port}} if health.path else {"tcpSocket": {"port": port}}
    tries = max(1, math.ceil(milliseconds(health.start) / 1000 / STARTUP_PERIOD))
    return {
        "startup": _probe(check, periodSeconds=STARTUP_PERIOD, failureThreshold=tries),
        "readiness": _probe(check, periodSeconds=10, failureThreshold=3),
        "liveness": _probe(check, periodSeconds=10, failureThreshold=6),
    }


def _probe(check: dict[str, Any], **timing: int) -> dict[str, Any]:
    return {"enabled": True, "custom": True, "spec": {**check, "timeoutSeconds": 5, **timing}}


def resources(service: Service) -> dict[str, Any]:
    """Requests and limits. A device is requested and limited alike, as the API server wants it."""
    wanted = service.definition.resources
    devices = {name: str(count) for name, count in sorted(wanted.devices.items())}
    memory = {"memory": wanted.memory_limit} if wanted.memory_limit else {}
    limits = {**memory, **devices}
    return {
        "requests": {"cpu": wanted.cpu, "memory": wanted.memory, **devices},
        **({"limits": limits} if limits else {}),
    }


def spread(service: Service) -> list[dict[str, Any]]:
    """Replicas on different nodes, where there are several."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": pods(service)},
    }
    return [constraint] if service.replicas > 1 else []
