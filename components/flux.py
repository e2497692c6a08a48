"""The Flux bootstrap: namespace, keys, flux-operator and one FluxInstance with the image controllers."""

from __future__ import annotations

import pulumi

from components.namespaces import Namespace, declare_namespace
from components.objects import manifest, secret
from components.platform import FLUX_NAMESPACE, Component, Platform
from components.secrets import Provider, SecretUse
from components.upstream_manifest import UpstreamManifest
from components.versions import FLUX

NAMESPACE = Namespace(name=FLUX_NAMESPACE, pod_security="restricted")
CONTROLLERS = (
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
    "image-reflector-controller",
    "image-automation-controller",
)
DEPLOY_KEY = SecretUse(
    namespace=FLUX_NAMESPACE,
    name="flux-system",
    keys=("identity", "known_hosts"),
    provider=Provider.CONFIG,
    needed_by="GitRepository flux-system",
)
AGE_KEY = SecretUse(
    namespace=FLUX_NAMESPACE,
    name="sops-age",
    # kustomize-controller takes every key whose name ends in .agekey.
    keys=("age.agekey",),
    provider=Provider.CONFIG,
    needed_by="Kustomization platform",
)
SECRETS = (DEPLOY_KEY, AGE_KEY)


class Flux(Component):
    """Flux, ready to reconcile, with the keys that the GitRepository and Kustomization `platform` name."""

    def __init__(self, platform: Platform) -> None:
        super().__init__(platform, "flux")
        namespace = declare_namespace(self, NAMESPACE)
        self.keys = [
            self.declare(_deploy_key(platform), after=[namespace]),
            self.declare(_age_key(), after=[namespace]),
        ]
        operator = UpstreamManifest(platform, "flux-operator", parent=self, after=[namespace])
        self.declare(_instance(), ready=True, after=[namespace, operator], protect=True)
        self.register_outputs({})


def _deploy_key(platform: Platform) -> dict[str, object]:
    known_hosts = pulumi.Output.from_input(platform.settings.git.known_hosts)
    identity = pulumi.Config().require_secret("deployKey")
    return secret(DEPLOY_KEY.name, DEPLOY_KEY.namespace, {"identity": identity, "known_hosts": known_hosts})


def _age_key() -> dict[str, object]:
    (key,) = AGE_KEY.keys
    return secret(AGE_KEY.name, AGE_KEY.namespace, {key: pulumi.Config().require_secret("ageKey")})


def _instance() -> dict[str, object]:
    # No spec.sync: the GitRepository and the Kustomizations are the program's own, in sync.py.
    spec = {
        "distribution": {"version": FLUX.removeprefix("v"), "registry": "ghcr.io/fluxcd"},
        "components": list(CONTROLLERS),
        "cluster": {"type": "kubernetes", "multitenant": False, "networkPolicy": True, "domain": "cluster.local"},
    }
    return manifest("fluxcd.controlplane.io/v1", "FluxInstance", "flux", namespace=NAMESPACE.name, spec=spec)
