"""Certificates of the embedded cluster, judged by an independent verifier."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from platformctl.local import certificates
from platformctl.local.certificates import Authority, KeyPair, service_account_keys


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "pki", "ca")


def certificate(files: KeyPair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(files.certificate.read_bytes())


def policy(authority: Authority) -> PolicyBuilder:
    return PolicyBuilder().store(Store([certificate(authority.files)])).time(datetime.now(UTC))


@pytest.mark.parametrize("name", ["localhost", "kubernetes.default.svc"])
def test_a_serving_certificate_is_good_for_its_names(authority: Authority, name: str) -> None:
    leaf = certificate(authority.server("apiserver"))
    policy(authority).build_server_verifier(x509.DNSName(name)).verify(leaf, [])


def test_a_serving_certificate_is_for_loopback_alone(authority: Authority) -> None:
    names = certificate(authority.server("apiserver")).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    addresses = names.value.get_values_for_type(x509.IPAddress)
    assert addresses
    assert all(address.is_loopback for address in addresses if not isinstance(address, str))


def test_a_client_certificate_names_user_and_group_and_cannot_serve(authority: Authority) -> None:
    leaf = certificate(authority.client("admin", "admin", "system:masters"))
    subject = {attribute.oid: attribute.value for attribute in leaf.subject}
    assert subject == {NameOID.COMMON_NAME: "admin", NameOID.ORGANIZATION_NAME: "system:masters"}
    usage = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_another_authority_is_not_trusted(authority: Authority, tmp_path: Path) -> None:
    other = Authority(tmp_path / "other", "ca")
    with pytest.raises(VerificationError):
        policy(authority).build_server_verifier(x509.DNSName("localhost")).verify(
            certificate(other.server("apiserver")), []
        )


def test_what_exists_is_kept(authority: Authority, tmp_path: Path) -> None:
    before = authority.server("apiserver").certificate_pem
    again = Authority(tmp_path / "pki", "ca")
    assert again.pem == authority.pem
    assert again.server("apiserver").certificate_pem == before


def test_a_leaf_that_ends_soon_is_renewed(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "LEAF_VALIDITY", timedelta(days=29))
    old = certificate(authority.server("apiserver"))
    monkeypatch.undo()
    new = certificate(authority.server("apiserver"))
    assert new.serial_number != old.serial_number
    assert new.not_valid_after_utc > datetime.now(UTC) + timedelta(days=300)


def test_leaves_of_a_lost_authority_are_replaced(authority: Authority, tmp_path: Path) -> None:
    old = authority.server("apiserver").certificate_pem
    authority.files.certificate.unlink()
    fresh = Authority(tmp_path / "pki", "ca")
    new = fresh.server("apiserver")
    assert new.certificate_pem != old
    policy(fresh).build_server_verifier(x509.DNSName("localhost")).verify(certificate(new), [])


def test_a_key_of_an_interrupted_renewal_is_noticed(authority: Authority) -> None:
    leaf = authority.server("apiserver")
    leaf.key.write_text(authority.client("other", "other").key_pem)
    renewed = authority.server("apiserver")
    key = load_pem_private_key(renewed.key.read_bytes(), password=None)
    assert certificate(renewed).public_key() == key.public_key()


def test_service_account_keys_belong_together_and_are_kept(tmp_path: Path) -> None:
    files = service_account_keys(tmp_path)
    key = load_pem_private_key(files.key.read_bytes(), password=None)
    assert key.public_key() == load_pem_public_key(files.certificate.read_bytes())
    before = files.key_pem
    assert service_account_keys(tmp_path).key_pem == before


def test_only_the_owner_may_read_keys(authority: Authority, tmp_path: Path) -> None:
    authority.server("apiserver")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "pki").iterdir()}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((tmp_path / "pki").stat().st_mode) == 0o700
