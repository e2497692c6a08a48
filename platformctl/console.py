"""One console for people: colours only on a terminal, progress as plain lines elsewhere."""

from __future__ import annotations

from rich.console import Console

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def note(message: str) -> None:
    """A line that informs; on standard error, so that standard output stays clean for data."""
    err.print(message, markup=False, soft_wrap=True)


def fail(message: str) -> None:
    """A user's mistake or a failed step, in red on a terminal."""
    err.print(f"error: {message}", style="red", markup=False, soft_wrap=True)
