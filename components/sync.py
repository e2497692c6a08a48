"""What Flux reconciles from git: Kustomization `platform` (SOPS Secrets), and after it `apps`."""

from __future__ import annotations

from typing import Any

from components.objects import manifest, secret
from components.platform import FLUX_NAMESPACE, After, Component, Platform
from components.secret_files import secrets_path
from components.secrets import Provider, SecretUse

SOURCE = "flux-system"
VARIABLES = "cluster-vars"
RECEIVER_TOKEN = "receiver-token"  # noqa: S105 - the name of a Secret
PLATFORM_TIMEOUT_MINUTES = 5

SECRETS = (
    SecretUse(
        namespace=FLUX_NAMESPACE,
        name=RECEIVER_TOKEN,
        keys=("token",),
        provider=Provider.GENERATED,
        needed_by="Receiver git-push",
    ),
)


class Sync(Component):
    """The git source and its two Kustomizations. `platform` is ready when every SOPS Secret is in the cluster."""

    def __init__(self, platform: Platform, *, after: After = ()) -> None:
        super().__init__(platform, "sync", after=after)
        source = self.declare(_source(platform), ready=True)
        self.platform_kustomization = self.declare(
            _platform_kustomization(platform),
            ready=True,
            after=[source],
            timeout=f"{2 * PLATFORM_TIMEOUT_MINUTES + 5}m",
        )
        variables = self.declare(_variables(platform))
        # Nothing waits on apps: what a household deploys there must not hold up the platform.
        self.declare(_apps_kustomization(), after=[source, variables, self.platform_kustomization])
        token = self.declare(
            secret(RECEIVER_TOKEN, FLUX_NAMESPACE, {"token": self.generated_password(RECEIVER_TOKEN, length=40)})
        )
        self.declare(_receiver(), ready=True, after=[source, token])
        self.register_outputs({})


def _source(platform: Platform) -> dict[str, Any]:
    git = platform.settings.git
    spec = {
        "interval": git.interval,
        "url": git.url,
        "ref": {"branch": git.branch},
        "secretRef": {"name": "flux-system"},
    }
    return manifest("source.toolkit.fluxcd.io/v1", "GitRepository", SOURCE, namespace=FLUX_NAMESPACE, spec=spec)


def _kustomization(name: str, path: str, **fields: Any) -> dict[str, Any]:
    spec = {
        "interval": "10m",
        # Without it a failed run waits for the next interval.
        "retryInterval": "2m",
        "path": f"./{path}",
        "prune": True,
        "sourceRef": {"kind": "GitRepository", "name": SOURCE},
        "decryption": {"provider": "sops", "secretRef": {"name": "sops-age"}},
        **fields,
    }
    return manifest("kustomize.toolkit.fluxcd.io/v1", "Kustomization", name, namespace=FLUX_NAMESPACE, spec=spec)


def _platform_kustomization(platform: Platform) -> dict[str, Any]:
    return _kustomization(
        "platform",
        secrets_path(platform.stack),
        timeout=f"{PLATFORM_TIMEOUT_MINUTES}m",
        wait=True,
    )


def _apps_kustomization() -> dict[str, Any]:
    return _kustomization(
        "apps",
        "apps",
        timeout="15m",
        wait=True,
        dependsOn=[{"name": "platform"}],
        postBuild={"substituteFrom": [{"kind": "ConfigMap", "name": VARIABLES}]},
    )


def _variables(platform: Platform) -> dict[str, Any]:
    settings = platform.settings
    data = {"CLUSTER": platform.stack, "DOMAIN": settings.domain}
    return manifest("v1", "ConfigMap", VARIABLES, namespace=FLUX_NAMESPACE, data=data)


def _receiver() -> dict[str, Any]:
    """The webhook at which the git host announces a push, so that nobody waits for the interval."""
    spec = {
        "type": "github",
        "events": ["ping", "push"],
        "secretRef": {"name": RECEIVER_TOKEN},
        "resources": [{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "name": SOURCE}],
    }
    return manifest("notification.toolkit.fluxcd.io/v1", "Receiver", "git-push", namespace=FLUX_NAMESPACE, spec=spec)
