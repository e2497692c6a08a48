"""`platformctl check`: every static check, fast ones first, with one table at the end."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from components.errors import PlatformError
from platformctl import console
from platformctl.gate.model import Check, Finding, in_ci

_HEADINGS = ("check", "result", "seconds", "remedy")


def check(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Only these checks.")] = None,
) -> None:
    """Everything that a change must pass and that needs no cluster. Exit code 1 when any of it fails.

    A check whose tool takes minutes to build is left out until the tool is there; with CI=true it is built, and
    nothing is left out.

    Examples: platformctl check, platformctl check policies workflows
    """
    from platformctl.gate.checks import CHECKS

    rows = [_row(entry) for entry in _chosen(CHECKS, names or [])]
    _print(rows)
    _summarise(rows)
    if any(row[1] == "failed" for row in rows):
        raise typer.Exit(1)


def _chosen(checks: Sequence[Check], names: Sequence[str]) -> list[Check]:
    known = [entry.name for entry in checks]
    if unknown := [name for name in names if name not in known]:
        raise PlatformError(*(f"there is no check {name!r}; there are: {', '.join(known)}" for name in unknown))
    return [entry for entry in checks if not names or entry.name in names]


def _row(entry: Check) -> tuple[str, str, str, str]:
    began = time.monotonic()
    try:
        finding = entry.run()
    except PlatformError as error:
        finding = Finding(problems=error.sentences)
    _say(entry.name, finding)
    seconds = f"{time.monotonic() - began:.1f}"
    return entry.name, finding.result, seconds, entry.remedy if finding.result == "failed" else ""


def _say(name: str, finding: Finding) -> None:
    wrong = [*finding.problems, *(finding.unseen if in_ci() else ())]
    if wrong:
        console.err.print(f"--- {name}", *wrong, sep="\n", markup=False, soft_wrap=True)
    for note in (*finding.notes, *(() if in_ci() else finding.unseen)):
        console.note(f"{name}: {note}")


def _print(rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table

    table = Table(*_HEADINGS, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    console.out.print(table)


def _summarise(rows: Sequence[Sequence[str]]) -> None:
    """The same table where GitHub shows it on the run's page."""
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        lines = [_HEADINGS, ["---"] * len(_HEADINGS), *rows]
        text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(f"### platformctl check\n\n{text}\n")
