"""sops as a filter: plain text goes through pipes alone, never through a file or an argument."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.errors import PlatformError
from components.sops_rules import FILE

KEY_HINT = "give the stack's age key in SOPS_AGE_KEY_FILE"
TIMEOUT_SECONDS = 60


class DecryptionError(PlatformError):
    """The file cannot be decrypted here; the sentence says why."""


@dataclass(frozen=True, kw_only=True)
class Sops:
    """The program, and the repository whose rules it follows."""

    binary: Path
    root: Path

    def encrypt(self, document: Mapping[str, Any], file: str) -> bytes:
        """`document` as encrypted YAML by the rule for `file`, a path below the root that need not exist."""
        # JSON, since YAML 1.1 and 1.2 disagree about plain scalars such as 1e3: a string must stay a string.
        text = json.dumps(document, ensure_ascii=False, default=str).encode()
        arguments = ["encrypt", "--input-type", "json", "--output-type", "yaml"]
        arguments += ["--filename-override", str(self.root / file)]
        # Recipients in the environment would win over those of the rules.
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SOPS_")}
        result = self._run(arguments, text, environment)
        if result.returncode != 0 or not result.stdout:
            raise PlatformError(f"{file}: sops did not encrypt it: {_reason(result)}; nothing was written")
        return result.stdout

    def decrypt(self, file: str) -> Mapping[str, Any]:
        """The plain document, its integrity verified. Raises DecryptionError."""
        arguments = ["decrypt", "--input-type", "yaml", "--output-type", "json", str(self.root / file)]
        result = self._run(arguments, b"", dict(os.environ))
        if result.returncode != 0:
            raise DecryptionError(_reason(result))
        return json.loads(result.stdout)

    def _run(
        self, arguments: list[str], text: bytes, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[bytes]:
        command = [str(self.binary), "--config", str(self.root / FILE), *arguments]
        try:
            return subprocess.run(
                command, input=text, capture_output=True, check=False, env=environment, timeout=TIMEOUT_SECONDS
            )
        except OSError as error:
            raise PlatformError(f"sops at {self.binary} cannot be run: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise PlatformError(f"sops did not end within {TIMEOUT_SECONDS} s; nothing was written") from None


def _reason(result: subprocess.CompletedProcess[bytes]) -> str:
    text = result.stderr.decode(errors="replace")
    if "Failed to get the data key" in text:
        return f"no age key at hand fits it ({KEY_HINT})"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else f"exit code {result.returncode}"
