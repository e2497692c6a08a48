"""Where each tool is: on PATH in a fitting version, in the cache, or missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from platformctl import paths
from platformctl.tools import pins, probe
from platformctl.tools.catalogue import LANGUAGE_HOST, Tool, select

# A file that tells a directory of links from any other on PATH.
LINKS_MARKER = ".platformctl-tools"

Source = Literal["PATH", "plugin", "built", "stand-in", "missing"]


@dataclass(frozen=True, kw_only=True)
class Located:
    """A tool and what serves it. `refused` says why one found on PATH is not used."""

    tool: Tool
    source: Source
    version: str
    path: Path | None = None
    refused: str = ""


def cache() -> Path:
    """Built tools: one directory each, named by the tool and what it was built from."""
    return paths.cache_dir() / "tools"


def built_path(tool: Tool) -> Path:
    """Where the finished build lies; it is there only if the build ended well."""
    return cache() / f"{tool.name}-{pins.digest(tool)}" / tool.name


def links() -> Path:
    """The checkout's directory of links to its tools, to be put on PATH."""
    return paths.CHECKOUT / ".local" / "bin"


def foreign_path() -> str:
    """PATH without the directories of links of this and other checkouts: what we built is no installed tool."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(entry for entry in entries if not Path(entry, LINKS_MARKER).exists())


def locate(tools: Iterable[Tool]) -> list[Located]:
    """Each tool's place. PLATFORM_TOOLS=build ignores what is on PATH."""
    search = "" if os.environ.get("PLATFORM_TOOLS") == "build" else foreign_path()
    official = _official_pulumi(search)
    return [_locate(tool, search, official) for tool in tools]


def _official_pulumi(search: str) -> Located | None:
    """An installed Pulumi of a fitting version that brings its Python language host."""
    pulumi = select(["pulumi"])[0]
    found = _on_path(pulumi, search)
    return found if found and not found.refused and shutil.which(LANGUAGE_HOST, path=search) else None


def _locate(tool: Tool, search: str, official: Located | None) -> Located:
    if tool.name == LANGUAGE_HOST:
        return _language_host(tool, search, official)
    if tool.is_provider:
        return (_provider(tool, search) if official else None) or _built(tool)
    found = _on_path(tool, search)
    if found is None:
        return _built(tool)
    if tool.name == "pulumi" and not found.refused and not official:
        return _built(tool, f"pulumi at {found.path} is not used: no {LANGUAGE_HOST} on PATH")
    return _built(tool, found.refused) if found.refused else found


def _language_host(tool: Tool, search: str, official: Located | None) -> Located:
    if official:
        path = shutil.which(tool.name, path=search)
        return Located(tool=tool, source="PATH", version=official.version, path=Path(path) if path else None)
    return Located(tool=tool, source="stand-in", version=probe.sdk_version(), path=links() / tool.name)


def _provider(tool: Tool, search: str) -> Located | None:
    """A plugin on PATH, which an installed Pulumi would take in any case, or one that it has downloaded."""
    path = shutil.which(tool.name, path=search)
    if path:
        return Located(tool=tool, source="PATH", version="installed", path=Path(path))
    pin = pins.parse_version(pins.pinned_version(tool)) or (0, 0, 0)
    fitting = [
        (version, file) for version, file in probe.downloaded_plugins(tool.name) if tool.fit.admits(version, pin)
    ]
    if not fitting:
        return None
    version, file = max(fitting)
    return Located(tool=tool, source="plugin", version=probe.dotted(version), path=file)


def _on_path(tool: Tool, search: str) -> Located | None:
    path = shutil.which(tool.name, path=search) if search else None
    if path is None:
        return None
    pin = pins.pinned_version(tool)
    version = probe.version_of(Path(path), tool.version_arguments)
    shown = probe.dotted(version) if version else "unknown"
    fits = version is not None and tool.fit.admits(version, pins.parse_version(pin) or (0, 0, 0))
    refused = "" if fits else f"{tool.name} {shown} at {path} is not used: it does not fit {pin}"
    return Located(tool=tool, source="PATH", version=shown, path=Path(path), refused=refused)


def _built(tool: Tool, refused: str = "") -> Located:
    path = built_path(tool)
    there = path.is_file()
    return Located(
        tool=tool,
        source="built" if there else "missing",
        version=pins.pinned_version(tool),
        path=path if there else None,
        refused=refused,
    )
