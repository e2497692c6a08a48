"""The kyverno CLI on policies and objects: what it says about each of them, and how many passed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from components.errors import PlatformError
from components.objects import Manifest

TIMEOUT_SECONDS = 240


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The numbers of (policy, object) pairs, what is said about failed objects by policy, and all that was printed."""

    passed: int
    failed: int
    errors: int
    failures: Mapping[str, Mapping[str, str]]
    output: str


@dataclass(frozen=True, kw_only=True)
class Kyverno:
    """`scratch` is where the files for the CLI are written."""

    executable: Path
    scratch: Path

    def apply(
        self,
        policies: Iterable[Manifest],
        objects: Iterable[Manifest],
        *,
        operation: Literal["CREATE", "UPDATE", "DELETE"] = "CREATE",
        user: Mapping[str, Any] | None = None,
    ) -> Verdict:
        """Judges every object, as if `user` (username, groups) had asked the API server for the operation.

        Raises PlatformError when the CLI gives no verdict.
        """
        judged = list(objects)
        command = [
            str(self.executable),
            "apply",
            str(self._write("policies", policies)),
            *("--resource", str(self._write("objects", judged))),
            *("--values-file", str(self._write("values", [_values(judged, operation)]))),
            "--remove-color",
        ]
        if user:
            info = {"apiVersion": "cli.kyverno.io/v1alpha1", "kind": "UserInfo", "userInfo": dict(user)}
            command += ["--userinfo", str(self._write("user", [info]))]
        result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
        return _verdict(result.stdout + result.stderr)

    def _write(self, name: str, documents: Iterable[Manifest]) -> Path:
        file = self.scratch / f"{name}.yaml"
        file.write_text(yaml.safe_dump_all([dict(document) for document in documents], sort_keys=False))
        return file


def _values(objects: Iterable[Manifest], operation: str) -> dict[str, Any]:
    """Namespaces by their name, as Kubernetes labels them: the CLI knows no cluster."""
    names = sorted({found["metadata"]["namespace"] for found in objects if found["metadata"].get("namespace")})
    return {
        "apiVersion": "cli.kyverno.io/v1alpha1",
        "kind": "Values",
        "globalValues": {"request.operation": operation},
        "namespaceSelector": [{"name": name, "labels": {"kubernetes.io/metadata.name": name}} for name in names],
    }


def _verdict(output: str) -> Verdict:
    counts = re.search(r"pass: (\d+), fail: (\d+), warn: \d+, error: (\d+), skip: \d+", output)
    if not counts:
        raise PlatformError(f"the kyverno CLI gave no verdict: {output.strip()}")
    failures: dict[str, dict[str, str]] = {}
    for policy, judged, message in re.findall(r"^policy (\S+) -> resource (\S+) failed:\s+1 -\s+(.+)$", output, re.M):
        failures.setdefault(policy, {})[judged] = message
    return Verdict(
        passed=int(counts[1]), failed=int(counts[2]), errors=int(counts[3]), failures=failures, output=output
    )
