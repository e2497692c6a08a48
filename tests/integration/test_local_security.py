"""Who may reach the embedded cluster, and from where."""

from __future__ import annotations

import ssl
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from platformctl.local import kubeconfig, processes
from platformctl.local.api import ApiError, KubeApi
from platformctl.local.certificates import Authority, KeyPair
from platformctl.local.cluster import Cluster
from platformctl.local.kubeconfig import Connection

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(60, func_only=True)]

LOOPBACK_V4 = "0100007F"
LISTEN = "0A"


@pytest.fixture
def connection(shared: Cluster) -> Connection:
    return kubeconfig.read(shared.kubeconfig)


def url(shared: Cluster, process: str) -> str:
    port = next(found.port for found in shared.status().processes if found.name == process)
    return f"https://127.0.0.1:{port}"


@pytest.mark.parametrize("process", ["etcd", "kube-apiserver", "kube-controller-manager"])
def test_a_client_without_our_ca_does_not_trust_the_server(shared: Cluster, process: str) -> None:
    with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx.get(url(shared, process), trust_env=False)


def test_the_api_server_is_verified_by_name(connection: Connection) -> None:
    context = ssl.create_default_context(cadata=connection.ca)
    address = connection.server.replace("127.0.0.1", "127.0.0.2")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}/readyz", verify=context, trust_env=False)


@pytest.mark.parametrize("path", ["/version", "/readyz", "/api/v1/namespaces"])
def test_anonymous_requests_are_refused(connection: Connection, path: str) -> None:
    context = ssl.create_default_context(cadata=connection.ca)
    assert httpx.get(connection.server + path, verify=context, trust_env=False).status_code == 401


def test_a_certificate_of_another_ca_is_refused(connection: Connection, tmp_path: Path) -> None:
    forged = Authority(tmp_path, "ca").client("admin", "admin", "system:masters")
    assert as_user(connection, forged, tmp_path) == 401


def test_an_unprivileged_user_is_known_but_may_do_nothing(
    shared: Cluster, connection: Connection, tmp_path: Path
) -> None:
    # issued by the cluster's CA, without any group
    copied = {name: (shared.layout.pki / name).read_bytes() for name in ("ca.crt", "ca.key")}
    for name, content in copied.items():
        (tmp_path / name).write_bytes(content)
    assert as_user(connection, Authority(tmp_path, "ca").client("guest", "guest"), tmp_path) == 403


def as_user(connection: Connection, identity: KeyPair, directory: Path) -> int:
    file = directory / "kubeconfig"
    user = Connection(
        server=connection.server,
        ca=connection.ca,
        client_certificate=identity.certificate_pem,
        client_key=identity.key_pem,
    )
    kubeconfig.write(file, user, context="test", user="test")
    with KubeApi(file) as api, pytest.raises(ApiError) as caught:
        api.list("v1", "Secret")
    return caught.value.status


def test_etcd_refuses_even_the_clusters_administrator(shared: Cluster, connection: Connection) -> None:
    context = ssl.create_default_context(cafile=shared.layout.etcd_pki / "ca.crt")
    context.load_cert_chain(shared.layout.pki / "admin.crt", shared.layout.pki / "admin.key")
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{url(shared, 'etcd')}/health", verify=context, trust_env=False)


def test_everything_listens_on_loopback_only(shared: Cluster) -> None:
    listening = list(listening_addresses({running.pid for running in processes.find(shared.directory)}))
    assert len(listening) >= 4
    assert set(listening) == {LOOPBACK_V4}


def listening_addresses(pids: set[int]) -> Iterator[str]:
    """Local addresses (hexadecimal, as in /proc/net) of the listening TCP sockets of some processes."""
    links = (link for pid in pids for link in Path(f"/proc/{pid}/fd").iterdir())
    sockets = {target.removeprefix("socket:[").rstrip("]") for link in links if (target := read_link(link))}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTEN and fields[9] in sockets:
                yield fields[1].rpartition(":")[0]


def read_link(link: Path) -> str:
    try:
        return str(link.readlink())
    except FileNotFoundError:
        return ""


def test_what_is_kept_is_readable_by_its_owner_alone(shared: Cluster) -> None:
    def others_may(path: Path) -> bool:
        return bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))

    # etcd keeps its own files, in a directory that nobody else can enter
    kept = [path for path in shared.layout.state.rglob("*") if shared.layout.etcd_data not in path.parents]
    assert shared.layout.etcd_data in kept
    assert [path for path in (shared.layout.state, *kept) if others_may(path)] == []


def test_the_kubeconfig_names_the_context_and_embeds_everything(shared: Cluster) -> None:
    document = yaml.safe_load(shared.kubeconfig.read_text())
    assert document["current-context"] == "home-shared"
    assert [context["name"] for context in document["contexts"]] == ["home-shared"]
    assert set(document["clusters"][0]["cluster"]) == {"server", "certificate-authority-data"}
    assert set(document["users"][0]["user"]) == {"client-certificate-data", "client-key-data"}


def test_processes_inherit_none_of_the_users_other_variables(shared: Cluster) -> None:
    marks = {processes.DIRECTORY_MARK, processes.NAME_MARK, processes.DIGEST_MARK}
    allowed = {*processes.PASSED_ON, *marks, "PYTHONUNBUFFERED"}
    found = processes.find(shared.directory)
    assert found
    for running in found:
        content = Path(f"/proc/{running.pid}/environ").read_text()
        assert {entry.partition("=")[0] for entry in content.split("\0") if entry} <= allowed
