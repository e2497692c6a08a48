"""Where a location such as `("cilium", "devices", 0)` leads inside a model: to which type, described how."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, Tag
from pydantic.fields import FieldInfo

Location = Sequence[int | str]
# What pydantic puts at the end of a location when the key of a map is wrong, not its value.
KEY = "[key]"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One part of a location: its type with constraints, and what people are told it must be.

    is_branch: the part only names an alternative of a union; in the file it is no key.
    """

    annotation: Any
    description: str | None = None
    is_branch: bool = False


def walk(location: Location, model: type[BaseModel]) -> Iterator[Step]:
    """What each part of a location stands for, as far as the model knows it."""
    step: Step | None = Step(annotation=model)
    around: Any = None
    for part in location:
        found = _argument(around, 0) if part == KEY else _into(step.annotation, part)
        if found is None:
            return
        around, step = step.annotation, found
        yield step


def written(location: Location, model: type[BaseModel]) -> tuple[int | str, ...]:
    """The location as it stands in the file: without what pydantic adds for unions and for keys of maps."""
    steps = list(walk(location, model))
    known = [part for part, step in zip(location, steps, strict=False) if not step.is_branch and part != KEY]
    return (*known, *location[len(steps) :])


def _into(annotation: Any, part: int | str) -> Step | None:
    if isinstance(part, int):
        return _argument(annotation, 0)
    bare = _bare(annotation)
    if typing.get_origin(bare) is dict:
        return _argument(bare, 1)
    if branch := _branch(bare, part):
        return branch
    inner = inner_model(annotation)
    field = known_keys(inner).get(part) if inner else None
    if field is None:
        return None
    full = typing.cast(Any, Annotated)[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    return Step(annotation=full, description=field.description or _described(field.annotation))


def _branch(annotation: Any, part: str) -> Step | None:
    """The alternative of a union that goes by a tag: by one of its own, or by the value of a key in it."""
    models = [argument for argument in typing.get_args(annotation) if _is_model(_bare(argument))]
    if len(models) < 2:
        return None
    found = next((argument for argument in models if part in _tags(argument)), None)
    return found and Step(annotation=_bare(found), is_branch=True)


def _tags(argument: Any) -> list[Any]:
    own = [item.tag for item in getattr(argument, "__metadata__", ()) if isinstance(item, Tag)]
    fields = _bare(argument).model_fields.values()
    values = [typing.get_args(field.annotation) for field in fields if typing.get_origin(field.annotation) is Literal]
    return own or [value for each in values if len(each) == 1 for value in each]


def _argument(annotation: Any, number: int) -> Step | None:
    """The elements of a list or the keys of a map (0), or the values of a map (1)."""
    arguments = typing.get_args(_bare(annotation))
    if not arguments:
        return None
    inner = arguments[number]
    return Step(annotation=inner, description=_described(inner))


def _bare(annotation: Any) -> Any:
    """Without Annotated, and without None beside the only other type."""
    if typing.get_origin(annotation) is Annotated:
        return _bare(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (Union, UnionType):
        others = [argument for argument in typing.get_args(annotation) if argument is not NoneType]
        return _bare(others[0]) if len(others) == 1 else annotation
    return annotation


def _described(annotation: Any) -> str | None:
    """What a type says of itself, or the keys of a model; through Optional."""
    for item in getattr(annotation, "__metadata__", ()):
        if text := getattr(item, "description", None):
            return text
    if _is_model(annotation):
        return f"a map with the keys {listed(list(known_keys(annotation)))}"
    if typing.get_origin(annotation) in (Union, UnionType):
        others = [argument for argument in typing.get_args(annotation) if argument is not NoneType]
        return _described(others[0]) if len(others) == 1 else None
    return None


def listed(names: Sequence[str], word: str = "and") -> str:
    """`a, b and c`."""
    return f"{', '.join(names[:-1])} {word} {names[-1]}" if len(names) > 1 else "".join(names)


def literals(annotation: Any) -> tuple[Any, ...]:
    """The values of a Literal, through Annotated and Optional; nothing for another type."""
    bare = _bare(annotation)
    return typing.get_args(bare) if typing.get_origin(bare) is Literal else ()


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
