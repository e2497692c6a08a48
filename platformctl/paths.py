"""Where things lie: the checkout, what belongs to it and is not in git, and what all checkouts share."""

from __future__ import annotations

import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def state_dir(name: str) -> Path:
    """Data of the embedded cluster `name`: $PLATFORM_STATE_DIR or .local in the checkout, then the name."""
    return Path(os.environ.get("PLATFORM_STATE_DIR") or CHECKOUT / ".local") / name


def cache_dir() -> Path:
    """Built tools and downloads, shared by every checkout: $XDG_CACHE_HOME (or ~/.cache)/home-platform."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "home-platform"
