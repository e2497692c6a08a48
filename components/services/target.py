"""Where a service is inside the cluster: its pods, its ports and the Service in front of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from components.services.service import Service


@dataclass(frozen=True, kw_only=True)
class Target:
    """The pods of a service, and the Service in front of them that answers HTTP.

    port: of the Service. pod_port: of the pods.
    """

    namespace: str
    pods: Mapping[str, str]
    service: str
    port: int
    pod_port: int

    @property
    def url(self) -> str:
        """The address inside the cluster."""
        return f"http://{self.service}.{self.namespace}.svc:{self.port}"


def pods(service: Service) -> dict[str, str]:
    """The labels that the pods of this service have, and no other pods of its namespace."""
    backend = service.definition.backend
    if backend:
        return dict(backend.pods)
    return {"app.kubernetes.io/name": service.name, "app.kubernetes.io/instance": service.name}


def target(service: Service) -> Target | None:
    """Where HTTP is answered; None for a service without a port."""
    definition = service.definition
    if definition.backend:
        name, port = definition.backend.service, definition.backend.port
        pod_port = definition.backend.pod_port or port
    elif definition.port:
        name, port, pod_port = service.name, definition.port, definition.port
    else:
        return None
    return Target(namespace=service.namespace, pods=pods(service), service=name, port=port, pod_port=pod_port)


def pod_ports(service: Service) -> tuple[tuple[int, str], ...]:
    """Every port of the pods with its protocol, HTTP first."""
    http = target(service)
    ports = [(http.pod_port, "TCP")] if http else []
    return tuple(dict.fromkeys([*ports, *((port.port, port.protocol) for port in service.definition.extra_ports)]))
