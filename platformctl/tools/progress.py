"""What a person sees while tools are built: a live line on a terminal, plain lines with a heartbeat elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from rich.markup import escape
from rich.status import Status

from platformctl import console
from platformctl.tools.catalogue import Tool

HEARTBEAT_SECONDS = 30.0


class Progress(Protocol):
    """Told of each step of a run that builds; one tool at a time."""

    def plan(self, missing: Sequence[Tool]) -> None:
        """Before the first build: all that will be built."""
        ...

    def waiting(self, reason: str) -> None:
        """Another run holds the lock; called again whenever the reason changes."""
        ...

    def started(self, tool: Tool, version: str, place: str) -> None:
        """A build begins; `place` is its position such as 3/9."""
        ...

    def tick(self) -> None:
        """The build goes on; called about once a second."""
        ...

    def ended(self, ok: bool) -> None:
        """The build has ended; called after every `started`, also when the run is interrupted."""
        ...

    def finished(self, built: Sequence[Tool], seconds: float) -> None:
        """All builds of the run are done."""
        ...


def duration(seconds: float) -> str:
    """45 as 45s, 130 as 2m10s."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes else f"{rest}s"


def expectation(seconds: float) -> str:
    """45 as 45 s, 290 as 5 min: as exact as an expectation is."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class ConsoleProgress:
    """Progress on standard error."""

    def __init__(self) -> None:
        self._live: Status | None = None
        self._line = self._message = ""
        self._start = self._last = 0.0

    def plan(self, missing: Sequence[Tool]) -> None:
        """Says what will be built and how long that usually takes."""
        total = sum(tool.expected_seconds for tool in missing)
        names = ", ".join(tool.name for tool in missing)
        console.note(
            f"{len(missing)} to build from pinned Go modules, usually {expectation(total)} in all on two cores "
            f"and once per machine: {names}"
        )

    def waiting(self, reason: str) -> None:
        """Says once what the run waits for."""
        console.note(f"waiting: {reason}")

    def started(self, tool: Tool, version: str, place: str) -> None:
        """Opens the tool's line."""
        self._start = self._last = time.monotonic()
        self._line = f"[{place}] {tool.name} {version}"
        self._message = f"{self._line}: building, usually {expectation(tool.expected_seconds)}"
        if console.err.is_terminal:
            self._live = Status(escape(self._message), console=console.err)
            self._live.start()
        else:
            console.note(self._message)

    def tick(self) -> None:
        """Moves the live line on, or says every half minute that the build goes on."""
        now = time.monotonic()
        if self._live:
            self._live.update(escape(f"{self._message} … {duration(now - self._start)}"))
        elif now - self._last >= HEARTBEAT_SECONDS:
            self._last = now
            console.note(f"{self._line}: building … {duration(now - self._start)}")

    def ended(self, ok: bool) -> None:
        """Closes the tool's line with the time it took."""
        self._clear()
        took = duration(time.monotonic() - self._start)
        console.note(f"{self._line}: {'built in' if ok else 'failed after'} {took}")

    def finished(self, built: Sequence[Tool], seconds: float) -> None:
        """The run's summary."""
        console.note(f"built {len(built)} in {duration(seconds)}; every checkout on this machine now finds them")

    def _clear(self) -> None:
        if self._live:
            self._live.stop()
            self._live = None
