"""Cron expressions as Velero and Kubernetes read them: five fields, numbers only, UTC."""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import pairwise
from typing import Annotated

from pydantic import Field

_MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY = (
    "[0-5]?[0-9]",
    "1?[0-9]|2[0-3]",
    "[1-9]|[12][0-9]|3[01]",
    "[1-9]|1[0-2]",
    "[0-6]",
)
# Four years and a month hold every combination of a day, its weekday and a leap day that a household meets.
_WATCHED = [date(2027, 1, 1) + timedelta(days=number) for number in range(4 * 366)]


def _field(number: str) -> str:
    item = rf"(\*|({number})(-({number}))?)(/[1-9][0-9]?)?"
    return rf"{item}(,{item})*"


CronSchedule = Annotated[
    str,
    Field(
        pattern=rf"^{' '.join(_field(number) for number in (_MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY))}$",
        description="a cron schedule of five fields in numbers, in UTC, such as 0 3 * * * or 30 4 * * 0",
    ),
]


def longest_gap_days(schedule: str) -> int | None:
    """The most days between two days on which the schedule runs; None where it never runs."""
    _, _, day, month, weekday = schedule.split()
    days, months, weekdays = _numbers(day, 1, 31), _numbers(month, 1, 12), _numbers(weekday, 0, 6)
    # As in cron: where both name days, either of them is enough.
    either = not day.startswith("*") and not weekday.startswith("*")

    def runs(on: date) -> bool:
        matches = (on.day in days, on.isoweekday() % 7 in weekdays)
        return on.month in months and (any(matches) if either else all(matches))

    found = [on for on in _WATCHED if runs(on)]
    if not found:
        return None
    return max(
        (later - earlier).days for earlier, later in pairwise([*found, found[0].replace(year=found[0].year + 4)])
    )


def _numbers(text: str, lowest: int, highest: int) -> set[int]:
    """What a field stands for: `*/2`, `1-5`, `1,15`, `10/5` (from 10 on)."""
    found: set[int] = set()
    for item in text.split(","):
        match = re.fullmatch(r"(\*|(\d+)(-(\d+))?)(/(\d+))?", item)
        if match is None:
            raise ValueError(f"{item!r} is no part of a cron schedule")
        first = lowest if match[1] == "*" else int(match[2])
        open_ended = match[1] == "*" or (match[3] is None and match[5] is not None)
        last = highest if open_ended else int(match[4] or first)
        found |= set(range(first, last + 1, int(match[6] or 1)))
    return found
