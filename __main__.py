"""The home platform, in the order in which it comes up. Each line is a component; `after` is what it waits for."""

import pulumi

from components import cert_manager, contracts, kyverno
from components.cert_manager import CertManager
from components.cilium import Cilium, load_bootstrap
from components.flux import Flux
from components.kyverno import Kyverno, Policies
from components.namespaces import Namespaces
from components.platform import Platform
from components.program import ROOT, run
from components.registry import SECRETS
from components.sync import Sync

NAMESPACES = (kyverno.NAMESPACE, cert_manager.NAMESPACE)


def declare(platform: Platform) -> None:
    """Flux, namespaces, secrets from git, policies, then the network and everything on it."""
    exempt = [namespace.name for namespace in NAMESPACES]

    bootstrap = Flux(platform)
    namespaces = Namespaces(platform, NAMESPACES, after=[bootstrap])
    git = Sync(platform, after=[namespaces])
    secrets = git.platform_kustomization

    engine = Kyverno(platform, exempt=exempt, after=[secrets])
    policies = Policies(platform, ROOT / "policies", exempt=exempt, after=[engine])

    cilium = Cilium(platform, bootstrap=load_bootstrap(ROOT / contracts.BOOTSTRAP_FILE), after=[policies])
    certificates = CertManager(platform, after=[cilium])

    pulumi.export("domain", platform.settings.domain)
    pulumi.export("clusterIssuer", certificates.issuer)


run(declare, SECRETS)
