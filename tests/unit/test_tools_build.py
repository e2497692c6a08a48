"""Building tools: once, whole or not at all, one run at a time, with sentences where it cannot be done."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.unit.tools_machine import PINS, Machine, wait_until


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_tool_is_built_once_and_found_from_every_checkout(machine: Machine) -> None:
    code, output = machine.run("etcd")
    assert code == 0, output
    assert f"[1/1] etcd {PINS['etcd']}: building, usually 50 s" in output
    (built,) = machine.finished("etcd")
    assert subprocess.run([built], capture_output=True, text=True, check=True).stdout == "complete\n"

    code, output = machine.run("etcd", checkout=machine.clone("second"))
    assert code == 0
    assert str(built) in output
    assert len(machine.builds()) == 1


def test_a_warm_run_asks_neither_go_nor_the_tools(machine: Machine) -> None:
    asked = machine.root / "asked"
    machine.program("kwok", f'#!/bin/sh\necho x >> {asked}\necho "kwok version v{PINS["kwok"]} go1.26"\n')
    assert machine.run("etcd", "kwok")[0] == 0
    before = machine.calls.read_text(encoding="utf-8")
    assert machine.run("etcd", "kwok")[0] == 0
    assert machine.calls.read_text(encoding="utf-8") == before
    assert asked.read_text(encoding="utf-8") == "x\n"


def test_the_build_leaves_the_checkout_as_it_was(machine: Machine) -> None:
    embeds = machine.root / "module/cmd/pulumi-resource-kubernetes"
    embeds.mkdir(parents=True)
    for name in ("schema.json", "terraform-mapping.json"):
        (embeds / name).write_text("{}", encoding="utf-8")
    before = sorted((machine.checkout / "tools").rglob("*"))
    code, output = machine.run("pulumi-resource-kubernetes", "pulumi-resource-random")
    assert code == 0, output
    assert sorted((machine.checkout / "tools").rglob("*")) == before
    assert list((machine.cache / "home-platform/tools/work").iterdir()) == []


def test_a_module_without_its_embedded_files_is_a_sentence(machine: Machine) -> None:
    code, output = machine.run("pulumi-resource-kubernetes")
    assert code == 1
    assert "carries no cmd/pulumi-resource-kubernetes/schema.json" in output
    assert "Traceback" not in output


@pytest.mark.parametrize("file", ["go.mod", "go.sum", "main.go"])
def test_a_changed_pin_is_built_anew(machine: Machine, file: str) -> None:
    assert machine.run("etcd")[0] == 0
    source = machine.checkout / "tools/etcd" / file
    source.write_text(source.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert machine.run("etcd")[0] == 0
    assert len(machine.finished("etcd")) == 2


def test_what_builds_write_beside_the_sources_changes_nothing(machine: Machine) -> None:
    assert machine.run("etcd")[0] == 0
    (machine.checkout / "tools/etcd/schema.json").write_text("{}", encoding="utf-8")
    assert machine.run("etcd")[0] == 0
    assert len(machine.builds()) == 1


def test_the_version_comes_from_go_mod(machine: Machine) -> None:
    module = machine.checkout / "tools/kwok/go.mod"
    text = module.read_text(encoding="utf-8")
    pin = f"sigs.k8s.io/kwok v{PINS['kwok']}"
    assert pin in text
    module.write_text(text.replace(pin, "sigs.k8s.io/kwok v0.99.1"), encoding="utf-8")
    assert "kwok 0.99.1" in machine.run("--list", "kwok")[1]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_stopped_build_leaves_nothing_that_looks_finished(machine: Machine, number: signal.Signals) -> None:
    hold = machine.root / "hold"
    process = machine.start("etcd", FAKE_GO_HOLD=str(hold))
    wait_until(lambda: Path(f"{hold}.reached").exists())
    os.kill(process.pid, number)
    code = process.wait(timeout=20)
    assert code == (130 if number != signal.SIGKILL else -signal.SIGKILL)
    hold.touch()
    assert machine.finished("etcd") == []

    code, output = machine.run("etcd")
    assert code == 0, output
    assert len(machine.finished("etcd")) == 1


def test_an_interrupted_build_ends_its_go(machine: Machine) -> None:
    hold = machine.root / "hold"
    process = machine.start("etcd", FAKE_GO_HOLD=str(hold))
    wait_until(lambda: Path(f"{hold}.reached").exists())
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=20)
    assert "failed after" in output
    assert "Traceback" not in output
    assert list((machine.cache / "home-platform/tools/work").iterdir()) == []


def test_a_second_run_waits_and_says_for_whom(machine: Machine) -> None:
    hold = machine.root / "hold"
    first = machine.start("etcd", FAKE_GO_HOLD=str(hold))
    wait_until(lambda: Path(f"{hold}.reached").exists())
    second = machine.start("etcd")
    assert second.stdout
    assert f"waiting: process {first.pid} is building etcd" in second.stdout.readline()
    hold.touch()
    assert first.wait(timeout=30) == 0
    assert second.wait(timeout=30) == 0
    first.communicate()
    second.communicate()
    assert len(machine.builds()) == 1


def test_without_go_both_ways_out_are_named(machine: Machine) -> None:
    (machine.bin / "go").unlink()
    code, output = machine.run("etcd", "kwok")
    assert code == 1
    assert "go is not on PATH" in output
    assert "install Go 1.26" in output
    assert f"or put etcd {PINS['etcd']}, kwok {PINS['kwok']} on PATH" in output
    assert "Traceback" not in output


def test_a_warm_machine_needs_no_go(machine: Machine) -> None:
    assert machine.run("etcd")[0] == 0
    (machine.bin / "go").unlink()
    assert machine.run("etcd")[0] == 0


def test_a_go_that_is_too_old_is_named(machine: Machine) -> None:
    code, output = machine.run("etcd", FAKE_GO_VERSION="go1.20.14")
    assert code == 1
    assert "go 1.20.14 is too old for etcd: install Go 1.26" in output


def test_a_failing_build_shows_its_log(machine: Machine) -> None:
    code, output = machine.run("etcd", FAKE_GO_FAILS="yes")
    assert code == 1
    assert f"building etcd {PINS['etcd']} failed with exit code 1" in output
    assert "main.go:7: undefined: nonsense" in output
    log = machine.cache / "home-platform/tools/logs/etcd.log"
    assert str(log) in output
    assert "go build" in log.read_text(encoding="utf-8")
    assert machine.finished("etcd") == []


def test_builds_use_the_measured_flags(machine: Machine) -> None:
    assert machine.run("kube-apiserver")[0] == 0
    (call,) = machine.builds()
    assert "-trimpath -buildvcs=false -gcflags=all=-l -dwarf=false -ldflags=-s -w -X" in call
    assert f"k8s.io/component-base/version.gitVersion=v{PINS['kube-apiserver']} " in call
    assert call.endswith("k8s.io/kubernetes/cmd/kube-apiserver")
