"""Checks that are commands: programs of the environment, and tools that are built when they are missing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from components.errors import PlatformError
from platformctl import tools
from platformctl.gate.model import Finding, in_ci
from platformctl.paths import CHECKOUT
from platformctl.tools import find
from platformctl.tools.catalogue import select
from platformctl.tools.progress import expectation

# A longer build is not what somebody waits for who runs `make check`; in CI everything is built.
PATIENCE_SECONDS = 60


def script(name: str) -> str:
    """A program of the Python environment that this runs in."""
    return str(Path(sys.executable).with_name(name))


def command(*words: str, notes: bool = False) -> Callable[[], Finding]:
    """Fails when the command does. notes: whether what it says on standard error counts even when it succeeds."""

    def run() -> Finding:
        return _run(words, notes=notes)

    return run


def with_tool(name: str, *arguments: str) -> Callable[[], Finding]:
    """The same with a tool of the catalogue as the program."""

    def run() -> Finding:
        found = obtain(name)
        return found if isinstance(found, Finding) else _run((str(found), *arguments))

    return run


def obtain(name: str) -> Path | Finding:
    """The tool's path, built with progress where that is quick or in CI; else a finding that says how to get it."""
    (place,) = find.locate(select([name]))
    if place.path:
        return place.path
    seconds = place.tool.expected_seconds
    if seconds > PATIENCE_SECONDS and not in_ci():
        return _without(
            f"{name} {place.version} is not built; `platformctl tools {name}` does it in {expectation(seconds)}"
        )
    try:
        return tools.ensure([name])[name]
    except PlatformError as error:
        return _without(str(error))


def _without(reason: str) -> Finding:
    return Finding(unseen=(reason,), nothing=True)


def _run(words: tuple[str, ...], *, notes: bool = False) -> Finding:
    result = subprocess.run(words, cwd=CHECKOUT, text=True, capture_output=True, check=False)
    said = tuple(part.strip() for part in (result.stdout, result.stderr) if part.strip())
    if result.returncode:
        return Finding(problems=said or (f"{Path(words[0]).name} ended with exit code {result.returncode}",))
    return Finding(notes=(result.stderr.strip(),) if notes and result.stderr.strip() else ())
