"""Definitions that people write, one small YAML file each: read and checked, with the line of every key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from components import engine_yaml
from components.errors import PlatformError
from components.fields import Model
from components.mistakes import Schema, dotted, mistakes, shown
from components.model_paths import Location

SUFFIX = ".yaml"


D = TypeVar("D", bound=Model)


@dataclass(frozen=True, kw_only=True)
class Definition(Generic[D]):
    """One file's definition. `file` is relative to the checkout; `lines` has the line of each key, counted from 1."""

    file: str
    value: D
    lines: Mapping[tuple[int | str, ...], int]
    text: str

    def at(self, *location: int | str) -> str:
        """`services/photos.yaml:12: hosts[0]`, the start of a sentence about the value at a location."""
        return f"{_place(self.file, self.lines, location)}: {dotted(location)}" if location else self.file

    def wrong(self, location: Location, text: str) -> str:
        """A sentence about one key: `services/photos.yaml:12: hosts[0] is "a.b", but must be one label`."""
        return f"{self.at(*location)} {text}"


@dataclass(frozen=True, kw_only=True)
class Definitions(Generic[D]):
    """All that could be read, in the order of their names, and a sentence for each mistake in the rest."""

    found: Sequence[Definition[D]] = ()
    mistakes: Sequence[str] = field(default_factory=tuple[str, ...])


def read_directory(root: Path, directory: str, model: type[D]) -> Definitions[D]:
    """Every `*.yaml` directly in `root/directory`. A file that is wrong adds its mistakes and is left out."""
    found: list[Definition[D]] = []
    wrong: list[str] = []
    for path in sorted((root / directory).glob(f"*{SUFFIX}")):
        read = read_file(path, f"{directory}/{path.name}", model)
        found += read.found
        wrong += read.mistakes
    wrong += [
        f"{directory}/{path.name}: the file is not read; a definition ends in {SUFFIX}, so rename it"
        for path in sorted((root / directory).glob("*.yml"))
    ]
    return Definitions(found=found, mistakes=wrong)


def read_file(path: Path, name: str, model: type[D]) -> Definitions[D]:
    """One file; `name` stands in messages. Its `name` key must be the file's name."""
    try:
        document = engine_yaml.load(path, name)
    except PlatformError as error:
        return Definitions(mistakes=error.sentences)
    if not isinstance(document.value, dict):
        return Definitions(
            mistakes=[f"{name}: the file must be a map with the key name, but is {shown(document.value)}"]
        )
    try:
        value = model.model_validate(document.value)
    except ValidationError as error:
        return Definitions(mistakes=_sentences(error, Schema(model=model), name, document.lines))
    definition = Definition(
        file=name, value=value, lines=document.lines, text=path.read_text(encoding="utf-8", errors="replace")
    )
    if misnamed := _misnamed(definition, path.name):
        return Definitions(mistakes=[misnamed])
    return Definitions(found=[definition])


def _misnamed(definition: Definition[D], file: str) -> str | None:
    name = getattr(definition.value, "name", "")
    if file == f"{name}{SUFFIX}":
        return None
    return definition.wrong(("name",), f"is {shown(name)}, but must be the file's name, {file.removesuffix(SUFFIX)}")


def _sentences(
    error: ValidationError, schema: Schema, file: str, lines: Mapping[tuple[int | str, ...], int]
) -> list[str]:
    return [
        f"{_place(file, lines, mistake.location)}: {dotted(mistake.location)} {mistake.text}"
        for mistake in mistakes(error, schema)
    ]


def _place(file: str, lines: Mapping[tuple[int | str, ...], int], location: Location) -> str:
    """The file with the line of the key, or of the nearest one around it."""
    place = tuple(location)
    while place and place not in lines:
        place = place[:-1]
    return f"{file}:{lines[place]}" if place else file
