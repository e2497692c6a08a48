"""Manifests against the OpenAPI schemas of their CRDs: unknown fields, wrong types, values out of range."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import jsonschema
from jsonschema.protocols import Validator

Schema = Mapping[str, Any]
Kind = tuple[str, str]
_OPEN = ("additionalProperties", "x-kubernetes-preserve-unknown-fields")


class Schemas:
    """Validators by apiVersion and kind, made from CustomResourceDefinitions; schema-free ones are left out."""

    def __init__(self, definitions: Iterable[Mapping[str, Any]]) -> None:
        self._schemas = {kind: schema for definition in definitions for kind, schema in _versions(definition)}
        self._validators: dict[Kind, Validator] = {}

    def __contains__(self, manifest: Mapping[str, Any]) -> bool:
        return _kind(manifest) in self._schemas

    def violations(self, manifest: Mapping[str, Any]) -> list[str]:
        """One sentence for each mistake, led by kind, name and field. Raises KeyError for a kind without schema."""
        kind = _kind(manifest)
        if kind not in self._validators:
            self._validators[kind] = jsonschema.Draft202012Validator(_strict(self._schemas[kind]))
        at = f"{manifest['kind']} {manifest['metadata']['name']}"
        return [f"{at}: {sentence}" for sentence in _sentences(self._validators[kind], manifest)]


def _kind(manifest: Mapping[str, Any]) -> Kind:
    return manifest["apiVersion"], manifest["kind"]


def _versions(definition: Mapping[str, Any]) -> Iterator[tuple[Kind, Schema]]:
    spec = definition["spec"]
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        if version["served"] and "properties" in schema:
            yield (f"{spec['group']}/{version['name']}", spec["names"]["kind"]), schema


def _strict(schema: Schema, *, root: bool = True) -> dict[str, Any]:
    """JSON Schema that refuses what the API server would drop in silence."""
    result: dict[str, Any] = {key: _strict_part(key, value) for key, value in schema.items()}
    if root:
        result["properties"]["metadata"] = {"type": "object"}
    if schema.get("x-kubernetes-int-or-string"):
        result.pop("anyOf", None)
        result["type"] = ["integer", "string"]
    if schema.get("nullable") and isinstance(result.get("type"), str):
        result["type"] = [result["type"], "null"]
    if "properties" in schema and not any(schema.get(key) for key in _OPEN):
        result["additionalProperties"] = False
    return result


def _strict_part(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: _strict(child, root=False) for name, child in cast(Mapping[str, Schema], value).items()}
    if key in ("items", "additionalProperties") and isinstance(value, Mapping):
        return _strict(cast(Schema, value), root=False)
    return value


def _sentences(validator: Validator, manifest: Mapping[str, Any]) -> Iterator[str]:
    for error in sorted(validator.iter_errors(manifest), key=lambda found: found.json_path):
        path = error.json_path.removeprefix("$.")
        if error.validator == "additionalProperties":
            known = list(cast(Mapping[str, Any], error.schema)["properties"])
            for name in sorted(set(cast(Mapping[str, Any], error.instance)) - set(known)):
                yield f"unknown field {f'{path}.{name}'.removeprefix('$.')}{_suggestion(name, known)}"
        else:
            yield f"{path}: {error.message}"


def _suggestion(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name.replace("_", "").lower(), [key.lower() for key in known], n=1)
    match = next((key for key in known if near and key.lower() == near[0]), None)
    return f", did you mean {match}?" if match else ""
