"""The files in schemas/: one for each kind of file, kept equal to the models they are made from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.errors import PlatformError
from platformctl.paths import CHECKOUT

DIRECTORY = CHECKOUT / "schemas"


def as_text(schema: Mapping[str, Any]) -> str:
    """The schema as it is printed and published."""
    return f"{json.dumps(schema, indent=2, ensure_ascii=False)}\n"


def write(name: str, schema: Mapping[str, Any]) -> Path:
    """Publishes a schema and returns its file."""
    path = _file(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(as_text(schema), encoding="utf-8")
    return path


def check(name: str, schema: Mapping[str, Any]) -> None:
    """Raises PlatformError if the published schema is missing or not the current one."""
    path = _file(name)
    if not path.is_file() or path.read_text(encoding="utf-8") != as_text(schema):
        relative = f"{DIRECTORY.name}/{path.name}"
        state = "is not current" if path.is_file() else "does not exist"
        raise PlatformError(f"{relative} {state}; write it with `platformctl schema {name} --write` and commit it")


def _file(name: str) -> Path:
    return DIRECTORY / f"{name}.schema.json"
