"""The policies in policies/, one ValidatingPolicy a file, with the stack's values written where `${name}` stands.

In an expression `${name}` becomes a CEL literal; a list item that is `${name}` alone becomes the items of that list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from components.errors import PlatformError

Parameters = Mapping[str, str | list[str]]
_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")


def load(directory: Path, parameters: Parameters) -> list[dict[str, Any]]:
    """The policies in file order. Raises PlatformError for a `${name}` that is no parameter."""
    return [_filled(read(path), parameters, path.name) for path in sorted(directory.glob("*.yaml"))]


def read(path: Path) -> dict[str, Any]:
    """One policy as it stands in its file."""
    return yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)


def _filled(node: Any, parameters: Parameters, file: str) -> Any:
    if isinstance(node, Mapping):
        entries = cast("Mapping[str, Any]", node)
        return {key: _filled(value, parameters, file) for key, value in entries.items()}
    if isinstance(node, list):
        return [item for entry in cast("list[Any]", node) for item in _items(entry, parameters, file)]
    if isinstance(node, str):
        return _PLACEHOLDER.sub(lambda found: json.dumps(_value(found[1], parameters, file)), node)
    return node


def _items(entry: Any, parameters: Parameters, file: str) -> Iterable[Any]:
    if isinstance(entry, str) and (found := _PLACEHOLDER.fullmatch(entry)):
        value = _value(found[1], parameters, file)
        return value if isinstance(value, list) else [value]
    return [_filled(entry, parameters, file)]


def _value(name: str, parameters: Parameters, file: str) -> str | list[str]:
    if name not in parameters:
        raise PlatformError(
            f"policies/{file}: ${{{name}}} is no parameter of the policies; there are {', '.join(sorted(parameters))}"
        )
    return parameters[name]
