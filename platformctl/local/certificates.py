"""The embedded cluster's own certificate authorities and what they issue; EC P-256 keys, mode 0600."""

from __future__ import annotations

import contextlib
import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from platformctl.local.files import private_directory, write_private

AUTHORITY_VALIDITY = timedelta(days=3650)
LEAF_VALIDITY = timedelta(days=365)
RENEW_BEFORE = timedelta(days=30)
CLOCK_SKEW = timedelta(hours=1)
SERVING_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


@dataclass(frozen=True, kw_only=True)
class KeyPair:
    """A certificate (or public key) and its private key as PEM files."""

    certificate: Path
    key: Path

    @property
    def certificate_pem(self) -> str:
        """The certificate's text."""
        return self.certificate.read_text(encoding="ascii")

    @property
    def key_pem(self) -> str:
        """The private key's text (PKCS #8)."""
        return self.key.read_text(encoding="ascii")


class Authority:
    """One CA below a directory: made on first use and kept; leaves are renewed 30 days before they end."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = private_directory(directory)
        self.files = _files(directory, name)
        if not _valid(self.files, issuer=None):
            key = _new_key(self.files)
            subject = _subject(f"embedded cluster {name}")
            _issue(self.files, _builder(subject, subject, key, AUTHORITY_VALIDITY), key, ca=True)
        self._key = _load_key(self.files)
        self._certificate = _load_certificate(self.files)

    @property
    def pem(self) -> str:
        """The CA certificate that clients trust."""
        return self.files.certificate_pem

    def server(self, name: str) -> KeyPair:
        """A serving certificate for loopback; also good as a client, which etcd's peers need."""
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        return self._leaf(name, _subject(name), usages, serving=True)

    def client(self, name: str, user: str, group: str | None = None) -> KeyPair:
        """A client certificate: Kubernetes reads CN as the user and O as the group."""
        return self._leaf(name, _subject(user, group), [ExtendedKeyUsageOID.CLIENT_AUTH], serving=False)

    def _leaf(self, name: str, subject: x509.Name, usages: list[x509.ObjectIdentifier], *, serving: bool) -> KeyPair:
        files = _files(self._directory, name)
        if _valid(files, issuer=self._certificate):
            return files
        key = _new_key(files)
        builder = _builder(subject, self._certificate.subject, key, LEAF_VALIDITY)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        if serving:
            builder = builder.add_extension(_loopback_names(), critical=False)
        _issue(files, builder, self._key, ca=False)
        return files


def service_account_keys(directory: Path) -> KeyPair:
    """The key pair that signs service-account tokens; `certificate` holds the bare public key."""
    files = KeyPair(certificate=directory / "service-account.pub", key=directory / "service-account.key")
    if not (files.key.exists() and files.certificate.exists()):
        private_directory(directory)
        public = _new_key(files).public_key()
        encoding, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        write_private(files.certificate, public.public_bytes(encoding, form))
    return files


def _files(directory: Path, name: str) -> KeyPair:
    return KeyPair(certificate=directory / f"{name}.crt", key=directory / f"{name}.key")


def _subject(common_name: str, organization: str | None = None) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organization:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(attributes)


def _loopback_names() -> x509.SubjectAlternativeName:
    addresses = [x509.IPAddress(ipaddress.ip_address(address)) for address in ("127.0.0.1", "::1")]
    return x509.SubjectAlternativeName([*(x509.DNSName(name) for name in SERVING_NAMES), *addresses])


def _new_key(files: KeyPair) -> ec.EllipticCurvePrivateKey:
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    write_private(files.key, pem)
    return key


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, validity: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + validity)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _issue(files: KeyPair, builder: x509.CertificateBuilder, signer: ec.EllipticCurvePrivateKey, *, ca: bool) -> None:
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=ca,
        crl_sign=ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    certificate = (
        builder.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(authority, critical=False)
        .sign(signer, hashes.SHA256())
    )
    write_private(files.certificate, certificate.public_bytes(serialization.Encoding.PEM))


def _valid(files: KeyPair, issuer: x509.Certificate | None) -> bool:
    """Whether key and certificate exist, belong together, come from the issuer (None: itself) and last a while."""
    with contextlib.suppress(FileNotFoundError, ValueError, TypeError, InvalidSignature):
        certificate = _load_certificate(files)
        certificate.verify_directly_issued_by(issuer or certificate)
        lasting = certificate.not_valid_after_utc - RENEW_BEFORE > datetime.now(UTC)
        return lasting and certificate.public_key() == _load_key(files).public_key()
    return False


def _load_certificate(files: KeyPair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(files.certificate.read_bytes())


def _load_key(files: KeyPair) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(files.key.read_bytes(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{files.key}: an EC key is expected")
    return key
