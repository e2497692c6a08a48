"""Who is who in the embedded cluster: every certificate, and the kubeconfigs that carry them."""

from __future__ import annotations

from dataclasses import dataclass

from platformctl.local import kubeconfig
from platformctl.local.certificates import Authority, KeyPair, service_account_keys
from platformctl.local.files import private_directory
from platformctl.local.kubeconfig import Connection
from platformctl.local.layout import Layout

ADMIN_GROUP = "system:masters"
SIMULATION_GROUP = "platform:simulation"
CONTROLLER_MANAGER = "kube-controller-manager"
KWOK = "kwok"
SIMULATION = "simulation"


@dataclass(frozen=True, kw_only=True)
class Pki:
    """Every key pair of the cluster; the two CAs trust nobody else's certificates."""

    authority: Authority
    etcd_authority: Authority
    etcd: KeyPair
    etcd_client: KeyPair
    apiserver: KeyPair
    controller_manager: KeyPair
    service_accounts: KeyPair
    admin: KeyPair
    clients: dict[str, KeyPair]

    @classmethod
    def load_or_create(cls, layout: Layout) -> Pki:
        """What exists and lasts is kept, the rest is made."""
        authority = Authority(layout.pki, "ca")
        etcd_authority = Authority(layout.etcd_pki, "ca")
        return cls(
            authority=authority,
            etcd_authority=etcd_authority,
            etcd=etcd_authority.server("etcd"),
            etcd_client=etcd_authority.client("apiserver", "kube-apiserver"),
            apiserver=authority.server("apiserver"),
            controller_manager=authority.server("controller-manager-serving"),
            service_accounts=service_account_keys(layout.pki),
            admin=authority.client("admin", "admin", ADMIN_GROUP),
            clients={
                CONTROLLER_MANAGER: authority.client(CONTROLLER_MANAGER, "system:kube-controller-manager"),
                KWOK: authority.client(KWOK, KWOK, SIMULATION_GROUP),
                SIMULATION: authority.client(SIMULATION, SIMULATION, SIMULATION_GROUP),
            },
        )

    def connection(self, server: str, identity: KeyPair | None = None) -> Connection:
        """A connection to one of the Kubernetes servers, as the admin by default."""
        return _connection(server, self.authority, identity or self.admin)

    def etcd_connection(self, server: str) -> Connection:
        """A connection to etcd as the API server."""
        return _connection(server, self.etcd_authority, self.etcd_client)

    def write_kubeconfigs(self, layout: Layout, server: str, context: str) -> None:
        """The administrator's kubeconfig and those of the control plane's own clients, for the server's address."""
        private_directory(layout.kubeconfigs)
        kubeconfig.write(layout.kubeconfig, self.connection(server), context=context, user=f"{context}-admin")
        for user, identity in self.clients.items():
            file = layout.client_kubeconfig(user)
            kubeconfig.write(file, self.connection(server, identity), context="embedded", user=user)


def _connection(server: str, authority: Authority, identity: KeyPair) -> Connection:
    return Connection(
        server=server,
        ca=authority.pem,
        client_certificate=identity.certificate_pem,
        client_key=identity.key_pem,
    )
