"""Private files: what holds keys or identifies processes is readable by its owner alone and never half written."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def private_directory(path: Path) -> Path:
    """Creates the directory (and its parents) with mode 0700; an existing one is tightened."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.chmod(0o700)
    return path


def write_private(path: Path, content: str | bytes) -> Path:
    """Writes with mode 0600, atomically: a reader sees the old content or the new one, never a part."""
    data = content.encode() if isinstance(content, str) else content
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise
    return path
