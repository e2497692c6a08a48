"""Long-lived processes of one cluster: started detached, found again by a mark, ended without hitting strangers.

Each process carries its cluster's directory, its name and a digest of its configuration in its environment, where
/proc shows them for as long as it lives. There are no pid files, so nothing can go stale and a reused pid is no risk.
"""

from __future__ import annotations

import hashlib
import os
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from components.errors import PlatformError
from platformctl.local import procfs

DIRECTORY_MARK = "PLATFORM_CLUSTER_DIRECTORY"
NAME_MARK = "PLATFORM_CLUSTER_PROCESS"
DIGEST_MARK = "PLATFORM_CLUSTER_DIGEST"
# the user's other variables may hold credentials, which have no business in long-lived processes
PASSED_ON = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH"),
    # the simulation reads CRDs: where they are cached, and how to reach them
    *("XDG_CACHE_HOME", "UPSTREAM_MIRROR", "GOPATH", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN"),
    *("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_FILE"),
)

READY_SECONDS = 60.0
# long enough for an API server whose etcd was just replaced, or for kwok to play a node that was just added
SETTLE_SECONDS = 5.0
GRACE_SECONDS = 15.0
# an API server with watching clients never ends by itself, and what hangs does not listen; nothing is lost by a kill
REPLACE_SECONDS = 3.0
POLL_SECONDS = 0.05
MARK_SECONDS = 5.0
LOG_LINES = 8
LINE_CHARACTERS = 400
LOG_LIMIT_BYTES = 20_000_000

_children: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True, kw_only=True)
class ProcessSpec:
    """What to run: `ready` is asked until it says yes; `inputs` is content that calls for a restart when it changes."""

    name: str
    argv: tuple[str, ...]
    log: Path
    ready: Callable[[], bool]
    inputs: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    ready_seconds: float = READY_SECONDS
    # for a process that cannot be asked: how long it must have lived to count as started
    steady_seconds: float = 0.0

    @property
    def digest(self) -> str:
        """Changes whenever the running process would have to be restarted to match this specification."""
        parts = (*self.argv, *self.inputs, *(f"{key}={value}" for key, value in sorted(self.environment.items())))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Running:
    """A live process of a cluster; `leader` is the one we started, the others are its offspring."""

    name: str
    pid: int
    digest: str
    started: float
    leader: bool


def find(directory: Path) -> list[Running]:
    """Every live process that carries the mark of the cluster in `directory`, whoever its parent is now."""
    return [running for pid in procfs.pids() if (running := _identify(pid, directory)) is not None]


def leaders(directory: Path) -> dict[str, Running]:
    """The cluster's own processes by name."""
    return {running.name: running for running in find(directory) if running.leader}


def start(spec: ProcessSpec, directory: Path) -> Running:
    """Starts a process that outlives us, in a session of its own, with its output appended to its log."""
    marks = {DIRECTORY_MARK: str(directory), NAME_MARK: spec.name, DIGEST_MARK: spec.digest}
    passed_on = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
    _rotate(spec.log)
    log = os.open(spec.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        child = subprocess.Popen(
            spec.argv,
            cwd=directory,
            env={**passed_on, **spec.environment, **marks},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    finally:
        os.close(log)
    _children.append(child)
    # exec closes our pipe, which lets Popen return, shortly before the new environment can be read
    deadline = time.monotonic() + MARK_SECONDS
    while _identify(child.pid, directory) is None and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    return Running(name=spec.name, pid=child.pid, digest=spec.digest, started=time.time(), leader=True)


def wait_ready(spec: ProcessSpec, running: Running, directory: Path) -> None:
    """Returns when the process is ready; raises PlatformError with the log's end if it ends or takes too long."""
    if settles(spec, running, directory, spec.ready_seconds):
        return
    if alive(running, directory):
        raise _failure(spec, f"was not ready within {spec.ready_seconds:.0f} s")
    raise _failure(spec, "ended before it was ready")


def settles(spec: ProcessSpec, running: Running, directory: Path, seconds: float = SETTLE_SECONDS) -> bool:
    """Whether the process is ready within some seconds; False at once if it ends."""
    deadline = time.monotonic() + seconds
    while alive(running, directory):
        if time.time() - running.started >= spec.steady_seconds and spec.ready():
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return False


def alive(running: Running, directory: Path) -> bool:
    """Whether this very process still runs: the pid alone would not tell, it may have been reused."""
    _reap()
    found = _identify(running.pid, directory)
    return found is not None and (found.name, found.digest) == (running.name, running.digest)


def stop(processes: Iterable[Running], directory: Path, grace_seconds: float = GRACE_SECONDS) -> None:
    """Asks each process to end (SIGTERM), kills what has not ended after the grace period, and waits for it."""
    handles = [handle for running in processes if (handle := _open(running, directory)) is not None]
    try:
        _signal(handles, signal.SIGTERM)
        remaining = _wait_ended(handles, grace_seconds)
        _signal(remaining, signal.SIGKILL)
        _wait_ended(remaining, grace_seconds)
    finally:
        for handle in handles:
            os.close(handle)
        _reap()


def tail(log: Path, lines: int = LOG_LINES) -> str:
    """The last lines of a log; empty if there is none."""
    try:
        with log.open(encoding="utf-8", errors="replace") as stream:
            return "\n".join(line.rstrip()[:LINE_CHARACTERS] for line in deque(stream, maxlen=lines))
    except FileNotFoundError:
        return ""


def _identify(pid: int, directory: Path) -> Running | None:
    environment = procfs.environment(pid)
    if environment is None or environment.get(DIRECTORY_MARK) != str(directory):
        return None
    stat = procfs.stat(pid)
    if stat is None or stat.state == "Z":
        return None
    return Running(
        name=environment.get(NAME_MARK, ""),
        pid=pid,
        digest=environment.get(DIGEST_MARK, ""),
        started=stat.started,
        leader=stat.session == pid,
    )


def _open(running: Running, directory: Path) -> int | None:
    """A handle (pidfd) of the process; what is signalled through it can no longer turn into another process."""
    try:
        handle = os.pidfd_open(running.pid)
    except ProcessLookupError:
        return None
    if alive(running, directory):
        return handle
    os.close(handle)
    return None


def _signal(handles: Iterable[int], number: signal.Signals) -> None:
    for handle in handles:
        try:
            signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            continue


def _wait_ended(handles: Iterable[int], seconds: float) -> list[int]:
    """Waits until all have ended, at most `seconds`; returns those that have not."""
    remaining: list[int] = list(handles)
    deadline = time.monotonic() + seconds
    while remaining and (left := deadline - time.monotonic()) > 0:
        ended: list[int] = select.select(remaining, [], [], left)[0]
        remaining = [handle for handle in remaining if handle not in ended]
    return remaining


def _reap() -> None:
    """Takes note of our own children that have ended, so that they do not stay behind as zombies."""
    _children[:] = [child for child in _children if child.poll() is None]


def _rotate(log: Path) -> None:
    """Keeps one older log, so that a cluster that is used for months does not fill the disk."""
    if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
        log.replace(log.with_suffix(".log.1"))


def _failure(spec: ProcessSpec, what: str) -> PlatformError:
    end = tail(spec.log)
    return PlatformError(f"{spec.name} {what}; its log {spec.log} ends with:\n{end or '(nothing)'}")
