"""The stack's configuration on the embedded cluster: the checkout's values, and throw-away keys as secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from platformctl.deploy.engine import Engine


def write(engine: Engine, secrets: Mapping[str, str]) -> None:
    """Creates the stack when it is new, brings its config file up to date, and encrypts `secrets` into it once.

    secrets: values by full key, such as home:deployKey; they reach the engine on standard input alone.
    """
    if not engine.config_file.exists():
        engine.run(["pulumi", "stack", "init", engine.stack, "--non-interactive"])
    kept = _encrypted_parts(_read(engine.config_file.read_text()))
    values = _read((engine.program / engine.config_file.name).read_text())
    config = {**_plain(values.get("config", {})), **kept["config"]}
    engine.config_file.write_text(yaml.safe_dump({**kept["header"], "config": config}, sort_keys=False))
    for key, value in secrets.items():
        if key not in kept["config"]:
            command = ["pulumi", "config", "set", "--secret", key, f"--stack={engine.stack}", "--non-interactive"]
            engine.run(command, stdin=value)


def _read(text: str) -> dict[str, Any]:
    return yaml.load(text, Loader=yaml.CSafeLoader) or {}


def _encrypted_parts(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What belongs to this stack's own passphrase: the salt, and every encrypted value."""
    config: Mapping[str, Any] = document.get("config") or {}
    return {
        "header": {key: value for key, value in document.items() if key.startswith("encryption")},
        "config": {key: value for key, value in config.items() if _is_encrypted(value)},
    }


def _plain(config: Mapping[str, Any]) -> dict[str, Any]:
    """The household's own secrets are encrypted for another passphrase and stay out."""
    return {key: value for key, value in config.items() if not _is_encrypted(value)}


def _is_encrypted(value: Any) -> bool:
    return isinstance(value, dict) and "secure" in value
