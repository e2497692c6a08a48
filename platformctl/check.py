"""`platformctl check`: every static check, fast ones first, with one table at the end."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from platformctl import console
from platformctl.paths import CHECKOUT


@dataclass(frozen=True, kw_only=True)
class Check:
    """A command that succeeds on a clean checkout; `remedy` is what to do when it fails.

    notes: whether what it says on standard error counts even when it succeeds, since it may not see everything.
    """

    name: str
    command: Sequence[str]
    remedy: str
    notes: bool = False


def _script(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


CHECKS = (
    Check(name="format", command=(_script("ruff"), "format", "--check", "."), remedy="make format"),
    Check(name="lint", command=(_script("ruff"), "check", "."), remedy="make format, then read what is left"),
    Check(
        name="import contracts", command=(_script("lint-imports"),), remedy="see [tool.importlinter] in pyproject.toml"
    ),
    Check(name="lock file", command=(_script("uv"), "lock", "--check", "--offline"), remedy="uv lock"),
    Check(
        name="schemas",
        command=(_script("platformctl"), "schema", "stack", "--check"),
        remedy="platformctl schema stack --write",
    ),
    Check(
        name="secrets",
        command=(_script("platformctl"), "secret", "check"),
        remedy="platformctl secret set NAMESPACE/NAME --stack STACK",
    ),
    Check(
        name="chart values",
        command=(_script("platformctl"), "chart-values"),
        remedy="correct the values, or give the reason in platformctl/render/chart_values.yaml",
        notes=True,
    ),
    Check(name="types", command=(_script("pyright"), "--warnings"), remedy="read the messages above"),
)


def check() -> None:
    """Lint, format, import contracts, schemas, secrets, chart values and types. Exit code 1 when any of them fails."""
    from rich.table import Table

    table = Table("check", "result", "seconds", "remedy", box=None, pad_edge=False)
    failed = False
    for entry in CHECKS:
        began = time.monotonic()
        result = subprocess.run(entry.command, cwd=CHECKOUT, text=True, capture_output=True, check=False)
        seconds = f"{time.monotonic() - began:.1f}"
        if result.returncode:
            failed = True
            console.err.print(f"--- {entry.name}", result.stdout, result.stderr, sep="\n", markup=False)
        elif entry.notes and result.stderr.strip():
            console.note(f"{entry.name}: {result.stderr.strip()}")
        table.add_row(
            entry.name, "failed" if result.returncode else "ok", seconds, entry.remedy if result.returncode else ""
        )
    console.out.print(table)
    if failed:
        raise typer.Exit(1)
