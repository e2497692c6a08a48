"""Where a location such as `("cilium", "devices", 0)` leads inside a model: to which type, described how."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

Location = Sequence[int | str]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One part of a location: its type with constraints, and what people are told it must be."""

    annotation: Any
    description: str | None = None


def walk(location: Location, model: type[BaseModel]) -> Iterator[Step]:
    """What each part of a location stands for, as far as the model knows it."""
    step: Step | None = Step(annotation=model)
    for part in location:
        step = _into(step.annotation, part)
        if step is None:
            return
        yield step


def _into(annotation: Any, part: int | str) -> Step | None:
    if isinstance(part, int):
        return _argument(annotation, 0)
    if typing.get_origin(_bare(annotation)) is dict:
        return _argument(annotation, 1)
    inner = inner_model(annotation)
    field = known_keys(inner).get(part) if inner else None
    if field is None:
        return None
    full = typing.cast(Any, Annotated)[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return Step(annotation=full, description=field.description or _keys(field.annotation))


def _argument(annotation: Any, number: int) -> Step | None:
    """The elements of a list (0), or the values of a map (1)."""
    arguments = typing.get_args(_bare(annotation))
    if not arguments:
        return None
    inner = arguments[number]
    descriptions = (getattr(item, "description", None) for item in getattr(inner, "__metadata__", ()))
    described = next((text for text in descriptions if text), None)
    return Step(annotation=inner, description=described or _keys(inner))


def _bare(annotation: Any) -> Any:
    return typing.get_args(annotation)[0] if typing.get_origin(annotation) is Annotated else annotation


def _keys(annotation: Any) -> str | None:
    """What must stand where a model is expected."""
    return f"a map with the keys {listed(list(known_keys(annotation)))}" if _is_model(annotation) else None


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def known_keys(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """A model's fields by the key that people write."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and not typing.get_args(annotation) and issubclass(annotation, BaseModel)


def inner_model(annotation: Any) -> type[BaseModel] | None:
    """The model whose keys stand at a place, through Optional and Annotated."""
    if _is_model(annotation):
        return annotation
    # A list is entered through its index, so that `devices` itself is not taken for its elements.
    if typing.get_origin(_bare(annotation)) is list:
        return None
    return next((found for found in map(inner_model, typing.get_args(annotation)) if found), None)
