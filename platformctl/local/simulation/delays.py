"""Delays that look random and are repeatable: each depends on the seed and on what is delayed, not on any order."""

from __future__ import annotations

import random
import time
from collections.abc import Callable


class Delays:
    """Durations in seconds between `shortest` and `longest`, and timers that run for them."""

    def __init__(
        self, *, seed: int, shortest: float, longest: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.seed = seed
        self._range = (shortest, longest)
        self._clock = clock
        self._begun: dict[tuple[str, str], float] = {}

    def seconds(self, subject: str) -> float:
        """The same for the same seed and subject."""
        return random.Random(f"{self.seed}/{subject}").uniform(*self._range)  # noqa: S311 - nothing secret

    def is_due(self, subject: str, occasion: str) -> bool:
        """Starts the subject's timer on the first call for an occasion; True once it has run out."""
        begun = self._begun.setdefault((subject, occasion), self._clock())
        return self._clock() - begun >= self.seconds(subject)
