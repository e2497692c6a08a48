"""Cron schedules: which are accepted, and how long nothing runs."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from components.cron import CronSchedule, longest_gap_days

SCHEDULE = TypeAdapter[str](CronSchedule)


@pytest.mark.parametrize(
    ("schedule", "days"),
    [
        ("0 3 * * *", 1),
        ("*/5 * * * *", 1),
        ("0 4 * * 0", 7),
        ("0 4 * * 1-5", 3),
        ("0 4 * * 1,4", 4),
        ("0 4 */2 * *", 2),
        ("0 4 1,15 * *", 17),
        ("0 4 1 * *", 31),
        ("0 4 10/10 * *", 19),
        ("0 4 1 */3 *", 92),
        ("0 4 1 1 *", 366),
        ("0 4 29 2 *", 1461),
        # Where both are named, either is enough.
        ("0 4 1 * 1", 7),
        ("0 4 */1 * 1", 7),
        ("0 4 31 2 *", None),
        ("0 4 * * 5-1", None),
    ],
)
def test_the_longest_time_without_a_run(schedule: str, days: int | None) -> None:
    assert SCHEDULE.validate_python(schedule) == schedule
    assert longest_gap_days(schedule) == days


@pytest.mark.parametrize(
    "schedule",
    [
        *("", "0 3 * *", "0 3 * * * *", "60 3 * * *", "0 24 * * *", "0 3 0 * *", "0 3 32 * *", "0 3 * 13 *"),
        *("0 3 * 0 *", "0 3 * * 7", "0 3 * * SUN", "@daily", "0  3 * * *", "0 3 * * */0", "-1 3 * * *", "0 3,* * *"),
        *("TZ=UTC 0 3 * * *", "0 3 * * *\n"),
    ],
)
def test_what_velero_would_refuse_or_read_otherwise(schedule: str) -> None:
    with pytest.raises(ValidationError):
        SCHEDULE.validate_python(schedule)
