"""`platformctl local` without a cluster: exit codes, refusals, and a cheap start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from components.errors import PlatformError
from platformctl.local.cli import app

HEAVY = ("httpx", "cryptography", "filelock", "yaml", "pulumi")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLATFORM_STATE_DIR", str(tmp_path))
    return tmp_path


def run(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(app, list(arguments), input=stdin)


def test_importing_the_commands_is_cheap() -> None:
    code = f"import sys, platformctl.local.cli; print([name for name in {HEAVY!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.strip() == "[]"


def test_status_of_nothing_is_exit_code_3() -> None:
    result = run("status", "--json")
    assert result.exit_code == 3
    found = json.loads(result.stdout)
    assert (found["name"], found["running"], found["version"]) == ("dev", False, None)
    assert {"etcd", "kube-apiserver", "kube-controller-manager", "kwok"} <= {p["name"] for p in found["processes"]}
    assert all(process["pid"] is None for process in found["processes"])


def test_status_changes_nothing(state: Path) -> None:
    assert run("status").exit_code == 3
    assert list(state.iterdir()) == []


def test_down_of_nothing_succeeds() -> None:
    assert run("down").exit_code == 0


def test_kubeconfig_before_the_first_up_says_what_to_do() -> None:
    result = run("kubeconfig", "--name", "scratch")
    assert isinstance(result.exception, PlatformError)
    assert "platformctl local up --name scratch" in str(result.exception)


def test_kubeconfig_prints_path_or_content(state: Path) -> None:
    (state / "dev").mkdir()
    (state / "dev" / "kubeconfig").write_text("kind: Config\n")
    assert run("kubeconfig").stdout == f"{state}/dev/kubeconfig\n"
    assert run("kubeconfig", "--print").stdout.strip() == "kind: Config"


def test_reset_asks_first(state: Path) -> None:
    (state / "dev" / "cluster").mkdir(parents=True)
    for answer in ("n\n", ""):
        assert run("reset", stdin=answer).exit_code == 1
        assert (state / "dev").exists()
    assert run("reset", stdin="y\n").exit_code == 0
    assert not (state / "dev").exists()


def test_reset_without_asking_leaves_other_clusters_alone(state: Path) -> None:
    for name in ("dev", "other"):
        (state / name / "cluster").mkdir(parents=True)
    assert run("reset", "--yes").exit_code == 0
    assert not (state / "dev").exists()
    assert (state / "other" / "cluster").exists()


@pytest.mark.parametrize("name", ["..", "a/b", "", "Upper", "-a", "a" * 41, "bin", "render"])
@pytest.mark.parametrize("command", ["status", "down", "reset", "kubeconfig", "up"])
def test_a_name_that_could_leave_the_directory_or_is_taken_is_refused(command: str, name: str) -> None:
    result = run(command, f"--name={name}", *(["--yes"] if command == "reset" else []))
    assert isinstance(result.exception, PlatformError)
    assert "--name" in str(result.exception)


@pytest.mark.parametrize("gate", ["ImageVolume", "ImageVolume=yes", "=true"])
def test_a_malformed_feature_gate_is_refused(gate: str) -> None:
    result = run("up", "--feature-gate", gate)
    assert isinstance(result.exception, PlatformError)
    assert "GATE=true" in str(result.exception)


@pytest.mark.parametrize("command", ["up", "down", "status", "reset", "kubeconfig"])
def test_every_command_explains_itself(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "--name" in result.stdout
