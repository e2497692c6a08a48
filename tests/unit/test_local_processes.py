"""Processes of a cluster: found by their mark, ended by it, and nobody else's."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from components.errors import PlatformError
from platformctl.local import processes, procfs
from platformctl.local.processes import ProcessSpec

SLEEP = shutil.which("sleep") or "sleep"


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    processes.stop(processes.find(tmp_path), tmp_path, grace_seconds=0.1)


def spec(directory: Path, *argv: str, name: str = "sleeper") -> ProcessSpec:
    return ProcessSpec(
        name=name, argv=argv or (SLEEP, "60"), log=directory / "process.log", ready=lambda: True, ready_seconds=5
    )


def eventually(holds: Callable[[], bool], seconds: float = 5) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"did not come true within {seconds} s"
        time.sleep(0.02)


def test_a_started_process_is_found_until_it_is_stopped(directory: Path) -> None:
    started = processes.start(spec(directory), directory)
    (found,) = processes.find(directory)
    assert (found.name, found.pid, found.digest, found.leader) == ("sleeper", started.pid, started.digest, True)
    assert abs(found.started - time.time()) < 5
    assert (procfs.memory_bytes(found.pid) or 0) > 0

    processes.stop([started], directory)
    assert processes.find(directory) == []
    assert procfs.stat(started.pid) is None, "a zombie stayed behind"


def test_a_process_outlives_the_one_that_started_it(directory: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from platformctl.local import processes as p; d = Path(sys.argv[1]);"
        "p.start(p.ProcessSpec(name='orphan', argv=('sleep', '60'), log=d / 'log', ready=lambda: True), d)"
    )
    subprocess.run([sys.executable, "-c", code, str(directory)], check=True, timeout=30)
    assert [running.name for running in processes.find(directory)] == ["orphan"]


def test_a_longer_directory_is_another_cluster(directory: Path) -> None:
    other = directory / "other"
    other.mkdir()
    stranger = processes.start(spec(directory), other)
    try:
        assert processes.find(directory) == []
        processes.stop([stranger], directory)
        assert processes.alive(stranger, other)
    finally:
        processes.stop([stranger], other)


def test_a_pid_that_now_belongs_to_someone_else_is_not_signalled(directory: Path) -> None:
    ended = processes.start(spec(directory), directory)
    processes.stop([ended], directory)
    with subprocess.Popen([SLEEP, "60"]) as stranger:
        processes.stop([replace(ended, pid=stranger.pid)], directory)
        assert stranger.poll() is None
        stranger.kill()


def test_a_pid_reused_by_another_of_our_processes_is_not_signalled(directory: Path) -> None:
    other = processes.start(spec(directory, name="other"), directory)
    processes.stop([replace(other, name="sleeper")], directory)
    assert processes.alive(other, directory)


def test_offspring_carries_the_mark_and_is_stopped_too(directory: Path) -> None:
    processes.start(spec(directory, "/bin/sh", "-c", f"{SLEEP} 60 & {SLEEP} 60 & wait"), directory)
    eventually(lambda: len(processes.find(directory)) == 3)
    assert list(processes.leaders(directory)) == ["sleeper"]
    processes.stop(processes.find(directory), directory)
    assert processes.find(directory) == []


def test_a_process_that_ignores_sigterm_is_killed_after_the_grace_period(directory: Path) -> None:
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    )
    stubborn = processes.start(spec(directory, sys.executable, "-c", code), directory)
    eventually(lambda: processes.tail(directory / "process.log") == "deaf")
    processes.stop([stubborn], directory, grace_seconds=0.3)
    assert not processes.alive(stubborn, directory)


def test_a_killed_process_is_gone_although_nobody_reaped_it(directory: Path) -> None:
    started = processes.start(spec(directory), directory)
    os.kill(started.pid, signal.SIGKILL)
    eventually(lambda: not processes.alive(started, directory))


def test_only_named_variables_of_the_user_are_passed_on(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "secret")
    monkeypatch.setenv("LANG", "C.UTF-8")
    started = processes.start(replace(spec(directory), environment={"EXTRA": "1"}), directory)
    environment = procfs.environment(started.pid) or {}
    assert environment["LANG"] == "C.UTF-8"
    assert environment["EXTRA"] == "1"
    assert "PULUMI_CONFIG_PASSPHRASE" not in environment


def test_the_digest_tells_every_reason_to_restart(directory: Path) -> None:
    base = spec(directory)
    variants = [
        replace(base, argv=(SLEEP, "61")),
        replace(base, inputs=("new",)),
        replace(base, environment={"A": "1"}),
    ]
    assert len({base.digest, *(variant.digest for variant in variants)}) == 4
    assert replace(base, ready_seconds=1).digest == base.digest


def test_a_process_that_ends_early_is_reported_with_the_end_of_its_log(directory: Path) -> None:
    failing = spec(directory, "/bin/sh", "-c", "seq 1 100; echo no such flag >&2; exit 2")
    failing = replace(failing, ready=lambda: False)
    with pytest.raises(PlatformError, match="sleeper ended before it was ready") as caught:
        processes.wait_ready(failing, processes.start(failing, directory), directory)
    message = str(caught.value)
    assert message.endswith("99\n100\nno such flag")
    assert str(directory / "process.log") in message
    assert "\n50\n" not in message


def test_a_process_that_is_never_ready_is_given_up(directory: Path) -> None:
    slow = replace(spec(directory), ready=lambda: False, ready_seconds=0.3)
    with pytest.raises(PlatformError, match="was not ready within 0 s"):
        processes.wait_ready(slow, processes.start(slow, directory), directory)


def test_a_process_that_cannot_be_asked_must_live_for_a_while(directory: Path) -> None:
    failing = replace(spec(directory, "/bin/sh", "-c", "sleep 0.2; exit 1"), steady_seconds=1)
    assert not processes.settles(failing, processes.start(failing, directory), directory)
    steady = replace(spec(directory), steady_seconds=0.2)
    assert processes.settles(steady, processes.start(steady, directory), directory)


def test_a_large_log_is_set_aside(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = directory / "process.log"
    log.write_text("old\n" * 10)
    monkeypatch.setattr(processes, "LOG_LIMIT_BYTES", 10)
    processes.start(spec(directory), directory)
    assert log.read_text() == ""
    assert log.with_suffix(".log.1").read_text().startswith("old")
