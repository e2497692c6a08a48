"""A realm that issues tokens as Keycloak does, and a protected service that remembers who reached it; on loopback."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

KEY_ID = "test"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A response: its status and a JSON body."""

    status: int
    body: Any


@dataclass(kw_only=True)
class FakeRealm:
    """Tokens for one client, which must authenticate and prove its code challenge.

    scopes: those that the realm knows; it refuses a request for any other, as Keycloak does.
    groups: of the person who signs in; they may change while the person is signed in.
    """

    issuer: str
    client_id: str
    client_secret: str
    scopes: Collection[str]
    groups: list[str]
    _codes: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    _key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def sign_in(self, request: Mapping[str, str]) -> str:
        """What the login page does once a person has given the password: a code, or the error, as a query string."""
        if unknown := set(request["scope"].split()) - set(self.scopes):
            return urlencode({"error": "invalid_scope", "error_description": str(unknown), "state": request["state"]})
        code = secrets.token_urlsafe(16)
        self._codes[code] = request
        return urlencode({"code": code, "state": request["state"]})

    def answer(self, path: str, form: Mapping[str, str], authorization: str) -> Answer:
        """The endpoints that a client calls itself."""
        if path.endswith("/protocol/openid-connect/certs"):
            return Answer(status=200, body={"keys": [self._public_key()]})
        if path.endswith("/protocol/openid-connect/token"):
            return self._token(form, authorization)
        return Answer(status=404, body={})

    def _token(self, form: Mapping[str, str], authorization: str) -> Answer:
        given = (form.get("client_id"), form.get("client_secret"))
        if authorization.startswith("Basic "):
            given = tuple(base64.b64decode(authorization.removeprefix("Basic ")).decode().split(":", 1))
        if given != (self.client_id, self.client_secret):
            return Answer(status=401, body={"error": "unauthorized_client"})
        if form["grant_type"] == "refresh_token":
            return Answer(status=200, body=self._tokens(nonce=None))
        request = self._codes.pop(form["code"], None)
        if request is None or form["redirect_uri"] != request["redirect_uri"]:
            return Answer(status=400, body={"error": "invalid_grant"})
        if challenge(form.get("code_verifier", "")) != request["code_challenge"]:
            return Answer(status=400, body={"error": "invalid_grant", "error_description": "PKCE"})
        return Answer(status=200, body=self._tokens(nonce=request["nonce"]))

    def _tokens(self, *, nonce: str | None) -> dict[str, Any]:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": "3f2a",
            "aud": self.client_id,
            "iat": now,
            "exp": now + 300,
            "preferred_username": "ada",
            "groups": self.groups,
        }
        token = self._signed({**claims, **({"nonce": nonce} if nonce else {})})
        return {
            "access_token": token,
            "id_token": token,
            "refresh_token": "r",
            "token_type": "Bearer",
            "expires_in": 300,
        }

    def _signed(self, claims: Mapping[str, Any]) -> str:
        head = {"alg": "RS256", "typ": "JWT", "kid": KEY_ID}
        text = ".".join(_base64(json.dumps(part).encode()) for part in (head, claims))
        signature = self._key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{text}.{_base64(signature)}"

    def _public_key(self) -> dict[str, str]:
        numbers = self._key.public_key().public_numbers()
        modulus = numbers.n.to_bytes(256, "big")
        exponent = numbers.e.to_bytes(3, "big")
        return {
            "kid": KEY_ID,
            "kty": "RSA",
            "alg": "RS256",
            "use": "sig",
            "n": _base64(modulus),
            "e": _base64(exponent),
        }


@dataclass(kw_only=True)
class Protected:
    """A service behind the proxy: `requests` are the path and headers of everything that reached it."""

    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list[tuple[str, dict[str, str]]])

    @property
    def paths(self) -> list[str]:
        """The paths that were asked for."""
        return [path for path, _ in self.requests]


def challenge(verifier: str) -> str:
    """The S256 code challenge of a verifier."""
    return _base64(hashlib.sha256(verifier.encode()).digest())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class _Quiet(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the output of a test is no place for access logs."""

    def _send(self, answer: Answer) -> None:
        body = json.dumps(answer.body).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _form(self) -> dict[str, str]:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return {key: values[0] for key, values in parse_qs(raw.decode()).items()}


@contextmanager
def serve_realm(realm: FakeRealm) -> Generator[str]:
    """The realm's server as `http://127.0.0.1:port`."""

    class Handler(_Quiet):
        def _respond(self) -> None:
            self._send(realm.answer(self.path, self._form(), self.headers.get("Authorization", "")))

        do_GET = do_POST = _respond  # noqa: N815 - names of the base class

    with _serving(Handler) as address:
        yield address


@contextmanager
def serve_protected(protected: Protected) -> Generator[str]:
    """The protected service as `http://127.0.0.1:port`."""

    class Handler(_Quiet):
        def _respond(self) -> None:
            self._form()
            protected.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            self._send(Answer(status=200, body="inside"))

        do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_HEAD = _respond  # noqa: N815

    with _serving(Handler) as address:
        yield address


@contextmanager
def _serving(handler: type[BaseHTTPRequestHandler]) -> Generator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
