"""The Go command: whether it is there and new enough, and running it with a log."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from components.errors import PlatformError
from platformctl.tools import pins, probe
from platformctl.tools.catalogue import Tool

_LOG_LINES = 12
_GRACE_SECONDS = 5


def environment(scratch: Path) -> dict[str, str]:
    """The user's environment with our build settings; Go's temporary files go into `scratch`."""
    return {**os.environ, **pins.BUILD_ENVIRONMENT, "GOWORK": "off", "GOTMPDIR": str(scratch)}


def check(missing: Sequence[Tool]) -> None:
    """Raises PlatformError with the two ways out where Go is missing or too old for one of these builds."""
    needed = max(missing, key=pins.required_go)
    minimum = probe.dotted(pins.required_go(needed))
    ways = f"install Go {minimum} or newer, or put {_names(missing)} on PATH"
    if shutil.which("go") is None:
        raise PlatformError(f"go is not on PATH and {len(missing)} tools are still to be built: {ways}")
    answer = subprocess.run(
        ["go", "env", "GOVERSION"],
        cwd=pins.module_directory(needed),
        env={**os.environ, "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    version = pins.parse_version(answer.stdout)
    if answer.returncode != 0 or version is None:
        said = (answer.stderr or answer.stdout).strip().splitlines()
        raise PlatformError(f"go cannot build {needed.name} ({said[-1] if said else 'it says nothing'}): {ways}")
    if version < pins.required_go(needed):
        raise PlatformError(f"go {probe.dotted(version)} is too old for {needed.name}: {ways}")


def run(command: Sequence[str | Path], *, work: Path, scratch: Path, log: Path, tick: Callable[[], None]) -> None:
    """Runs a build step in `work`, appending what it says to `log`; PlatformError with its end if it fails.

    The step has its own process group, which is ended if the run is interrupted.
    """
    with log.open("a", encoding="utf-8") as output:
        output.write(f"$ {' '.join(map(str, command))}\n")
        output.flush()
        process = subprocess.Popen(
            command,
            cwd=work,
            env=environment(scratch),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait(process, tick)
        finally:
            _end(process)
    if process.returncode != 0:
        raise PlatformError(f"{_failure(process.returncode)}; the whole log is {log}, its end:\n{_tail(log)}")


def _names(tools: Sequence[Tool]) -> str:
    return ", ".join(f"{tool.name} {pins.pinned_version(tool)}" for tool in tools)


def _wait(process: subprocess.Popen[bytes], tick: Callable[[], None]) -> None:
    while True:
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            tick()
        else:
            return


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        os.killpg(process.pid, number)
        try:
            process.wait(timeout=_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return


def _failure(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"failed with exit code {code}"


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()
    return "\n".join(f"    {line}" for line in lines[-_LOG_LINES:])
