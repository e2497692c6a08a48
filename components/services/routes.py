"""The names of a service: one HTTPRoute for each host, all to the same backend."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from components.durations import gateway_duration
from components.routing import GatewayRef, http_route, redirect_route
from components.services.service import APEX, Service, full_host


@dataclass(frozen=True, kw_only=True)
class Entrance:
    """Where routes attach: those of one label below the domain, and that of the domain itself."""

    below: GatewayRef
    apex: GatewayRef

    def for_host(self, label: str) -> GatewayRef:
        """The listener whose certificate covers the host."""
        return self.apex if label == APEX else self.below


def route_name(service: Service, label: str) -> str:
    """The label, which is one route's in the whole platform; no label has a dot."""
    return f"{service.name}.apex" if label == APEX else label


def routes(service: Service, entrance: Entrance, namespace: str, backend: tuple[str, int]) -> Iterator[dict[str, Any]]:
    """A route of every host to the backend, which is in `namespace`."""
    timeout = service.definition.request_timeout
    for label in service.definition.hosts:
        yield http_route(
            route_name(service, label),
            namespace,
            full_host(label, service.domain),
            entrance.for_host(label),
            backend,
            public=service.definition.public,
            request_timeout=gateway_duration(timeout) if timeout else None,
        )


def proxied_routes(
    service: Service, entrance: Entrance, namespace: str, backend: tuple[str, int]
) -> Iterator[dict[str, Any]]:
    """The first host leads to the proxy; the others send people there, since a proxy has one host and its cookie."""
    first, *_ = routes(service, entrance, namespace, backend)
    yield first
    for label in service.definition.hosts[1:]:
        yield redirect_route(
            route_name(service, label),
            namespace,
            full_host(label, service.domain),
            entrance.for_host(label),
            to_host=service.hosts[0],
            public=service.definition.public,
        )
