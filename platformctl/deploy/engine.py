"""Runs the Pulumi CLI for one stack, away from whatever the user's own Pulumi is logged in to."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from components.errors import PlatformError
from platformctl.paths import CHECKOUT


@dataclass(frozen=True, kw_only=True)
class Engine:
    """One stack's engine.

    directory: holds state, home, passphrase and the stack's config file; readable by its owner only.
    kubeconfig: of the cluster that the stack is deployed to.
    tools: variables that make `pulumi` with its language host and plugins be found, PATH among them.
    backend: a Pulumi backend URL; by default files below `directory`.
    program: the directory with Pulumi.yaml and __main__.py.
    """

    stack: str
    directory: Path
    kubeconfig: Path
    tools: Mapping[str, str]
    backend: str = ""
    program: Path = CHECKOUT

    @property
    def project(self) -> Path:
        """A project of the same name, where the stack is created and configured, so that the checkout stays clean."""
        return self.directory / "project"

    @property
    def config_file(self) -> Path:
        """The stack's configuration as the engine reads it: the checkout's values and throw-away secrets."""
        return self.project / f"Pulumi.{self.stack}.yaml"

    def prepare(self) -> None:
        """Creates directories and passphrase; harmless when they exist."""
        for directory in (self.project, self.directory / "home", self.directory / "state"):
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._passphrase.exists():
            self._passphrase.touch(mode=0o600)
            self._passphrase.write_text(secrets.token_urlsafe(32))
        (self.project / "Pulumi.yaml").write_text((self.program / "Pulumi.yaml").read_text())

    @property
    def _passphrase(self) -> Path:
        return self.directory / "passphrase"

    @property
    def environment(self) -> dict[str, str]:
        """The user's environment with everything of Pulumi and Kubernetes replaced by this stack's own."""
        foreign = ("PULUMI_", "KUBE")
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
        return {
            **inherited,
            **self.tools,
            "KUBECONFIG": str(self.kubeconfig),
            "PULUMI_HOME": str(self.directory / "home"),
            "PULUMI_BACKEND_URL": self.backend or f"file://{self.directory / 'state'}",
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(self._passphrase),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "UPSTREAM_OPTIONAL": "1",
        }

    def operation(self, name: str, *options: str) -> list[str]:
        """The command line of an operation that runs the program: preview, up, destroy or refresh."""
        return [
            "pulumi",
            name,
            f"--cwd={self.program}",
            f"--stack={self.stack}",
            f"--config-file={self.config_file}",
            "--non-interactive",
            *options,
        ]

    def run(self, command: Sequence[str], *, stdin: str | None = None) -> str:
        """Runs a command to its end and returns what it printed. Raises PlatformError with its error text."""
        result = subprocess.run(
            command, env=self.environment, cwd=self.project, input=stdin, text=True, capture_output=True, check=False
        )
        if result.returncode:
            reason = (result.stderr or result.stdout).strip()
            raise PlatformError(f"`{' '.join(command[:3])}` failed: {reason}")
        return result.stdout
