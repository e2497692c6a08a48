"""Validation errors as sentences: the dotted key, its value, and what would be right."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from components.model_paths import KEY, Location, Step, inner_model, known_keys, listed, literals, walk, written

LONGEST_SHOWN = 60
# Pasted into the wrong key, these would otherwise be repeated in a terminal or a CI log.
KEY_MATERIAL = re.compile(r"PRIVATE KEY|AGE-SECRET-KEY-", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """What is wrong at one place; `text` goes on after the dotted key: `is 0, but must be …`."""

    location: tuple[int | str, ...]
    text: str


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The model that was asked for, what stands before its keys, and top-level keys that are checked elsewhere."""

    model: type[BaseModel]
    root: str = ""
    also_known: Collection[str] = ()


def mistakes(error: ValidationError, schema: Schema) -> list[Mistake]:
    """Each mistake once, in the model's order; a misspelled key is not reported as missing as well."""
    details = error.errors(include_url=False)
    meant = {_meant(detail["loc"], schema) for detail in details if detail["type"] == "extra_forbidden"}
    found = [
        Mistake(location=_place(detail, schema), text=_complaint(detail, schema))
        for detail in details
        if not (detail["type"] == "missing" and detail["loc"] in meant)
    ]
    return list(dict.fromkeys(found))


def dotted(location: Location) -> str:
    """`("cilium", "devices", 0)` as `cilium.devices[0]`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{_name(part)}" if text else _name(part)
    return text


def shown(value: Any) -> str:
    """A value as YAML would write it on one line, shortened; key material never."""
    if value is None or value == "":
        return "empty"
    if isinstance(value, Mapping):
        return "a map" if value else "an empty map"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if KEY_MATERIAL.search(text):
        return "a private key (not shown)"
    return f'"{_printable(text)}"' if isinstance(value, str) else _printable(text)


def _name(part: str) -> str:
    return part if re.fullmatch(r"[A-Za-z0-9_:-]{1,60}", part) else f'"{_printable(part)}"'


def _printable(text: str) -> str:
    short = text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in short)


def _complaint(detail: ErrorDetails, schema: Schema) -> str:
    if detail["type"] == "extra_forbidden":
        return _unknown_key(detail["loc"], schema)
    if detail["type"].startswith("union_tag_"):
        return _wrong_alternative(detail)
    expected = _expected(detail, schema.model)
    if detail["type"] == "missing":
        return f"is missing; it must be {expected}"
    if detail["loc"][-1] == KEY:
        return f"is not a key that can stand here; it must be {expected}"
    return f"is {shown(detail['input'])}, but must be {expected}{_advice(detail, schema.model)}"


def _wrong_alternative(detail: ErrorDetails) -> str:
    """A union that goes by the value of one key, which is not there or is none of its values."""
    context = detail.get("ctx", {})
    key, value = str(context.get("discriminator", "")).strip("'"), detail["input"]
    if not isinstance(value, Mapping):
        return f"is {shown(value)}, but must be a map with the key {key}"
    tags = re.findall(r"'([^']*)'", str(context.get("expected_tags", "")))
    if not tags:
        return f"lacks the key {key}, which says what the other keys are"
    return f"has {key}: {context.get('tag')}, but {key} must be {listed(tags, 'or')}{_near(context.get('tag'), tags)}"


def _advice(detail: ErrorDetails, model: type[BaseModel]) -> str:
    """What would make the value right, where that can be told."""
    return _quoting(detail, model) or _near(detail["input"], _choices(detail["loc"], model))


def _choices(location: Location, model: type[BaseModel]) -> list[str]:
    """The words that may stand at a place, if only certain ones may."""
    *_, last = [Step(annotation=model), *walk(location, model)]
    return [value for value in literals(last.annotation) if isinstance(value, str)]


def _near(value: Any, choices: Collection[str]) -> str:
    near = difflib.get_close_matches(str(value), choices, n=1, cutoff=0.75)
    return f"; did you mean {near[0]}?" if near else ""


def _expected(detail: ErrorDetails, model: type[BaseModel]) -> str:
    steps = list(walk(detail["loc"], model))
    if steps and steps[-1].description:
        return steps[-1].description
    return detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")


def _quoting(detail: ErrorDetails, model: type[BaseModel]) -> str:
    """Whether quotes, more or fewer, would make the value right: YAML took `2024` for a number, `"80"` for text."""
    steps = list(walk(detail["loc"], model))
    value = detail["input"]
    if not steps or isinstance(value, (Mapping, list)):
        return ""
    annotation = steps[-1].annotation
    if isinstance(value, str):
        return ", without quotes" if _accepts(annotation, _unquoted(value)) else ""
    return ", in quotes" if _accepts(annotation, json.dumps(value, default=str)) else ""


def _unquoted(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _accepts(annotation: Any, value: Any) -> bool:
    try:
        TypeAdapter[Any](annotation).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


def _place(detail: ErrorDetails, schema: Schema) -> tuple[int | str, ...]:
    """The location without the names that pydantic adds for the branches of a union."""
    location = detail["loc"]
    if detail["type"] not in ("extra_forbidden", "missing"):
        location = location[: len(list(walk(location, schema.model)))]
    return written(location, schema.model)


def _unknown_key(location: Location, schema: Schema) -> str:
    meant = _meant(location, schema)
    if meant:
        return f"is not a known key; did you mean {schema.root}{dotted(written(meant, schema.model))}?"
    known = listed(_known(location, schema))
    return f"is not a known key; the keys here are {known}"


def _meant(location: Location, schema: Schema) -> tuple[int | str, ...]:
    """The known key that an unknown one resembles, or an empty location."""
    names = {name.lower(): name for name in _known(location, schema)}
    near = difflib.get_close_matches(str(location[-1]).lower(), names, n=1)
    return (*location[:-1], names[near[0]]) if near else ()


def _known(location: Location, schema: Schema) -> list[str]:
    if len(location) == 1:
        return sorted([*known_keys(schema.model), *schema.also_known])
    parents = list(walk(location[:-1], schema.model))
    model = inner_model(parents[-1].annotation) if parents else None
    return sorted(known_keys(model)) if model else []
