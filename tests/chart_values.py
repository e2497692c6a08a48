"""Values that a release sets, held against the values.yaml of its pinned chart: most charts ignore an unknown key."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import yaml
from jsonschema import Draft7Validator

from components import upstream


def chart_file(name: str) -> dict[str, Any]:
    """A values.yaml or values.schema.json of upstream.lock.yaml. Raises UpstreamUnavailable."""
    return yaml.load(upstream.read(name), Loader=yaml.CSafeLoader)


def unknown_paths(values: Mapping[str, Any], defaults: Mapping[str, Any], free: Collection[str] = ()) -> Iterator[str]:
    """Dotted paths that the chart does not have. Below a path of `free`, anything goes."""
    yield from _unknown(values, defaults, free, "")


def _unknown(values: Mapping[str, Any], defaults: Mapping[str, Any], free: Collection[str], at: str) -> Iterator[str]:
    for key, value in values.items():
        path = f"{at}{key}"
        if path in free:
            continue
        if key not in defaults:
            yield path
        elif isinstance(value, Mapping):
            inner = defaults[key]
            yield from _unknown(value, inner if isinstance(inner, Mapping) else {}, free, f"{path}.")


def schema_violations(values: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """What the chart's own schema says against the values."""
    return [f"{error.json_path}: {error.message}" for error in Draft7Validator(schema).iter_errors(values)]
