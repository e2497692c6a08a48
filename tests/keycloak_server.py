"""A real Keycloak of the pinned version on loopback ports, started as in the Deployment, its data in memory."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from filelock import FileLock

from components.keycloak.server import ADMIN_CLIENT, server_options
from components.realm import REALM, sso_host
from components.versions import KEYCLOAK
from platformctl.paths import cache_dir

ARTIFACT = f"org.keycloak:keycloak-quarkus-dist:{KEYCLOAK}:zip"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
DOWNLOAD_SECONDS = 400
START_SECONDS = 400
DOMAIN = "home.example.org"


@dataclass(frozen=True, kw_only=True)
class KeycloakServer:
    """`url` is what pods would use; people come through `gateway`. `home` holds bin/kcadm.sh."""

    home: Path
    url: str
    admin_secret: str

    def admin(self) -> httpx.Client:
        """The admin API of the realm, as a client of the realm master that may do everything."""
        token = httpx.post(
            f"{self.url}/realms/master/protocol/openid-connect/token",
            data={"grant_type": "client_credentials"},
            auth=(ADMIN_CLIENT, self.admin_secret),
            timeout=60,
        ).raise_for_status()
        headers = {"Authorization": f"Bearer {token.json()['access_token']}"}
        return httpx.Client(base_url=f"{self.url}/admin/realms/{REALM}", headers=headers, timeout=60)

    def gateway(self) -> httpx.Client:
        """A browser in front of the gateway: HTTPS to the public host, which arrives here as forwarded HTTP."""
        return httpx.Client(
            base_url=f"https://{sso_host(DOMAIN)}", transport=_ForwardingTransport(self.url), timeout=60
        )


class _ForwardingTransport(httpx.HTTPTransport):
    def __init__(self, url: str) -> None:
        super().__init__()
        self._target = httpx.URL(url)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        headers = httpx.Headers(request.headers)
        headers.update({"X-Forwarded-Proto": "https", "X-Forwarded-Host": request.url.host, "X-Forwarded-Port": "443"})
        url = request.url.copy_with(scheme="http", host=self._target.host, port=self._target.port)
        forwarded = httpx.Request(request.method, url, headers=headers, stream=request.stream)
        return super().handle_request(forwarded)


def distribution() -> Path:
    """The unpacked distribution in the cache, from Maven on first use. Skips where something it needs is missing."""
    missing = [program for program in ("bash", "java", "mvn") if not shutil.which(program)]
    if missing:
        pytest.skip(f"a real Keycloak needs {' and '.join(missing)} on PATH")
    directory = cache_dir() / "keycloak"
    home = directory / f"keycloak-{KEYCLOAK}"
    directory.mkdir(parents=True, exist_ok=True)
    with FileLock(directory / ".lock"):
        if not (home / "bin" / "kc.sh").exists():
            _unpack(_download(directory), home)
    return home


def _download(directory: Path) -> Path:
    command = ["mvn", "--batch-mode", "--quiet", COPY, f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={directory}"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"{ARTIFACT} could not be had from Maven: {str(error.stdout)[-300:]}")
    return directory / f"keycloak-quarkus-dist-{KEYCLOAK}.zip"


def _unpack(archive: Path, home: Path) -> None:
    staging = home.with_suffix(".new")
    shutil.rmtree(staging, ignore_errors=True)
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(staging)
    for script in (staging / home.name / "bin").glob("*.sh"):
        script.chmod(0o755)
    (staging / home.name).rename(home)
    staging.rmdir()
    archive.unlink()


@contextmanager
def running(home: Path, log: Path) -> Generator[KeycloakServer]:
    """Starts the server with the options of the Deployment and ends it afterwards."""
    port, management, admin_secret = _free_port(), _free_port(), secrets.token_hex(16)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("KC_")},
        **server_options(DOMAIN),
        "KC_DB": "dev-mem",
        "KC_CACHE": "local",
        "KC_HTTP_HOST": "127.0.0.1",
        "KC_HTTP_PORT": str(port),
        "KC_HTTP_MANAGEMENT_HOST": "127.0.0.1",
        "KC_HTTP_MANAGEMENT_PORT": str(management),
        "KC_BOOTSTRAP_ADMIN_CLIENT_ID": ADMIN_CLIENT,
        "KC_BOOTSTRAP_ADMIN_CLIENT_SECRET": admin_secret,
    }
    # The first start of a distribution builds it in place; two of them must not do that at once.
    with FileLock(home.parent / ".lock"), log.open("wb") as output:
        command = [home / "bin" / "kc.sh", "start"]
        process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            _wait(process, f"http://127.0.0.1:{management}/health/ready", log)
        except BaseException:
            _end(process)
            raise
    try:
        yield KeycloakServer(home=home, url=f"http://127.0.0.1:{port}", admin_secret=admin_secret)
    finally:
        _end(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(process: subprocess.Popen[Any], ready: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            if httpx.get(ready, timeout=5).is_success:
                return
        except httpx.HTTPError:
            pass
        time.sleep(1)
    raise AssertionError(f"Keycloak {KEYCLOAK} did not become ready in {START_SECONDS} s:\n{log.read_text()[-3000:]}")


def _end(process: subprocess.Popen[Any]) -> None:
    """The whole session of processes: kc.sh may still wait for the build."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=20)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait(timeout=20)
