"""One operation of the real engine, and what it said it did."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from platformctl.deploy.engine import Engine

UP = ("up", "--yes", "--skip-preview")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Everything that an operation printed and logged."""

    returncode: int
    output: str
    events: list[dict[str, Any]]

    @property
    def steps(self) -> list[tuple[str, str]]:
        """(operation, type::name) of every step, in order; the stack and components too."""
        found = (event["resourcePreEvent"]["metadata"] for event in self.events if "resourcePreEvent" in event)
        return [(step["op"], _short(step["urn"])) for step in found]

    @property
    def counts(self) -> Counter[str]:
        """How many steps of each operation."""
        return Counter(operation for operation, _ in self.steps)

    def of(self, operation: str) -> set[str]:
        """What that operation was done to."""
        return {name for found, name in self.steps if found == operation}


def operate(engine: Engine, operation: str, *options: str, log: Path) -> Outcome:
    """Runs an operation with an event log."""
    log.unlink(missing_ok=True)
    command = engine.operation(operation, *options, f"--event-log={log}")
    # The flag is one of those that the CLI hides from people.
    environment = {**engine.environment, "PULUMI_DEBUG_COMMANDS": "true"}
    result = subprocess.run(
        command, env=environment, cwd=engine.project, text=True, capture_output=True, check=False, timeout=300
    )
    lines = log.read_text().splitlines() if log.exists() else []
    return Outcome(
        returncode=result.returncode, output=result.stdout + result.stderr, events=[json.loads(line) for line in lines]
    )


def _short(urn: str) -> str:
    token, name = urn.split("::")[2:4]
    return f"{token.rpartition('$')[2].rpartition(':')[2]}::{name}"
