"""Stack files seen from outside: what the engine would hand to the program, without an engine."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from components import engine_yaml
from components.engine_yaml import Document
from components.errors import PlatformError
from components.mistakes import dotted, shown
from components.settings import CONFIG_SECRETS, NAMESPACE, Settings, StackConfig, parse
from platformctl.paths import CHECKOUT

# Stands for a value that only the engine can decrypt.
PLACEHOLDER = "[secret]"


def stacks() -> list[str]:
    """The names of the stacks that have a file in the checkout."""
    return sorted(path.name.split(".", 1)[1].removesuffix(".yaml") for path in CHECKOUT.glob("Pulumi.*.yaml"))


def load_settings(stack: str, path: Path | None = None) -> Settings:
    """The validated settings of a stack, whether or not its secrets are in the file, for settings hold none.

    Raises PlatformError with every mistake and its line.
    """
    return parse(stack_config(stack, path, assume_secrets=True))


def stack_config(stack: str, path: Path | None = None, *, assume_secrets: bool = False) -> StackConfig:
    """The stack's configuration, its secrets as placeholders; those absent from the file too, if they are assumed.

    Raises PlatformError if the file does not exist or is not a stack file.
    """
    file = path or CHECKOUT / f"Pulumi.{stack}.yaml"
    document = engine_yaml.load(_existing(stack, file), file.name)
    values: dict[str, str] = {}
    encrypted: set[str] = set()
    lines: dict[str, int] = {}
    for written, value in _config(document).items():
        key = _full_key(written, document)
        values[key] = _handed_over(value)
        encrypted |= {key} if _holds_secret(value) else set()
        lines |= _lines(key, written, document)
    if assume_secrets:
        assumed = {f"{NAMESPACE}:{secret.key}" for secret in CONFIG_SECRETS} - values.keys()
        values |= dict.fromkeys(assumed, PLACEHOLDER)
        encrypted |= assumed
    return StackConfig(stack=stack, values=values, encrypted=encrypted, source=file.name, lines=lines)


def _existing(stack: str, file: Path) -> Path:
    if file.is_file():
        return file
    if file.parent != CHECKOUT:
        raise PlatformError(f"{file} does not exist; give the path of a stack file")
    known = stacks()
    names = f"the stacks here are {' and '.join(known)}" if known else "this checkout has no stack file at all"
    raise PlatformError(f"{file.name} does not exist, so there is no stack {stack}; {names}")


def _config(document: Document) -> Mapping[str, Any]:
    if not isinstance(document.value, dict):
        raise PlatformError(
            f"{document.name}: the file must be a map with the key config, but is {shown(document.value)}"
        )
    top = cast(dict[str, Any], document.value)
    config = top.get("config")
    if config is None:
        raise PlatformError(f"{document.name}: config is missing; it must be a map with keys such as home:domain")
    if not isinstance(config, dict):
        place = f"{document.name}:{document.lines[('config',)]}"
        raise PlatformError(f"{place}: config is {shown(config)}, but must be a map with keys such as home:domain")
    return cast(Mapping[str, Any], config)


def _full_key(written: str, document: Document) -> str:
    """Like the engine: a bare key belongs to this project, and `home:config:x` is an old form of `home:x`."""
    if ":" not in written:
        return f"{NAMESPACE}:{written}"
    match = re.fullmatch(r"([^:]*):(?:config:)?([^:]*)", written)
    if not match:
        place = f"{document.name}:{document.lines[('config', written)]}"
        raise PlatformError(f"{place}: {written} is not a configuration key; it must be of the form NAMESPACE:NAME")
    return f"{match[1]}:{match[2]}"


def _handed_over(value: Any) -> str:
    masked = _masked(value)
    if isinstance(masked, (dict, list)):
        return json.dumps(masked)
    return engine_yaml.text(masked)


def _is_secret(value: Any) -> bool:
    return (
        isinstance(value, dict) and list(cast(dict[str, Any], value)) == ["secure"] and isinstance(value["secure"], str)
    )


def _holds_secret(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_holds_secret, cast(list[Any], value)))
    return _is_secret(value) or (
        isinstance(value, dict) and any(map(_holds_secret, cast(dict[str, Any], value).values()))
    )


def _masked(value: Any) -> Any:
    if _is_secret(value):
        return PLACEHOLDER
    if isinstance(value, list):
        return [_masked(item) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        return {key: _masked(item) for key, item in cast(dict[str, Any], value).items()}
    return value


def _lines(key: str, written: str, document: Document) -> dict[str, int]:
    """The lines of one entry, by the dotted keys that messages use."""
    namespace, name = key.split(":", 1)
    return {
        f"{namespace}:{dotted((name, *path[2:]))}": line
        for path, line in document.lines.items()
        if path[:2] == ("config", written)
    }
