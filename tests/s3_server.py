"""An S3 as a household has it: moto's, behind a door that is as strict as MinIO, Garage or Ceph are.

moto itself takes any key, any region and any path; this door refuses what those would refuse.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote

import boto3
import httpx
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
RESET = "/moto-api/reset"
_SCOPE = re.compile(r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/\d+/(?P<region>[^/]+)/s3/aws4_request, .*")


@dataclass(frozen=True, kw_only=True)
class Account:
    """What the store knows: one key pair, which may use one prefix of one bucket in one region."""

    access_key: str
    secret_key: str
    region: str
    bucket: str
    prefix: str


@dataclass(kw_only=True)
class Store:
    """A running server; `requests` are the method and path of each request that was let in."""

    account: Account
    requests: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def __post_init__(self) -> None:
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self._create_bucket()

    @property
    def url(self) -> str:
        """http, since a certificate would prove nothing here."""
        return f"http://{self.host}"

    @property
    def host(self) -> str:
        """A name and the port: at a bare address every client falls back to path style by itself."""
        return f"localhost:{self._server.server_port}"

    def close(self) -> None:
        """Ends the server and forgets its content, which moto keeps for the whole process."""
        httpx.post(f"{self.url}{RESET}").raise_for_status()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)

    def _create_bucket(self) -> None:
        """By the store's administrator, past the door."""
        region = self.account.region
        options = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        client = boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name=region,
            aws_access_key_id="administrator",
            aws_secret_access_key="administrator",
            config=Config(s3={"addressing_style": "path"}),
        )
        client.create_bucket(Bucket=self.account.bucket, **options)

    def _answer(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        refusal = None if _is_administrator(environ) else self._refusal(environ)
        if refusal is None:
            self.requests.append((environ["REQUEST_METHOD"], environ["PATH_INFO"]))
            return self._moto(environ, start_response)
        status, code, message = refusal
        body = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()
        start_response(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        return [body]

    def _refusal(self, environ: Environ) -> tuple[str, str, str] | None:
        account, scope = self.account, _SCOPE.fullmatch(_header(environ, "Authorization"))
        if scope is None:
            return "403 Forbidden", "AccessDenied", "the request is not signed"
        if scope["key"] != account.access_key:
            return "403 Forbidden", "InvalidAccessKeyId", f"there is no key {scope['key']}"
        if scope["region"] != account.region:
            return "400 Bad Request", "AuthorizationHeaderMalformed", f"the region is {account.region}"
        if not _header(environ, "Authorization").endswith(f"Signature={self._signature(environ)}"):
            return "403 Forbidden", "SignatureDoesNotMatch", "another secret key"
        if checksums := _checksums(environ):
            return "501 Not Implemented", "NotImplemented", f"unknown headers {checksums}"
        if not self._is_allowed(environ):
            return "403 Forbidden", "AccessDenied", f"outside {account.bucket}/{account.prefix}"
        return None

    def _is_allowed(self, environ: Environ) -> bool:
        """Objects below the prefix by path, and lists of what is below it."""
        bucket, _, key = environ["PATH_INFO"].removeprefix("/").partition("/")
        asked = key or "".join(parse_qs(environ["QUERY_STRING"]).get("prefix", []))
        return bucket == self.account.bucket and asked.startswith(f"{self.account.prefix}/")

    def _signature(self, environ: Environ) -> str:
        """What the client must have computed with the right secret key."""
        signed = re.search(r"SignedHeaders=([^,]+)", _header(environ, "Authorization"))
        names = signed[1].split(";") if signed else []
        request = AWSRequest(
            method=environ["REQUEST_METHOD"],
            url=f"{self.url}{quote(environ['PATH_INFO'])}?{environ['QUERY_STRING']}",
            headers={name: _header(environ, name) for name in names},
        )
        request.context["timestamp"] = _header(environ, "X-Amz-Date")
        credentials = Credentials(self.account.access_key, self.account.secret_key)
        signer = S3SigV4Auth(credentials, "s3", self.account.region)
        return str(signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request))


def _is_administrator(environ: Environ) -> bool:
    return environ["PATH_INFO"] == RESET or "Credential=administrator/" in _header(environ, "Authorization")


def _header(environ: Environ, name: str) -> str:
    key = name.upper().replace("-", "_")
    return environ.get(f"HTTP_{key}") or environ.get(key) or ""


def _checksums(environ: Environ) -> list[str]:
    """The headers that only AWS itself understands."""
    marks = ("HTTP_X_AMZ_CHECKSUM", "HTTP_X_AMZ_SDK_CHECKSUM", "HTTP_X_AMZ_TRAILER")
    return sorted(name for name in environ if name.startswith(marks))
