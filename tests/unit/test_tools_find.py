"""Which tool is used: one on PATH of a fitting version, else our own build; and how that is shown."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from platformctl.tools.catalogue import TOOLS, Fit
from tests.unit.tools_machine import PINS, Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


KUBECTL = PINS["kubectl"]
FITTING_KUBECTL = KUBECTL.rsplit(".", 1)[0] + ".99"


def listed(machine: Machine, *names: str, PLATFORM_TOOLS: str = "") -> dict[str, dict[str, Any]]:  # noqa: N803
    code, output = machine.run("--list", "--json", *names, PLATFORM_TOOLS=PLATFORM_TOOLS)
    assert code == 0, output
    return {row["name"]: row for row in json.loads(output)}


def prints(text: str) -> str:
    return f"#!/bin/sh\necho '{text}'\n"


@pytest.mark.parametrize(
    ("fit", "version", "admitted"),
    [
        (Fit(same=2), (1, 35, 0), True),
        (Fit(same=2), (1, 36, 4), False),
        (Fit(same=2), (1, 34, 9), False),
        (Fit(same=1, floor=(1, 5, 0)), (1, 5, 0), True),
        (Fit(same=1, floor=(1, 5, 0)), (1, 4, 9), False),
        (Fit(same=1, floor=(1, 5, 0)), (2, 0, 0), False),
    ],
)
def test_fit(fit: Fit, version: tuple[int, int, int], admitted: bool) -> None:
    assert fit.admits(version, (1, 35, 4)) is admitted


def test_a_fitting_tool_on_path_is_used_and_not_built(machine: Machine) -> None:
    kubectl = machine.program("kubectl", prints(f"Client Version: v{FITTING_KUBECTL}"))
    code, output = machine.run("kubectl")
    assert code == 0
    assert f"kubectl {FITTING_KUBECTL} PATH {kubectl}" in output
    assert machine.builds() == []


def test_an_older_kubectl_on_path_is_refused_and_named(machine: Machine) -> None:
    kubectl = machine.program("kubectl", prints("Client Version: v1.32.4-dispatcher"))
    code, output = machine.run("kubectl")
    assert code == 0
    assert f"kubectl 1.32.4 at {kubectl} is not used: it does not fit {KUBECTL}" in output
    assert len(machine.builds()) == 1


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 1\n", prints("no version here")])
def test_a_tool_that_tells_no_version_is_refused(machine: Machine, script: str) -> None:
    machine.program("etcd", script)
    row = listed(machine, "etcd")["etcd"]
    assert row["source"] == "missing"
    assert "etcd unknown" in row["refused"]


def test_a_replaced_tool_is_asked_again(machine: Machine) -> None:
    machine.program("kubectl", prints("Client Version: v1.32.4"))
    assert listed(machine, "kubectl")["kubectl"]["source"] == "missing"
    machine.program("kubectl", prints(f"Client Version: v{FITTING_KUBECTL}"))
    assert listed(machine, "kubectl")["kubectl"]["version"] == FITTING_KUBECTL


def test_platform_tools_build_ignores_path(machine: Machine) -> None:
    machine.program("kubectl", prints(f"Client Version: v{KUBECTL}"))
    assert listed(machine, "kubectl", PLATFORM_TOOLS="build")["kubectl"]["source"] == "missing"


def test_an_official_pulumi_brings_its_own_language_host(machine: Machine) -> None:
    machine.program("pulumi", prints("v3.250.0"))
    host = machine.program("pulumi-language-python", prints("official"))
    code, output = machine.run("pulumi", "pulumi-language-python")
    assert code == 0
    assert f"pulumi-language-python 3.250.0 PATH {host}" in output
    assert not (machine.checkout / ".local/bin/pulumi-language-python").exists()


def test_an_official_pulumi_installed_later_takes_over(machine: Machine) -> None:
    assert machine.run("pulumi", "pulumi-language-python")[0] == 0
    links = machine.checkout / ".local/bin"
    assert (links / "pulumi").exists()
    assert (links / "pulumi-language-python").exists()
    machine.program("pulumi", prints("v3.250.0"))
    machine.program("pulumi-language-python", prints("official"))
    assert machine.run("pulumi", "pulumi-language-python")[0] == 0
    assert not (links / "pulumi").exists()
    assert not (links / "pulumi-language-python").exists()


def test_a_pulumi_without_language_host_is_not_used(machine: Machine) -> None:
    machine.program("pulumi", prints("v3.250.0"))
    rows = listed(machine)
    assert rows["pulumi"]["source"] == "missing"
    assert "no pulumi-language-python on PATH" in rows["pulumi"]["refused"]
    assert rows["pulumi-language-python"]["source"] == "stand-in"


@pytest.mark.parametrize("official", [True, False])
def test_downloaded_plugins_serve_an_official_pulumi_only(machine: Machine, official: bool) -> None:
    for version in ("4.9.0", "4.21.4", "3.0.0"):
        plugin = machine.root / f".pulumi/plugins/resource-random-v{version}/pulumi-resource-random"
        plugin.parent.mkdir(parents=True)
        plugin.write_text("#!/bin/sh\n", encoding="utf-8")
        plugin.chmod(0o755)
    if official:
        machine.program("pulumi", prints("v3.250.0"))
        machine.program("pulumi-language-python", prints("official"))
    row = listed(machine, "pulumi-resource-random")["pulumi-resource-random"]
    assert (row["source"], row["version"]) == (("plugin", "4.21.4") if official else ("missing", PINS[row["name"]]))


def test_what_another_checkout_links_is_no_installed_tool(machine: Machine) -> None:
    code, output = machine.run("pulumi", "pulumi-language-python", FAKE_GO_PROGRAM_PRINTS=f"v{PINS['pulumi']}")
    assert code == 0, output
    path = f"{machine.checkout}/.local/bin:{machine.environment['PATH']}"
    code, output = machine.run("--list", "--json", "pulumi", checkout=machine.clone("second"), PATH=path)
    assert code == 0
    assert json.loads(output)[0]["source"] == "built"


def test_list_shows_all_tools_and_builds_none(machine: Machine) -> None:
    rows = listed(machine)
    assert list(rows) == [tool.name for tool in TOOLS]
    assert rows["sops"]["embedded"] is False
    assert rows["pulumi"] == {
        "name": "pulumi",
        "version": PINS["pulumi"],
        "source": "missing",
        "path": None,
        "expected_seconds": 130,
        "embedded": True,
        "refused": None,
    }
    code, output = machine.run("--list")
    assert code == 0
    assert f"etcd {PINS['etcd']} missing a build takes about 50 s" in output
    assert machine.builds() == []


def test_without_names_the_embedded_tier_is_obtained(machine: Machine) -> None:
    embeds = machine.root / "module/cmd/pulumi-resource-kubernetes"
    embeds.mkdir(parents=True)
    for name in ("schema.json", "terraform-mapping.json"):
        (embeds / name).write_text("{}", encoding="utf-8")
    code, output = machine.run()
    assert code == 0, output
    missing = {name for name, row in listed(machine).items() if row["source"] == "missing"}
    assert missing == {tool.name for tool in TOOLS if not tool.embedded}
    assert "8 to build from pinned Go modules, usually 13 min in all" in output


def test_an_unknown_name_is_answered_with_the_known_ones(machine: Machine) -> None:
    code, output = machine.run("kubelet")
    assert code == 1
    assert "'kubelet' is not one of the tools: actionlint, " in output


def test_links_serve_a_shell(machine: Machine) -> None:
    assert machine.run("etcd", "pulumi", "pulumi-language-python")[0] == 0
    links = machine.checkout / ".local/bin"
    (etcd,) = machine.finished("etcd")
    assert (links / "etcd").resolve() == etcd
    assert os.access(links / "pulumi-language-python", os.X_OK)
    # Otherwise pulumi warns at each run: the language host has to lie beside its executable.
    assert (links / "pulumi").resolve().parent == links.resolve()
