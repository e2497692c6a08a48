"""Builds one tool from its pinned Go module: in a copy of the module, then moved into the cache as a whole."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from components.errors import PlatformError
from platformctl.tools import find, go, pins
from platformctl.tools.catalogue import Embeds, Generator, Tool


class Builder:
    """One build. The caller holds the lock."""

    def __init__(self, tool: Tool, *, work: Path, tick: Callable[[], None]) -> None:
        self._tool = tool
        self._tick = tick
        self._log = find.cache() / "logs" / f"{tool.name}.log"
        self._module = work / "module"
        self._scratch = work / "scratch"
        self._output = work / "output"

    def build(self) -> Path:
        """The executable's final path. PlatformError with the log's path and end if a step fails."""
        self._prepare()
        try:
            if self._tool.embeds:
                self._copy(self._tool.embeds)
            if self._tool.generator:
                self._generate(self._tool.generator)
            self._compile(self._tool.package, self._output / self._tool.name)
        except PlatformError as error:
            version = pins.pinned_version(self._tool)
            raise PlatformError(f"building {self._tool.name} {version} {error}") from error
        return self._publish()

    def _prepare(self) -> None:
        for directory in (self._module, self._scratch, self._output, self._log.parent):
            directory.mkdir(parents=True, exist_ok=True)
        self._log.unlink(missing_ok=True)
        for name, content in pins.sources(self._tool):
            target = self._module / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def _copy(self, embeds: Embeds) -> None:
        """The module is downloaded first: `go list -m` alone names no directory for one that is not there yet."""
        self._run(["go", "mod", "download", self._tool.module])
        listed = subprocess.run(
            ["go", "list", "-m", "-f", "{{.Dir}}", self._tool.module],
            cwd=self._module,
            env=go.environment(self._scratch),
            capture_output=True,
            text=True,
            check=False,
        )
        source = Path(listed.stdout.strip()) / embeds.directory
        for name in embeds.files:
            try:
                shutil.copyfile(source / name, self._module / name)
            except OSError as error:
                raise PlatformError(f"failed: {self._tool.module} carries no {embeds.directory}/{name}") from error

    def _generate(self, generator: Generator) -> None:
        program = self._scratch / "generator"
        self._compile(generator.package, program)
        self._run([program, *generator.arguments])

    def _compile(self, package: str, output: Path) -> None:
        flags = [*pins.COMPILER_FLAGS, f"-ldflags={pins.linker_flags(self._tool)}"]
        self._run(["go", "build", *flags, "-o", output, package])

    def _run(self, command: list[str | Path]) -> None:
        go.run(command, work=self._module, scratch=self._scratch, log=self._log, tick=self._tick)

    def _publish(self) -> Path:
        """One rename makes the build visible, after its bytes are on disk."""
        final = find.built_path(self._tool)
        program = self._output / self._tool.name
        if not os.access(program, os.X_OK):
            raise PlatformError(f"building {self._tool.name} left no executable; the log is {self._log}")
        with program.open("rb") as file:
            os.fsync(file.fileno())
        shutil.rmtree(final.parent, ignore_errors=True)
        self._output.rename(final.parent)
        return final


def build(tool: Tool, tick: Callable[[], None]) -> Path:
    """Builds a tool into the cache and returns its path; whatever happens, nothing half-built is left in place."""
    directory = find.cache() / "work"
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{tool.name}-", dir=directory, ignore_cleanup_errors=True) as work:
        return Builder(tool, work=Path(work), tick=tick).build()


def sweep() -> None:
    """Removes what killed runs left behind. The caller holds the lock."""
    shutil.rmtree(find.cache() / "work", ignore_errors=True)
