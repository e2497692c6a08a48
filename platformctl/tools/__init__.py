"""The programs behind `make up`: found on PATH or built from pinned Go modules, once for every checkout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from platformctl.tools.progress import Progress

__all__ = ["ensure", "environment"]


def ensure(names: Sequence[str] | None = None, *, progress: Progress | None = None) -> Mapping[str, Path]:
    """Each tool's executable by name, built where it is missing; None means the embedded tier.

    Raises PlatformError for an unknown name, a missing or too old Go, and a build that fails.
    """
    from platformctl.tools.provide import provide

    return provide(names, progress=progress)


def environment(paths: Mapping[str, Path]) -> dict[str, str]:
    """Variables that make `pulumi` find these tools: PATH with the checkout's own directory of links in front."""
    from platformctl.tools.links import environment as variables

    return variables(paths)
