"""A machine of its own for tests of `platformctl tools`: checkout, cache, PATH, and a `go` that builds in no time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from platformctl.tools import pins
from platformctl.tools.catalogue import TOOLS

CHECKOUT = Path(__file__).resolve().parents[2]
PINS = {tool.name: pins.pinned_version(tool) for tool in TOOLS if tool.directory}

# Writes half of the output first, so that a build that is stopped has left something behind.
_GO = r"""#!/bin/sh
echo "$*" >> "$FAKE_GO_CALLS"
case "$1 $2" in
"env GOVERSION") echo "${FAKE_GO_VERSION:-go1.26.8}"; exit 0 ;;
"list -m") echo "$FAKE_GO_MODULE"; exit 0 ;;
"mod download") exit 0 ;;
esac
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
printf '#!/bin/sh\n' > "$out"
chmod +x "$out"
if [ -n "$FAKE_GO_FAILS" ]; then echo "main.go:7: undefined: nonsense" >&2; exit 1; fi
if [ -n "$FAKE_GO_HOLD" ]; then
  touch "$FAKE_GO_HOLD.reached"
  turns=0
  while [ ! -e "$FAKE_GO_HOLD" ] && [ $turns -lt 300 ]; do sleep 0.05; turns=$((turns + 1)); done
fi
printf 'echo complete %s\n' "$FAKE_GO_PROGRAM_PRINTS" >> "$out"
"""


class Machine:
    """Runs the CLI of a copied checkout, away from the user's cache, PATH and Go."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bin"
        self.cache = root / "cache"
        self.calls = root / "go-calls"
        self.bin.mkdir(parents=True)
        self.calls.touch()
        self.checkout = self.clone("checkout")
        self.program("go", _GO)
        self.environment = {
            "PATH": f"{self.bin}:{self._system()}",
            "HOME": str(root),
            "COLUMNS": "1000",
            "XDG_CACHE_HOME": str(self.cache),
            "FAKE_GO_CALLS": str(self.calls),
            "FAKE_GO_MODULE": str(root / "module"),
        }

    def clone(self, name: str) -> Path:
        """Another checkout of the same sources."""
        target = self.root / name
        for part in ("components", "platformctl", "tools"):
            shutil.copytree(CHECKOUT / part, target / part, ignore=shutil.ignore_patterns("__pycache__", "*.json"))
        return target

    def program(self, name: str, script: str) -> Path:
        """Puts an executable on PATH."""
        path = self.bin / name
        path.write_text(script, encoding="utf-8")
        path.chmod(0o755)
        return path

    def start(self, *arguments: str, checkout: Path | None = None, **environment: str) -> subprocess.Popen[str]:
        """Starts `platformctl tools …`; its standard error goes where its output goes."""
        return subprocess.Popen(
            [sys.executable, "-m", "platformctl", "tools", *arguments],
            cwd=checkout or self.checkout,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str, checkout: Path | None = None, **environment: str) -> tuple[int, str]:
        """Exit code and output of `platformctl tools …`, all space in it made single."""
        process = self.start(*arguments, checkout=checkout, **environment)
        output, _ = process.communicate(timeout=60)
        return process.returncode, " ".join(output.split())

    def builds(self) -> list[str]:
        """The `go build` calls so far."""
        return [line for line in self.calls.read_text(encoding="utf-8").splitlines() if line.startswith("build ")]

    def finished(self, tool: str) -> list[Path]:
        """Executables that look finished."""
        return sorted((self.cache / "home-platform" / "tools").glob(f"{tool}-*/{tool}"))

    def _system(self) -> Path:
        """The few commands that the fake Go needs; the user's PATH may carry tools of its own."""
        directory = self.root / "system"
        directory.mkdir()
        for name in ("sh", "chmod", "touch", "sleep"):
            (directory / name).symlink_to(shutil.which(name) or os.devnull)
        return directory


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    """Returns as soon as the condition holds; AssertionError after `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition never came true"
        time.sleep(0.05)
