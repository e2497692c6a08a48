"""What Linux's /proc tells about a process; a process that has ended reads as None."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from components.errors import PlatformError

PROC = Path("/proc")
_GONE = (FileNotFoundError, ProcessLookupError, PermissionError)


@dataclass(frozen=True, kw_only=True)
class Stat:
    """State letter (Z: ended, not yet reaped), session id, and start in seconds since the epoch."""

    state: str
    session: int
    started: float


def pids() -> Iterator[int]:
    """Every process that is visible now."""
    if not (PROC / "self" / "environ").exists():
        raise PlatformError(
            "The embedded cluster needs Linux: it recognizes its own processes in /proc, which this system lacks."
        )
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            yield int(entry.name)


def environment(pid: int) -> dict[str, str] | None:
    """The environment a process was started with; None if it is gone, a zombie or someone else's."""
    try:
        data = (PROC / str(pid) / "environ").read_bytes()
    except _GONE:
        return None
    pairs = (entry.partition("=") for entry in os.fsdecode(data).split("\0") if "=" in entry)
    return {key: value for key, _, value in pairs} or None


def stat(pid: int) -> Stat | None:
    """State, session and start time; None if the process is gone."""
    try:
        text = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except _GONE:
        return None
    # the command name may hold spaces and parentheses; the fields follow the last ")"
    fields = text.rpartition(")")[2].split()
    age = _uptime() - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return Stat(state=fields[0], session=int(fields[3]), started=time.time() - age)


def memory_bytes(pid: int) -> int | None:
    """Resident memory (VmRSS); None if the process is gone."""
    try:
        resident = (PROC / str(pid) / "statm").read_text(encoding="ascii").split()[1]
    except _GONE:
        return None
    return int(resident) * os.sysconf("SC_PAGE_SIZE")


def _uptime() -> float:
    return float((PROC / "uptime").read_text(encoding="ascii").split()[0])
