"""Versions of programs that are not ours, asked once and remembered until the file changes."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from platformctl import paths
from platformctl.tools.catalogue import Version
from platformctl.tools.pins import parse_version

_TIMEOUT_SECONDS = 5


def version_of(path: Path, arguments: tuple[str, ...]) -> Version | None:
    """The version that `path arguments` prints; None if it prints none, fails, or takes over five seconds."""
    try:
        status = path.stat()
    except OSError:
        return None
    key = f"{path}:{status.st_mtime_ns}:{status.st_size}"
    known = _read_cache()
    if key in known:
        return parse_version(known[key])
    answer = _ask(path, arguments)
    if answer:
        _write_cache({**known, key: answer})
    return parse_version(answer)


def downloaded_plugins(name: str) -> Iterator[tuple[Version, Path]]:
    """Resource plugins that an installed Pulumi has downloaded; the version stands in the directory's name."""
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    short = name.removeprefix("pulumi-")
    for directory in (home / "plugins").glob(f"{short}-v*"):
        version = parse_version(directory.name)
        if version and os.access(directory / name, os.X_OK) and not Path(f"{directory}.partial").exists():
            yield version, directory / name


def sdk_version() -> str:
    """The version of the Pulumi SDK that the language-host stand-in serves."""
    return importlib.metadata.version("pulumi")


def dotted(version: Version) -> str:
    """(1, 35, 4) as 1.35.4."""
    return ".".join(map(str, version))


def _ask(path: Path, arguments: tuple[str, ...]) -> str:
    environment = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    try:
        answer = subprocess.run(
            [path, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_SECONDS,
            stdin=subprocess.DEVNULL,
            env=environment,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    found = re.search(r"\d+\.\d+(?:\.\d+)?", answer.stdout or answer.stderr)
    return found.group() if found else ""


def _cache_file() -> Path:
    return paths.cache_dir() / "tools" / "versions.json"


def _read_cache() -> dict[str, str]:
    try:
        return dict(json.loads(_cache_file().read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def _write_cache(known: dict[str, str]) -> None:
    """Replaces the file whole; a cache that cannot be written costs a repeated question, nothing else."""
    with contextlib.suppress(OSError):
        _cache_file().parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=_cache_file().parent, delete=False, encoding="utf-8") as file:
            json.dump(known, file)
        Path(file.name).replace(_cache_file())
