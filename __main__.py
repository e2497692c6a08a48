"""The home platform, in the order in which it comes up. Each line is a component; `after` is what it waits for."""

import pulumi

from components import (
    cert_manager,
    contracts,
    databases,
    external_dns,
    gateway,
    keycloak,
    kubevirt,
    kyverno,
    longhorn,
    monitoring,
    snapshots,
    sync,
    upstream,
    user_interfaces,
    velero,
)
from components.cert_manager import CertManager, WildcardCertificate
from components.cilium import Cilium, load_bootstrap
from components.client_secrets import ClientSecrets
from components.contracts_network import GATEWAY_API
from components.databases import Databases
from components.external_dns import ExternalDns
from components.flux import Flux
from components.gateway import Gateway
from components.household import Household
from components.image_automation import ImageAutomation
from components.interfaces import CLIENT_IDS, GUARDS, INTERFACES
from components.keycloak import Keycloak, KeycloakRoute, RealmReconciliation
from components.kubevirt import Cdi, KubeVirt
from components.kyverno import Kyverno, Policies
from components.longhorn import Longhorn
from components.monitoring import Alloy, GrafanaSignIn, Loki, Monitoring, PrometheusOperatorCrds, Role
from components.namespaces import Namespaces
from components.oauth2_proxy import RealmAddress
from components.platform import Platform
from components.program import ROOT, Own, run
from components.realm import backchannel_url, issuer_url
from components.registry import SECRETS
from components.services.component import Surroundings, declare_services
from components.services.routes import Entrance
from components.snapshots import SnapshotClass, SnapshotController, SnapshotDefinitions
from components.storage_classes import DEFAULT, SCRATCH
from components.sync import Sync
from components.upstream_manifest import UpstreamManifest
from components.user_interfaces import ProxyDefaults, UserInterfaces, proxy_clients
from components.velero import Velero

NAMESPACES = (
    kyverno.NAMESPACE,
    cert_manager.NAMESPACE,
    gateway.NAMESPACE,
    external_dns.NAMESPACE,
    longhorn.NAMESPACE,
    snapshots.NAMESPACE,
    velero.NAMESPACE,
    monitoring.NAMESPACE,
    *kubevirt.NAMESPACES,
    databases.NAMESPACE,
    keycloak.NAMESPACE,
    user_interfaces.NAMESPACE,
)


def declare(platform: Platform, household: Household) -> None:
    """Flux, namespaces, secrets from git, policies, then the network and everything on it, the household's last."""
    exempt = [namespace.name for namespace in NAMESPACES]

    bootstrap = Flux(platform)
    retained = [*longhorn.retained_namespaces(platform.settings), *household.retained_namespaces]
    namespaces = Namespaces(platform, [*NAMESPACES, *household.namespaces], retained=retained, after=[bootstrap])
    git = Sync(platform, after=[namespaces])
    secrets = git.platform_kustomization
    ImageAutomation(platform, source=sync.SOURCE, after=[secrets])

    engine = Kyverno(platform, exempt=exempt, after=[secrets])
    policies = Policies(platform, ROOT / "policies", exempt=exempt, after=[engine])

    monitors = PrometheusOperatorCrds(platform, after=[policies])
    gateway_api = UpstreamManifest(platform, GATEWAY_API, after=[policies])
    cilium = Cilium(
        platform,
        bootstrap=load_bootstrap(ROOT / contracts.BOOTSTRAP_FILE),
        gateway_api=upstream.locked()[GATEWAY_API].version,
        after=[policies, gateway_api, monitors],
    )
    certificates = CertManager(platform, after=[cilium])
    wildcard = WildcardCertificate(
        platform, issuer=certificates.issuer, namespace=gateway.NAMESPACE.name, after=[certificates]
    )
    entrance = Gateway(platform, certificate_secret=wildcard.secret_name, after=[cilium, wildcard])
    ExternalDns(platform, after=[entrance])

    snapshot_definitions = SnapshotDefinitions(platform, after=[policies])
    storage = Longhorn(platform, monitored=True, after=[cilium])
    snapshot_controller = SnapshotController(platform, monitored=True, after=[cilium, snapshot_definitions])
    snapshot_class = SnapshotClass(platform, after=[snapshot_controller])
    Velero(platform, monitored=True, after=[storage, snapshot_class])

    logs = Loki(platform, after=[storage])
    Alloy(platform, loki_url=logs.url, after=[logs])
    roles: dict[str, Role] = dict.fromkeys(platform.settings.user_interfaces.allowed_groups, "Admin")
    grafana = monitoring.oidc_client(platform.settings.domain, roles)
    realm = RealmAddress(issuer=issuer_url(platform.settings.domain), backchannel=backchannel_url())
    clients = (grafana, *proxy_clients(INTERFACES, platform.settings.domain, roles), *household.clients)
    client_secrets = ClientSecrets(platform, clients, texts=household.client_texts, after=[secrets])
    metrics = Monitoring(
        platform,
        sign_in=GrafanaSignIn(
            client=grafana,
            issuer=realm.issuer,
            backchannel=realm.backchannel,
            roles=roles,
        ),
        loki_url=logs.url,
        dashboards=ROOT / "dashboards",
        backups=velero.expected_backups(platform.settings.velero),
        after=[storage, certificates, client_secrets],
    )

    postgresql = Databases(platform, monitored=True, after=[cilium, monitors])
    identity = Keycloak(
        platform,
        operator_namespace=databases.NAMESPACE.name,
        monitoring_namespace=monitoring.NAMESPACE.name,
        after=[postgresql, storage, monitors],
    )
    accounts = RealmReconciliation(
        platform, clients=clients, fingerprints=client_secrets.fingerprints, after=[identity, client_secrets]
    )
    KeycloakRoute(platform, entrance.ref, after=[entrance, accounts])

    KubeVirt(platform, state_class=DEFAULT, after=[storage])
    Cdi(platform, scratch_class=SCRATCH, after=[storage])

    UserInterfaces(
        platform,
        INTERFACES,
        gateway=entrance.ref,
        proxies=ProxyDefaults(
            realm=realm,
            fingerprints=client_secrets.fingerprints,
            monitoring_namespace=monitoring.NAMESPACE.name,
        ),
        guards=GUARDS,
        after=[entrance, storage, metrics, client_secrets, accounts],
    )

    surroundings = Surroundings(
        entrance=Entrance(below=entrance.ref, apex=entrance.apex),
        realm=realm,
        client_secrets=client_secrets,
        accounts=accounts,
        monitoring_namespace=monitoring.NAMESPACE.name,
    )
    declare_services(platform, household.services, surroundings, after=[entrance, storage])

    pulumi.export("domain", platform.settings.domain)
    pulumi.export("clusterIssuer", certificates.issuer)
    pulumi.export("gatewayAddress", str(platform.settings.gateway.address))


run(declare, Own(secrets=SECRETS, namespaces=[each.name for each in NAMESPACES], clients=CLIENT_IDS))
