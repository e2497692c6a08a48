"""What `up` says at its end about each watched object."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from platformctl import console
from platformctl.deploy import summary


class Stub:
    """The API server's answers, and as much of a deployment as the summary reads."""

    kubeconfig = logs = "file"
    directory = Path("/state")

    def __init__(self, kind: str, status: dict[str, Any]) -> None:
        self.objects = {kind: [{"metadata": {"name": "home", "namespace": "gateway"}, "status": status}]}
        self.engine = self.cluster = self.layout = self

    def list(self, _: str, kind: str) -> list[dict[str, Any]]:
        return self.objects.get(kind, [])


def shown(kind: str, status: dict[str, Any]) -> str:
    stub: Any = Stub(kind, status)
    with console.out.capture() as capture:
        summary.show(stub, stub)
    (line,) = (line for line in capture.get().splitlines() if line.startswith(kind))
    return " ".join(line.split())


@pytest.mark.parametrize(
    ("status", "words"),
    [("True", "yes (simulated)"), ("False", "no, AddressNotAssigned (simulated)")],
)
def test_a_gateway_shows_its_address_and_whether_it_is_programmed(status: str, words: str) -> None:
    conditions = [
        {"type": "Accepted", "status": "True", "message": ""},
        {"type": "Programmed", "status": status, "reason": "AddressNotAssigned", "message": "simulated: nothing"},
    ]
    found = {"conditions": conditions, "addresses": [{"value": "192.168.10.200"}]}
    assert shown("Gateway", found) == f"Gateway gateway/home 192.168.10.200 {words}"


def test_a_release_shows_its_version() -> None:
    ready = {"type": "Ready", "status": "True", "message": ""}
    found = {"conditions": [ready], "history": [{"chartVersion": "1.20.1"}]}
    assert shown("HelmRelease", found) == "HelmRelease gateway/home 1.20.1 yes"


@pytest.mark.parametrize(
    ("kind", "key", "version"),
    [("KubeVirt", "observedKubeVirtVersion", "v1.9.0"), ("CDI", "observedVersion", "v1.66.1")],
)
def test_virtualization_shows_its_version_and_whether_it_is_available(kind: str, key: str, version: str) -> None:
    conditions = [{"type": "Progressing", "status": "False"}, {"type": "Available", "status": "True", "message": ""}]
    found = {"conditions": conditions, key: version}
    assert shown(kind, found) == f"{kind} gateway/home {version} yes"
