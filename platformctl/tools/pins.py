"""What the Go modules below tools/ pin; go.mod is the only place where a version stands."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterator
from pathlib import Path

from components.errors import PlatformError
from platformctl import paths
from platformctl.tools.catalogue import Tool, Version

# -l (no inlining) and no DWARF save 30 % of a cold build and keep the optimiser; measured on the etcd module.
COMPILER_FLAGS = ("-trimpath", "-buildvcs=false", "-gcflags=all=-l -dwarf=false")
BUILD_ENVIRONMENT = {"CGO_ENABLED": "0", "GOGC": "400"}
# Other files of a module's directory are written by builds; they don't say what is built.
_SOURCES = ("go.mod", "go.sum", "*.go")


def module_directory(tool: Tool) -> Path:
    """The tool's Go module in this checkout."""
    return paths.CHECKOUT / "tools" / tool.directory


def pinned_version(tool: Tool) -> str:
    """The version that a build reports, without a leading v: from go.mod, or the catalogue for pseudo-versions."""
    if tool.reported_version:
        return tool.reported_version
    file = module_directory(tool) / "go.mod"
    found = re.search(rf"^\s*(?:require\s+)?{re.escape(tool.module)}\s+v(\S+)", _read(file), re.MULTILINE)
    if not found:
        raise PlatformError(f"{file}: no line pins {tool.module}; add `require {tool.module} vX.Y.Z`")
    return found.group(1)


def required_go(tool: Tool) -> Version:
    """The Go version that the tool's go.mod asks for."""
    file = module_directory(tool) / "go.mod"
    found = re.search(r"^go\s+(\S+)", _read(file), re.MULTILINE)
    version = parse_version(found.group(1)) if found else None
    if version is None:
        raise PlatformError(f"{file}: no line `go X.Y`; add the Go version that the module needs")
    return version


def parse_version(text: str) -> Version | None:
    """The first X.Y or X.Y.Z in a text; None where there is none."""
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


def linker_flags(tool: Tool) -> str:
    """-ldflags of the tool: no symbol table, and its version set."""
    version = pinned_version(tool)
    major, minor, _ = parse_version(version) or (0, 0, 0)
    values = [
        f"-X {symbol}={value.format(version=version, major=major, minor=minor)}"
        for symbol, value in tool.version_symbols
    ]
    return " ".join(["-s", "-w", *values])


def digest(tool: Tool) -> str:
    """Names a build by all that decides it: the module's sources, the recipe and the platform, never the checkout.

    The Go version is left out: a newer one is no reason to spend minutes on the same sources, and a machine
    with the tools in its cache needs no Go.
    """
    recipe = [
        tool.package,
        linker_flags(tool),
        *COMPILER_FLAGS,
        *sorted(BUILD_ENVIRONMENT.items()),
        repr(tool.embeds),
        repr(tool.generator),
        platform.system(),
        platform.machine(),
    ]
    total = hashlib.sha256(json.dumps(recipe).encode())
    for name, content in sources(tool):
        total.update(f"\0{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()[:16]


def sources(tool: Tool) -> Iterator[tuple[str, bytes]]:
    """The files that are built, by their path in the module; generated ones beside them don't count."""
    directory = module_directory(tool)
    files = {file for pattern in _SOURCES for file in directory.rglob(pattern)}
    for file in sorted(files):
        yield file.relative_to(directory).as_posix(), file.read_bytes()


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise PlatformError(f"{file}: cannot be read ({error.strerror}); it pins the tool's version") from error
