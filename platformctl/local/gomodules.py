"""Source directories of the Go modules pinned in tools/crds, downloaded by `go` and checked against its go.sum."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from components.errors import PlatformError
from platformctl.paths import CHECKOUT

PINS = CHECKOUT / "tools" / "crds"
TIMEOUT_SECONDS = 300
_REQUIRE = re.compile(r"^(?:require)?\s*(?P<path>[\w.~/-]+\.[\w.~/-]+) (?P<version>v\S+)", re.MULTILINE)


class ModuleUnavailable(PlatformError):  # noqa: N818 - a state of the world, not of the code
    """A pinned module that cannot be downloaded here: no `go`, no proxy, or the proxy refuses it."""


@dataclass(frozen=True, kw_only=True)
class Module:
    """One pinned module; `checksum` is the h1: hash that go.sum holds for its content."""

    path: str
    version: str
    checksum: str


def pinned(path: str, *, pins: Path = PINS) -> Module:
    """The pin of a module. Raises PlatformError when go.mod does not require it or go.sum has no checksum of it."""
    versions = {found["path"]: found["version"] for found in _REQUIRE.finditer((pins / "go.mod").read_text("utf-8"))}
    if path not in versions:
        raise PlatformError(f"tools/crds/go.mod does not require {path}; it requires: {', '.join(sorted(versions))}")
    version = versions[path]
    for line in (pins / "go.sum").read_text("utf-8").splitlines():
        match line.split():
            case [module, number, checksum] if (module, number) == (path, version):
                return Module(path=path, version=version, checksum=checksum)
            case _:
                continue
    raise PlatformError(
        f"tools/crds/go.sum has no checksum of {path} {version}: "
        f"run `go mod download -json {path}@{version}` in tools/crds and commit go.sum"
    )


@cache
def directory(module: Module) -> Path:
    """Where the module's source lies, downloaded if need be. Raises ModuleUnavailable, PlatformError on a bad hash."""
    go = shutil.which("go")
    if go is None:
        raise ModuleUnavailable(f"{module.path} {module.version} cannot be downloaded: there is no `go` on PATH")
    answer = _download(go, module)
    if answer.get("Error") or "Dir" not in answer:
        reason = str(answer.get("Error") or "no answer from go").splitlines()[0]
        raise ModuleUnavailable(f"{module.path} {module.version} cannot be downloaded: {reason}")
    if answer.get("Sum") != module.checksum:
        raise PlatformError(
            f"{module.path} {module.version} is not the pinned module: "
            f"the download has checksum {answer.get('Sum')}, tools/crds/go.sum says {module.checksum}"
        )
    return Path(answer["Dir"])


def _download(go: str, module: Module) -> dict[str, Any]:
    # In a directory without a go.mod, so that nothing of the checkout is written to; the module's own go line may
    # ask for a newer Go than the installed one even to download it, and auto fetches that.
    environment = {**os.environ, "GOTOOLCHAIN": "auto", "GOFLAGS": "", "GOWORK": "off", "GO111MODULE": "on"}
    command = [go, "mod", "download", "-json", f"{module.path}@{module.version}"]
    try:
        result = subprocess.run(
            command, cwd="/", env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
        )
        return json.loads(result.stdout) if result.stdout.strip() else {"Error": result.stderr.strip()}
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return {"Error": str(error)}
