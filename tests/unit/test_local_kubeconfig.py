"""Kubeconfig files: what we write can be read, and what is wrong is said in one sentence."""

from __future__ import annotations

import base64
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.errors import PlatformError
from platformctl.local import kubeconfig
from platformctl.local.kubeconfig import Connection

CONNECTION = Connection(server="https://127.0.0.1:6443", ca="CA\n", client_certificate="CERT\n", client_key="KEY\n")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kubeconfig"


def test_what_is_written_can_be_read(file: Path) -> None:
    kubeconfig.write(file, CONNECTION, context="home-dev", user="admin")
    assert kubeconfig.read(file) == kubeconfig.read(file, "home-dev") == CONNECTION
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_token_and_files_beside_the_kubeconfig_are_read(file: Path) -> None:
    (file.parent / "ca.crt").write_text("FILE CA")
    document: dict[str, Any] = {
        "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1/", "certificate-authority": "ca.crt"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    }
    file.write_text(yaml.safe_dump(document))
    assert kubeconfig.read(file) == Connection(server="https://127.0.0.1:1", ca="FILE CA", token="t")


def test_an_unknown_context_is_named_with_those_that_exist(file: Path) -> None:
    kubeconfig.write(file, CONNECTION, context="home-dev", user="admin")
    with pytest.raises(PlatformError, match=r"no context 'home-prod' \(there is: home-dev\)"):
        kubeconfig.read(file, "home-prod")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "there is no kubeconfig"), ("[", "invalid YAML"), ("text", "a mapping is expected"), ("{}", "no context")],
)
def test_an_unusable_file_is_one_sentence(file: Path, content: str | None, message: str) -> None:
    if content is not None:
        file.write_text(content)
    with pytest.raises(PlatformError, match=message) as caught:
        kubeconfig.read(file)
    assert str(file) in str(caught.value)


def test_a_replaced_kubeconfig_is_never_half_written(file: Path) -> None:
    kubeconfig.write(file, CONNECTION, context="a", user="a")
    with file.open() as reader:
        kubeconfig.write(file, CONNECTION, context="b", user="b")
        assert yaml.safe_load(reader)["current-context"] == "a"
    assert [path.name for path in file.parent.iterdir()] == ["kubeconfig"]


@pytest.mark.parametrize(
    "server", ["https://127.0.0.1:6443", "https://127.8.0.1", "https://[::1]:6443", "https://localhost"]
)
def test_loopback_is_accepted(server: str, file: Path) -> None:
    kubeconfig.require_loopback(Connection(server=server, ca=""), file)


@pytest.mark.parametrize(
    "server",
    [
        "https://10.0.0.1:6443",
        "https://127.0.0.1.example.org",
        "https://localhost.example.org",
        "https://[::]",
        "",
        "x",
    ],
)
def test_anything_else_is_refused(server: str, file: Path) -> None:
    with pytest.raises(PlatformError, match="not on loopback"):
        kubeconfig.require_loopback(Connection(server=server, ca=""), file)


def test_the_client_key_does_not_stay_in_a_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from platformctl.local.certificates import Authority

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    authority = Authority(tmp_path / "pki", "ca")
    client = authority.client("a", "a")
    connection = Connection(
        server="https://127.0.0.1",
        ca=authority.pem,
        client_certificate=client.certificate_pem,
        client_key=client.key_pem,
    )
    assert connection.ssl_context().cert_store_stats()["x509_ca"] == 1
    assert list((tmp_path / "temporary").iterdir()) == []


def test_embedded_data_is_base64(file: Path) -> None:
    kubeconfig.write(file, CONNECTION, context="a", user="a")
    cluster = yaml.safe_load(file.read_text())["clusters"][0]["cluster"]
    assert base64.b64decode(cluster["certificate-authority-data"]) == b"CA\n"
