"""A real oauth2-proxy on loopback ports, as its chart would start it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookies import Morsel, SimpleCookie
from pathlib import Path

import httpx

from platformctl.local.ports import is_free
from platformctl.render.recorder import Recording
from tests.graph import resource

COOKIE_SECRET = "0123456789abcdefghijABCDEFGHIJ01"
CLIENT_SECRET = "a-client-secret"
START_SECONDS = 10
HTTP = httpx.Client(timeout=60)


@dataclass(frozen=True, kw_only=True)
class Release:
    """What the chart makes a pod of: configuration file, further arguments, and the variables from the Secret."""

    config: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]

    @classmethod
    def rendered(cls, recording: Recording, label: str) -> Release:
        values = resource(recording, "HelmRelease", f"oauth2-proxy-{label}").inputs["spec"]["values"]
        secret = resource(recording, "Secret", values["config"]["existingSecret"])
        assert secret.inputs["stringData"].keys() == {"client-id", "client-secret", "cookie-secret"}
        return cls(
            config=values["config"]["configFile"],
            arguments=tuple(f"--{key}={value}" for key, value in values.get("extraArgs", {}).items()),
            environment={
                "OAUTH2_PROXY_CLIENT_ID": label,
                "OAUTH2_PROXY_CLIENT_SECRET": CLIENT_SECRET,
                "OAUTH2_PROXY_COOKIE_SECRET": COOKIE_SECRET,
            },
        )

    def entry(self, key: str) -> str:
        """The text of a string in the configuration."""
        (found,) = (line for line in self.config.splitlines() if line.startswith(f"{key} = "))
        return found.partition(" = ")[2].strip('"')

    def moved(self, addresses: Mapping[str, str], **entries: str) -> Release:
        """With other addresses, each of which must occur, and entries replaced."""
        text = self.config
        for old, new in addresses.items():
            assert old in text
            text = text.replace(old, new)
        for key, value in entries.items():
            old = self.entry(key)
            text = text.replace(f'{key} = "{old}"', f'{key} = "{value}"')
        return Release(config=text, arguments=self.arguments, environment=self.environment)


def morsels(response: httpx.Response) -> list[Morsel[str]]:
    cookies: SimpleCookie = SimpleCookie()
    for header in response.headers.get_list("Set-Cookie"):
        cookies.load(header)
    return list(cookies.values())


def sent_back(response: httpx.Response) -> str:
    """The Cookie header of the next request."""
    return "; ".join(f"{morsel.key}={morsel.coded_value}" for morsel in morsels(response) if morsel.value)


@contextmanager
def running(binary: Path, release: Release, directory: Path) -> Generator[tuple[str, str]]:
    """The process with the arguments that the chart gives it; the addresses of its two servers."""
    config = directory / "oauth2_proxy.cfg"
    config.write_text(release.config)
    port, metrics_port = free_ports(2)
    log = directory / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [
                binary,
                f"--http-address=127.0.0.1:{port}",
                f"--metrics-address=127.0.0.1:{metrics_port}",
                *release.arguments,
                f"--config={config}",
            ],
            env={**os.environ, **release.environment},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for_answer(f"http://127.0.0.1:{port}/ping", process, log)
        yield f"http://127.0.0.1:{port}", f"http://127.0.0.1:{metrics_port}"
    finally:
        process.terminate()
        process.wait(timeout=10)


def free_ports(count: int) -> list[int]:
    return [port for port in range(24180, 24980) if is_free(port)][:count]


def wait_for_answer(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text()
        try:
            HTTP.get(url)
        except httpx.ConnectError:
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"no answer within {START_SECONDS} s: {log.read_text()}")
