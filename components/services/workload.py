"""What runs a service: a HelmRelease of the chart app-template, with values made of the service's file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pulumi

from components.durations import milliseconds
from components.helm import HelmApplication
from components.routing import EXTERNAL_DNS_PREFIX, PUBLIC
from components.services.definition import ExtraPort, SecretEnv, SecretFile
from components.services.pod import (
    container_security,
    exemptions,
    pod_security,
    probes,
    resources,
    spread,
)
from components.services.service import Service, full_host
from components.services.storage import Volume
from components.versions import APP_TEMPLATE

MAIN = "main"
HTTP = "http"
LAN = "lan"
LB_ADDRESS = "lbipam.cilium.io/ips"
TMP = "/tmp"  # noqa: S108 - inside the container
# Names of volumes that no volume of a definition has: those have at most 20 characters.
_TMP_VOLUME = "platform-temporary-files"


def application(service: Service, annotations: Mapping[str, pulumi.Input[str]]) -> HelmApplication:
    """The release in the service's namespace. `annotations` of the pods: a change of them replaces the pods."""
    return HelmApplication(
        chart=APP_TEMPLATE,
        namespace=service.namespace,
        name=service.name,
        values=values(service, annotations),
        crds="Skip",
        timeout_minutes=timeout_minutes(service),
    )


def timeout_minutes(service: Service) -> int:
    """The first start, and five minutes more for the image and the volumes."""
    return math.ceil(milliseconds(service.definition.health.start) / 60_000) + 5


def values(service: Service, annotations: Mapping[str, pulumi.Input[str]]) -> dict[str, Any]:
    """The chart's values, as its schema wants them."""
    return {
        # The name in labels; by default it is the chart's, the same for every service.
        "global": {"nameOverride": service.name},
        "controllers": {MAIN: _controller(service, annotations)},
        "service": _services(service),
        "persistence": _persistence(service),
        **_monitor(service),
    }


def needs_recreate(service: Service) -> bool:
    """Whether two pods of it cannot live at once: they would wait for each other's volume, port or device."""
    definition = service.definition
    exclusive = any(volume.access_mode == "ReadWriteOnce" for volume in definition.storage)
    return exclusive or definition.host_network or bool(definition.resources.devices)


def _strategy(service: Service) -> str:
    return "Recreate" if needs_recreate(service) else service.definition.strategy or "RollingUpdate"


def _controller(service: Service, annotations: Mapping[str, pulumi.Input[str]]) -> dict[str, Any]:
    return {
        "type": "deployment",
        "replicas": service.replicas,
        "strategy": _strategy(service),
        "pod": _pod(service, annotations),
        "containers": {MAIN: _container(service)},
    }


def _pod(service: Service, annotations: Mapping[str, pulumi.Input[str]]) -> dict[str, Any]:
    definition = service.definition
    pull_secret = definition.image.pull_secret if definition.image else None
    network = {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"} if definition.host_network else {}
    optional = {
        "annotations": {**exemptions(service), **annotations},
        "nodeSelector": dict(definition.node_selector),
        "topologySpreadConstraints": spread(service),
        "imagePullSecrets": [{"name": pull_secret}] if pull_secret else [],
    }
    return {
        "automountServiceAccountToken": False,
        # A Service called paperless would set PAPERLESS_PORT to tcp://…
        "enableServiceLinks": False,
        "securityContext": pod_security(service),
        **network,
        **{key: value for key, value in optional.items() if value},
    }


def _container(service: Service) -> dict[str, Any]:
    definition = service.definition
    optional = {
        "command": [service.filled(word) for word in definition.command],
        "args": [service.filled(word) for word in definition.args],
        "env": _environment(service),
        "probes": probes(service),
    }
    return {
        "image": _image(service),
        "securityContext": container_security(service),
        "resources": resources(service),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        **{key: value for key, value in optional.items() if value},
    }


def _image(service: Service) -> dict[str, str]:
    image = service.definition.image
    if image is None:
        raise ValueError(f"{service.name} has no image of its own, so no workload")
    tag = f"{image.tag}@{image.digest}" if image.digest else image.tag
    return {"repository": image.repository, "tag": tag}


def literal(text: str) -> str:
    """Text that the chart's template engine gives back as it is."""
    return text.replace("{{", '{{ "{{" }}')


def _environment(service: Service) -> dict[str, Any]:
    plain = {name: literal(service.filled(text)) for name, text in service.definition.env.items()}
    return {**plain, **{name: from_secret(secret, key) for name, secret, key in environment_secrets(service)}}


def from_secret(secret: str, key: str) -> dict[str, Any]:
    """The value of a variable that a Secret holds."""
    return {"valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}


def environment_secrets(service: Service) -> list[tuple[str, str, str]]:
    """Variable, Secret and key of each variable that comes from a Secret, those of its client included."""
    definition = service.definition
    own = [(entry.env, entry.secret, entry.key) for entry in definition.secrets if isinstance(entry, SecretEnv)]
    if definition.auth.mode != "oidc":
        return own
    return own + [(name, client_secret_name(service), name) for name in definition.auth.env]


def client_secret_name(service: Service) -> str:
    """The Secret of the service's own client in the realm."""
    return f"{service.name}-oidc"


def _services(service: Service) -> dict[str, Any]:
    definition = service.definition
    inside = {port.name: _port(port) for port in definition.extra_ports if port.expose == "cluster"}
    if definition.port:
        inside = {HTTP: {"port": definition.port, "protocol": "HTTP"}, **inside}
    outside = [port for port in definition.extra_ports if port.expose == "loadBalancer"]
    found: dict[str, Any] = {}
    if inside:
        found[MAIN] = {"controller": MAIN, "forceRename": service.name, "primary": True, "ports": inside}
    if outside:
        found[LAN] = _load_balancer(service, outside)
    return found


def _port(port: ExtraPort) -> dict[str, Any]:
    return {"port": port.service_port or port.port, "targetPort": port.port, "protocol": port.protocol}


def _load_balancer(service: Service, ports: list[ExtraPort]) -> dict[str, Any]:
    """One address of the LAN for all of its ports; a public record only for a public service."""
    names = [full_host(port.host, service.domain) for port in ports if port.host]
    public = service.definition.public and bool(names)
    annotations = {
        **({LB_ADDRESS: str(service.values.address)} if service.values.address else {}),
        **({f"{EXTERNAL_DNS_PREFIX}hostname": ",".join(dict.fromkeys(names))} if public else {}),
    }
    return {
        "controller": MAIN,
        "forceRename": f"{service.name}-{LAN}",
        "type": "LoadBalancer",
        # cilium answers at the address itself; a port on every node would be a second way in.
        "allocateLoadBalancerNodePorts": False,
        "ports": {port.name: _port(port) for port in ports},
        **({"labels": dict(PUBLIC)} if public else {}),
        **({"annotations": annotations} if annotations else {}),
    }


def _persistence(service: Service) -> dict[str, Any]:
    definition = service.definition
    items = {volume.name: _volume(service, volume) for volume in definition.storage}
    files = [entry for entry in definition.secrets if isinstance(entry, SecretFile)]
    items |= {f"platform-secret-file-{number}": _file(entry) for number, entry in enumerate(files)}
    if definition.exempt.writable_root is None and TMP not in {volume.mount_path for volume in definition.storage}:
        items[_TMP_VOLUME] = {"type": "emptyDir", "globalMounts": [{"path": TMP}]}
    return items


def _volume(service: Service, volume: Volume) -> dict[str, Any]:
    mount = {
        "path": volume.mount_path,
        **({"subPath": volume.sub_path} if volume.sub_path else {}),
        **({"readOnly": True} if volume.read_only else {}),
    }
    return {"type": "persistentVolumeClaim", "existingClaim": service.claim(volume), "globalMounts": [mount]}


def _file(entry: SecretFile) -> dict[str, Any]:
    name = entry.file.rpartition("/")[2]
    return {
        "type": "secret",
        "name": entry.secret,
        "items": [{"key": entry.key, "path": name}],
        # For the owner and the group of the volumes, and nobody else.
        "defaultMode": 0o440,
        "globalMounts": [{"path": entry.file, "subPath": name, "readOnly": True}],
    }


def _monitor(service: Service) -> dict[str, Any]:
    path = service.definition.metrics
    if path is None:
        return {}
    endpoints = [{"port": HTTP, "path": path, "scheme": "http"}]
    return {"serviceMonitor": {MAIN: {"service": {"identifier": MAIN}, "endpoints": endpoints}}}
