"""Wall-clock times of whole commands, interleaved so that a busy machine hurts both sides alike."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A measured ratio or time, and its goal (at most)."""

    id: str
    what: str
    value: float
    goal: float
    unit: str
    detail: str

    @property
    def met(self) -> bool:
        """Whether the goal is met."""
        return self.value <= self.goal


def seconds(command: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> float:
    """One run. Raises RuntimeError with the command's output when it fails."""
    began = time.monotonic()
    result = subprocess.run(command, env=dict(env), cwd=cwd, text=True, capture_output=True, check=False)
    taken = time.monotonic() - began
    if result.returncode:
        raise RuntimeError(f"{' '.join(command[:4])}: {(result.stderr or result.stdout)[-2000:]}")
    return taken


def medians(left: Callable[[], float], right: Callable[[], float], *, rounds: int) -> tuple[float, float]:
    """Medians of both sides after one warming run each, sides alternating."""
    left(), right()
    pairs = [(left(), right()) for _ in range(rounds)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def ratio(identifier: str, what: str, goal: float, left: float, right: float) -> Figure:
    """left / right with both times as detail."""
    detail = f"{left:.2f} s / {right:.2f} s"
    return Figure(id=identifier, what=what, value=left / right, goal=goal, unit="", detail=detail)
