"""Every namespace of the platform, each declared once, before anything that lives in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from components.errors import PlatformError
from components.objects import KubernetesObject, manifest
from components.platform import After, Component, Platform
from components.routing import GATEWAY_ACCESS


@dataclass(frozen=True, kw_only=True)
class Namespace:
    """A namespace that a component needs; `pod_security` is the level that its pods need.

    routes: whether its HTTPRoutes may attach to the shared Gateway.
    """

    name: str
    pod_security: Literal["restricted", "baseline", "privileged"] = "baseline"
    routes: bool = False


class Namespaces(Component):
    """The namespaces of all components that come after Flux."""

    def __init__(
        self, platform: Platform, wanted: Iterable[Namespace], *, retained: Collection[str] = (), after: After = ()
    ) -> None:
        """retained: the names of those that stay in the cluster on destroy, with everything in them."""
        super().__init__(platform, "namespaces", after=after)
        declared: set[str] = set()
        for namespace in wanted:
            if namespace.name in declared:
                raise PlatformError(f"Namespace {namespace.name} is declared twice, each namespace has one owner")
            declared.add(namespace.name)
            declare_namespace(self, namespace, retain=namespace.name in retained)
        self.register_outputs({})


def declare_namespace(component: Component, namespace: Namespace, *, retain: bool = False) -> KubernetesObject:
    """The Namespace with its Pod Security level, kept from Flux's pruning, and from destroy where protected."""
    return component.declare(
        manifest(
            "v1",
            "Namespace",
            namespace.name,
            labels={
                "pod-security.kubernetes.io/enforce": namespace.pod_security,
                **(GATEWAY_ACCESS if namespace.routes else {}),
            },
            annotations={"kustomize.toolkit.fluxcd.io/prune": "disabled"},
        ),
        protect=True,
        retain=retain,
    )
