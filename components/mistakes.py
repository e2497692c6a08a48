"""Validation errors as sentences: key, value, and what would be right."""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

Location = Sequence[int | str]


def sentences(error: ValidationError, model: type[BaseModel], *, prefix: str) -> list[str]:
    """One sentence for each mistake; `prefix` names the file and ends where the dotted key begins."""
    found = error.errors(include_url=False)
    return [f"{prefix}{dotted(detail['loc'])} {_complaint(detail, model)}" for detail in found]


def dotted(location: Location) -> str:
    """`("cilium", "devices", 0)` as `cilium.devices[0]`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _complaint(detail: ErrorDetails, model: type[BaseModel]) -> str:
    location = detail["loc"]
    if detail["type"] == "extra_forbidden":
        return _unknown_key(location, model)
    expected = _description(location, model)
    if detail["type"] == "missing":
        return f"is missing, it must be {expected}" if expected else "is missing"
    return f"is {_shown(detail['input'])}, it must be {expected or _lowered(detail['msg'])}"


def _unknown_key(location: Location, model: type[BaseModel]) -> str:
    parent = _model_at(location[:-1], model)
    known = sorted(_fields(parent)) if parent else []
    near = difflib.get_close_matches(str(location[-1]), known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known keys here: {', '.join(known)}"
    return f"is not a known key; {hint}"


def _description(location: Location, model: type[BaseModel]) -> str | None:
    names = [part for part in location if isinstance(part, str)]
    field = _field_at(names, model)
    if field is None:
        return None
    element = next((text for text in _element_descriptions(field.annotation)), None)
    if isinstance(location[-1], int) and element:
        return element
    if field.description:
        return field.description
    inner = _inner_model(field.annotation)
    return f"a map with the keys {', '.join(_fields(inner))}" if inner else None


def _element_descriptions(annotation: Any) -> Iterator[str]:
    for argument in typing.get_args(annotation):
        for metadata in getattr(argument, "__metadata__", ()):
            if getattr(metadata, "description", None):
                yield metadata.description


def _field_at(names: Sequence[str], model: type[BaseModel]) -> Any:
    parent = _model_at(names[:-1], model)
    return _fields(parent).get(names[-1]) if parent and names else None


def _model_at(location: Location, model: type[BaseModel]) -> type[BaseModel] | None:
    current: type[BaseModel] | None = model
    for part in location:
        if isinstance(part, int) or current is None:
            continue
        field = _fields(current).get(part)
        current = _inner_model(field.annotation) if field else None
    return current


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation if issubclass(annotation, BaseModel) else None
    return next((found for found in map(_inner_model, typing.get_args(annotation)) if found), None)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]
