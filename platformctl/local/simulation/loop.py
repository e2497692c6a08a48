"""The loop of the simulation's process: sweeps in turn, patient while the API server is away."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

from platformctl.local.api import ApiError

MAX_PAUSE_SECONDS = 2.0


@dataclass(kw_only=True)
class Task:
    """A sweep and how often it is due, in seconds."""

    name: str
    sweep: Callable[[], None]
    every: float
    due: float = field(default=0.0)


class Loop:
    """Runs tasks until it is stopped; a failing sweep is reported once, and repeated with growing pauses."""

    def __init__(self, tasks: list[Task]) -> None:
        self._tasks = tasks
        self._stopped = threading.Event()
        self._complaint = ""

    def stop_on_signals(self) -> None:
        """SIGTERM and SIGINT end the loop after the present sweep, quietly."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)

    def run(self) -> None:
        """Returns when it was stopped."""
        pause = 0.0
        while not self._stopped.wait(pause or self._until_next()):
            failed = self._sweep()
            pause = min(MAX_PAUSE_SECONDS, max(0.25, 2 * pause)) if failed else 0.0

    def _sweep(self) -> bool:
        """Runs what is due; whether something failed."""
        now = time.monotonic()
        for task in [task for task in self._tasks if task.due <= now]:
            try:
                task.sweep()
            except ApiError as error:
                self._complain(f"{task.name}: {error}")
                return True
            task.due = time.monotonic() + task.every
        self._complaint = ""
        return False

    def _until_next(self) -> float:
        return max(0.0, min(task.due for task in self._tasks) - time.monotonic())

    def _complain(self, message: str) -> None:
        if message != self._complaint:
            print(message, file=sys.stderr)  # noqa: T201 - the process's log
        self._complaint = message

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopped.set()
