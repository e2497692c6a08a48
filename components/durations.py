"""Durations as people write them, such as 1h30m, in the forms that others want."""

from __future__ import annotations

import re
from fractions import Fraction

_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")


def milliseconds(duration: str) -> int:
    """Of a Go duration, rounded to whole ones."""
    return round(sum(Fraction(number) * _MILLISECONDS[unit] for number, unit in _PART.findall(duration)))


def gateway_duration(duration: str) -> str:
    """As Gateway API writes it: whole numbers, each unit at most once, such as 1h30m for 1.5h."""
    left = milliseconds(duration)
    parts: list[str] = []
    for unit in ("h", "m", "s", "ms"):
        whole, left = divmod(left, _MILLISECONDS[unit])
        if whole:
            parts.append(f"{whole}{unit}")
    return "".join(parts) or "0s"
