"""One building run at a time on a machine; the others say what they wait for."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType

from filelock import FileLock, Timeout

_POLL_SECONDS = 1.0


def _holder_file(directory: Path) -> Path:
    return directory / "building"


def announce(directory: Path, tool: str) -> None:
    """Tells waiting runs what this one builds. The caller holds the lock."""
    _holder_file(directory).write_text(f"process {os.getpid()} is building {tool}", encoding="utf-8")


@contextlib.contextmanager
def exclusive(directory: Path, waiting: Callable[[str], None]) -> Generator[None, None, None]:
    """Holds the cache's lock; while another run does, `waiting` gets each new reason. A killed run frees it."""
    directory.mkdir(parents=True, exist_ok=True)
    lock = FileLock(directory / "lock")
    said = None
    while True:
        try:
            lock.acquire(timeout=_POLL_SECONDS if said else 0)
            break
        except Timeout:
            reason = _reason(directory)
            if reason != said:
                waiting(reason)
            said = reason
    try:
        yield
    finally:
        _holder_file(directory).unlink(missing_ok=True)
        lock.release()


@contextlib.contextmanager
def termination_as_interrupt() -> Generator[None, None, None]:
    """SIGTERM and a closed terminal end the block as Ctrl-C does, so that its clean-up runs; main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    previous = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _reason(directory: Path) -> str:
    try:
        holder = _holder_file(directory).read_text(encoding="utf-8")
    except OSError:
        holder = ""
    return holder or "another run is about to build"
