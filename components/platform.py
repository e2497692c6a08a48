"""What every component shares: its place in the tree, its objects, its order and its readiness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import pulumi_random as random

from components.objects import KubernetesObject, Manifest
from components.settings import Settings

After = Iterable[pulumi.Resource]
READY_TIMEOUT = "20m"
FLUX_NAMESPACE = "flux-system"


@dataclass(frozen=True, kw_only=True)
class Platform:
    """What every component is given: the stack, its settings, and the only two providers there are."""

    stack: str
    settings: Settings
    kubernetes: kubernetes.Provider
    random: random.Provider

    @property
    def protect(self) -> bool:
        """Whether stateful parts of this stack refuse destroy and replacement."""
        return self.settings.cluster.protect


def connect(stack: str, settings: Settings) -> Platform:
    """Providers by context name: the kubeconfig stays ambient, since its text would land in the state."""
    context = settings.cluster.context
    return Platform(
        stack=stack,
        settings=settings,
        kubernetes=kubernetes.Provider("cluster", context=context, cluster_identifier=context),
        random=random.Provider("random"),
    )


class Component(pulumi.ComponentResource):
    """The base of every component: type token `home:platform:<class name>`, one child per Kubernetes object."""

    def __init__(self, platform: Platform, name: str, *, parent: Component | None = None, after: After = ()) -> None:
        opts = pulumi.ResourceOptions(parent=parent, depends_on=list(after))
        super().__init__(f"home:platform:{type(self).__name__}", name, None, opts)
        self.platform = platform
        self.settings = platform.settings
        self._after = tuple(after)
        self._declared: set[pulumi.Resource] = set()

    def declare(
        self,
        manifest: Manifest,
        *,
        after: After = (),
        ready: bool = False,
        condition: str = "Ready",
        timeout: str = READY_TIMEOUT,
        protect: bool = False,
        retain: bool = False,
        name: str | None = None,
        options: pulumi.ResourceOptions | None = None,
    ) -> KubernetesObject:
        """One Kubernetes object as a child.

        after: what must exist (or be ready) first, besides what the component itself comes after.
        ready: wait for the `condition`, at most `timeout` (a Go duration).
        protect: refuse destroy and replacement where the stack protects its stateful parts.
        retain: leave the object in the cluster on destroy.
        name: in the state, where the object's own name changes with its content.
        options: what else the engine should know of this one object.
        """
        guarded = protect and self.platform.protect
        declared = KubernetesObject(
            _awaited(manifest, condition) if ready else manifest,
            pulumi.ResourceOptions.merge(
                pulumi.ResourceOptions(
                    parent=self,
                    provider=self.platform.kubernetes,
                    depends_on=self._dependencies(after),
                    protect=guarded or None,
                    retain_on_delete=(retain or guarded) or None,
                    delete_before_replace=True,
                    custom_timeouts=pulumi.CustomTimeouts(create=timeout, update=timeout, delete=timeout),
                ),
                options,
            ),
            name=name,
        )
        self._declared.add(declared)
        return declared

    def _dependencies(self, after: After) -> list[pulumi.Resource]:
        """What an object waits for. Behind a sibling it is behind the component's own `after` already.

        The SDK follows every edge that it is given at each registration, so edges that say nothing new are left out.
        """
        wanted = list(after)
        return wanted if self._declared.intersection(wanted) else [*self._after, *wanted]

    def generated_password(self, name: str, *, length: int = 32, protect: bool = True) -> pulumi.Output[str]:
        """A password made once and stable across runs; it is a secret in the state, never rotated by an update.

        protect: false where a new one costs nothing, since every place that knows it is written in the same run.
        """
        password = random.RandomPassword(
            name,
            length=length,
            special=False,
            opts=pulumi.ResourceOptions(
                parent=self,
                provider=self.platform.random,
                protect=(protect and self.platform.protect) or None,
                ignore_changes=["length", "special"],
            ),
        )
        return password.result


def _awaited(manifest: Manifest, condition: str) -> dict[str, Any]:
    """The provider waits for the condition at the object's current generation."""
    metadata: Mapping[str, Any] = manifest["metadata"]
    annotations = {**metadata.get("annotations", {}), "pulumi.com/waitFor": f"condition={condition}"}
    return {**manifest, "metadata": {**metadata, "annotations": annotations}}
