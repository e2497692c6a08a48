"""A check of the gate, and what it finds."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Result = Literal["ok", "failed", "left out"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a check says: `problems` fail it, `notes` inform.

    unseen: what could not be looked at and why, a sentence each. In CI that fails the check, since nothing there may
    pass unseen; at home it is shown.
    nothing: whether nothing at all was looked at.
    """

    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    nothing: bool = False

    @property
    def result(self) -> Result:
        """The word in the summary."""
        if self.problems or (self.unseen and in_ci()):
            return "failed"
        return "left out" if self.nothing else "ok"


@dataclass(frozen=True, kw_only=True)
class Check:
    """One row of the gate. `remedy` is what to do when it fails."""

    name: str
    run: Callable[[], Finding]
    remedy: str


def in_ci() -> bool:
    """Whether this runs where nobody can look: CI=true, as every CI service sets it."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")
